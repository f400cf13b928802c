/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Inclusive statement counts per arc. The sub profiler measures time and calls of an arc; how
 * many statements ran inside it is known from the calling-context tree only.
 */
#ifndef NYTP_INCLUSIVE_H
#define NYTP_INCLUSIVE_H

#include "../../formats/core/model.h"

/* Statements executed during the calls of each arc, by arc index: outermost calls of the
 * callee only, so that what arrives at a sub adds up to its inclusive count. A context whose
 * call site is not known exactly is shared out over the arcs between the two subs, by their
 * calls.
 * The caller frees it; NULL when there is no memory. */
uint64_t *nytp_inclusive_statements(const struct nytp_profile *profile);

#endif
