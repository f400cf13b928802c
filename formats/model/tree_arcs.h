/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What the calling-context tree alone tells of calls.
 */
#ifndef NYTP_TREE_ARCS_H
#define NYTP_TREE_ARCS_H

#include "model.h"

/* The arcs that a profile's tree tells by itself, in a new list; free() it. A call site of
 * which the tree knows nothing is file 0, line 0. False when memory is out. */
bool nytp_profile_tree_arcs(const struct nytp_profile *p, struct nytp_arc **arcs, uint32_t *n);

#endif
