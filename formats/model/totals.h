/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What follows from the calling-context tree: arcs, line costs and the totals of subs. Used
 * when a profile is made, merged, or its tree was changed (selection).
 */
#ifndef NYTP_TOTALS_H
#define NYTP_TOTALS_H

#include "arcs_before.h"

/* Make p->arcs and the subs' call totals from the tree. Nodes, processes and recordings must be
 * set; old arcs are freed.
 *
 * `recorded` are the arcs that the recording itself holds, all of recording 0; n_recorded is 0
 * when there are none or they are no longer true. A callee's recorded arcs are taken instead of
 * those of the tree where both agree on its number of calls and its exclusive time, since
 * recorded arcs know call sites and recursion better.
 *
 * A sub that calls others but was never called gets an arc of no calls from the root, so that
 * there is one root. False when memory is out. */
bool nytp_profile_make_arcs(struct nytp_profile *p, const struct nytp_arc *recorded,
                            uint32_t n_recorded);

/* Sort p->arcs and set the subs' calls, times, first_arc and n_arcs from them; the root's
 * from the tree. */
void nytp_profile_sum_arcs(struct nytp_profile *p);

/* Make p->line_costs and the subs' statements from the node lines (old ones are freed). */
bool nytp_profile_make_line_costs(struct nytp_profile *p);

/* Everything after a change to nodes: inclusive ticks, totals, arcs, line costs. Where the
 * changed tree has exactly the calls of a callee, or of a callee from one caller, that it had
 * before, the arcs that were known stay; elsewhere it is the tree that tells. Children and node
 * lines must be sorted as model.h says. False when memory is out. */
bool nytp_profile_rebuild(struct nytp_profile *p, const struct nytp_arcs_before *before);

#endif
