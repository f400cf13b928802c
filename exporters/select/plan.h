/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A plan says what to do with each node of a profile. The selection (select.c) makes it, and
 * one rewrite of the tree (rewrite.h) carries it out.
 */
#ifndef NYTP_PLAN_H
#define NYTP_PLAN_H

#include "rewrite.h"

struct nytp_plan {
    struct nytp_profile *profile;
    struct nytp_rewriting rewriting;
    struct nytp_arcs_before before;
    bool *drop;
    bool changes;
};

/* All nodes stay as they are. False when out of memory; nytp_plan_end() in either case. */
bool nytp_plan_begin(struct nytp_plan *plan, struct nytp_profile *profile);

void nytp_plan_action(struct nytp_plan *plan, uint32_t node, enum nytp_rewrite_action action);

/* The node's own time and calls are dropped; what is below it stays. */
void nytp_plan_drop(struct nytp_plan *plan, uint32_t node);

/* Carry the plan out if it says anything, and free it. `planned` false: planning failed, for
 * want of memory unless *error is set already; nothing is done, and the result is false. */
bool nytp_plan_end(struct nytp_plan *plan, bool planned, struct nytp_error *error);

#endif
