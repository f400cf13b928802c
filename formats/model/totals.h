/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Arcs, line costs and totals of subs, derived from the calling-context tree. Used when a
 * profile is made, merged, or its tree was changed (selection).
 */
#ifndef NYTP_TOTALS_H
#define NYTP_TOTALS_H

#include "arcs_before.h"

/* Makes p->arcs and the subs' call totals from the tree. Nodes, processes and recordings must
 * be set; old arcs are freed. Returns false if memory is out.
 *
 * `recorded` are the arcs in the recording, all of recording 0; n_recorded is 0 if there are
 * none or they are no longer true. The recorded arcs of a callee replace those of the tree if
 * both agree on its calls and exclusive time: recorded arcs have better call sites and
 * recursion.
 *
 * A sub that calls others but was never called gets an arc of no calls from the root, so that
 * there is one root. */
bool nytp_profile_make_arcs(struct nytp_profile *p, const struct nytp_arc *recorded,
                            uint32_t n_recorded);

/* Sorts p->arcs and sets the subs' sums and arcs from them; the root's sums from the tree. */
void nytp_profile_sum_arcs(struct nytp_profile *p);

/* Makes p->line_costs and the subs' statements from the node lines. Frees the old ones. */
bool nytp_profile_make_line_costs(struct nytp_profile *p);

/* Sorts the n lines of a node and adds up those of one place. The results go to
 * p->node_lines[kept] and following, which never overtakes `lines`. Returns their end. */
uint32_t nytp_node_lines_merge(struct nytp_profile *p, struct nytp_node_line *lines, uint32_t n,
                               uint32_t kept);

/* Sets the nodes' inclusive ticks and the profile's total.ticks. */
void nytp_profile_sum_tree(struct nytp_profile *p);

/* Recomputes everything after a change to nodes: inclusive ticks, totals, arcs, line costs.
 * The old arcs stay for a callee, or for a callee from one caller, whose calls in the tree are
 * unchanged; all others come from the tree. Children and node lines must be sorted as model.h
 * says. Returns false if memory is out. */
bool nytp_profile_rebuild(struct nytp_profile *p, const struct nytp_arcs_before *before);

#endif
