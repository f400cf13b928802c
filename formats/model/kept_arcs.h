/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Which arcs stay as they were recorded when a profile's tree changes. Private to totals.c;
 * the rule is stated in totals.h, at nytp_profile_keep_arcs().
 */
#ifndef NYTP_KEPT_ARCS_H
#define NYTP_KEPT_ARCS_H

#include "totals.h"

/* The arcs of a changed profile, from what was known before the change and what its tree tells
 * now (which is sorted); a new list. False when memory is out. */
bool nytp_choose_kept_arcs(const struct nytp_profile *p, const struct nytp_arcs_before *before,
                           struct nytp_arc *of_tree, uint32_t n_of_tree, struct nytp_arc **arcs,
                           uint32_t *n);

#endif
