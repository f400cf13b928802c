/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Makes a new calling-context tree from another one. A plan has a decision for each node:
 * select.c and its neighbours plan, this file carries plans out.
 */
#ifndef NYTP_REWRITE_H
#define NYTP_REWRITE_H

#include "formats/model/totals.h"

/* The fate of a node. */
enum nytp_rewrite_action {
    NYTP_KEEP = 0, /* the node stays, merged with siblings of the same sub and call site */
    NYTP_HIDE,     /* its cost and callees go to the call site in the caller */
    NYTP_MERGE_INTO_CALLER, /* lines, calls and callees become the caller's */
    NYTP_PRUNE,             /* stays as a call of the sub `pruned_sub`, without lines */
    NYTP_PRUNE_BELOW,       /* below a PRUNE or PRUNE_BELOW: only its cost stays */
    NYTP_DROP,              /* goes with its cost; its callees hang under the root */
};

/* A rewrite. Arrays have one entry per old node, sub or file. */
struct nytp_plan {
    struct nytp_profile *profile;
    uint8_t *action; /* enum nytp_rewrite_action; roots are always kept */
    bool *drop;      /* its own cost and calls go; the frame stays if something below it does */
    const uint32_t *sub_of, *file_of; /* borrowed: new subs and files; NULL = the same */
    const uint32_t *sub_of_node;      /* borrowed: new sub of each node; NULL = `sub_of` says */
    uint32_t pruned_sub;              /* sub (new index) of NYTP_PRUNE nodes */
    struct nytp_arcs_before before;   /* copied when subs and files had their old indices */
    bool changes;                     /* false: there is nothing to rewrite */
};

/* Begins a plan that keeps all nodes. Returns false if memory is out; call nytp_plan_end() in
 * either case. */
bool nytp_plan_begin(struct nytp_plan *plan, struct nytp_profile *profile);

void nytp_plan_action(struct nytp_plan *plan, uint32_t node, enum nytp_rewrite_action action);

/* Drops the node's own time and calls. Nodes below it stay. */
void nytp_plan_drop(struct nytp_plan *plan, uint32_t node);

/* Carries out a plan that changes something, and frees it: replaces the profile's nodes,
 * children, node lines and spans, then computes the rest with nytp_profile_rebuild(). Spans of
 * nodes that do not stay go; all spans go if anything was dropped. Returns false with *error
 * set; the profile is then only good for nytp_profile_free(). `planned` false: planning failed,
 * for lack of memory unless *error is set. */
bool nytp_plan_end(struct nytp_plan *plan, bool planned, struct nytp_error *error);

#endif
