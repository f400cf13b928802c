/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What was known of a profile's calls before its tree changed, and which of it stays; the rule
 * is stated in totals.h, at nytp_profile_rebuild().
 */
#ifndef NYTP_ARCS_BEFORE_H
#define NYTP_ARCS_BEFORE_H

#include "model.h"

/* What was known of a profile's calls before its tree changed. Recordings with calls=1 or 0
 * know more of call sites and numbers of calls than their tree does; what a change of the tree
 * leaves alone must not lose that. */
struct nytp_arcs_before {
    struct nytp_arc *known, *of_tree; /* the profile's arcs; those that its tree alone tells */
    uint32_t n_known, n_of_tree;
};

/* Take down what a profile knows, before the change. False when memory is out. */
bool nytp_arcs_before_init(struct nytp_arcs_before *before, const struct nytp_profile *p);
void nytp_arcs_before_free(struct nytp_arcs_before *before);

/* Subs or files got other numbers; NULL = the same. */
void nytp_arcs_before_renumber(struct nytp_arcs_before *before, const uint32_t *sub_of,
                               const uint32_t *file_of);

/* The calls of `n` recordings from `first` on, which are numbered from 0 then. False when
 * memory is out; else to be freed as well. */
bool nytp_arcs_before_of_recordings(struct nytp_arcs_before *some,
                                    const struct nytp_arcs_before *before, uint32_t first,
                                    uint32_t n);

/* The arcs of a changed profile, from what was known before the change and what its tree tells
 * now (which is sorted); a new list. False when memory is out. */
bool nytp_arcs_before_choose(const struct nytp_profile *p,
                             const struct nytp_arcs_before *before, struct nytp_arc *of_tree,
                             uint32_t n_of_tree, struct nytp_arc **arcs, uint32_t *n);

#endif
