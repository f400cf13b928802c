/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The calls of a profile before its tree changed, and the choice of those that stay. totals.h
 * states the rule, at nytp_profile_rebuild().
 */
#ifndef NYTP_ARCS_BEFORE_H
#define NYTP_ARCS_BEFORE_H

#include "profile.h"

/* Recordings with calls=1 or 0 know more about call sites and numbers of calls than their tree
 * does. A change of the tree must not lose this where the tree stays the same. */
struct nytp_arcs_before {
    struct nytp_arc_list known, of_tree; /* the profile's arcs; those from its tree alone */
};

/* Copies the arcs of a profile before a change. Returns false if memory is out. */
bool nytp_arcs_before_init(struct nytp_arcs_before *before, const struct nytp_profile *p);
void nytp_arcs_before_free(struct nytp_arcs_before *before);

/* Renumbers subs or files; NULL = unchanged. */
void nytp_arcs_before_renumber(struct nytp_arcs_before *before, const uint32_t *sub_of,
                               const uint32_t *file_of);

/* Selects the calls of `n` recordings from `first` on and numbers them from 0. Returns false
 * if memory is out; otherwise free the result as well. */
bool nytp_arcs_before_of_recordings(struct nytp_arcs_before *some,
                                    const struct nytp_arcs_before *before, uint32_t first,
                                    uint32_t n);

/* Makes a new list of arcs for a changed profile, from the arcs before the change and those of
 * the tree now, which it sorts. Returns false if memory is out. */
bool nytp_arcs_before_choose(const struct nytp_profile *p,
                             const struct nytp_arcs_before *before,
                             struct nytp_arc_list *of_tree, struct nytp_arc_list *chosen);

#endif
