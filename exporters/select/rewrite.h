/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Makes a calling-context tree anew from another one, after a decision about every node.
 * select.c and its neighbours decide; this carries the decisions out.
 */
#ifndef NYTP_REWRITE_H
#define NYTP_REWRITE_H

#include "formats/model/totals.h"

/* The fate of a node. */
enum nytp_rewrite_action {
    NYTP_KEEP = 0, /* it stays; becomes one with a sibling of the same sub and call site */
    NYTP_HIDE,     /* its cost and callees go to the call site in the caller */
    NYTP_MERGE_INTO_CALLER, /* it becomes one with its caller: lines, calls and callees */
    NYTP_PRUNE,       /* it stays as a call of the sub `pruned_sub`; its lines are forgotten */
    NYTP_PRUNE_BELOW, /* below a PRUNE or PRUNE_BELOW: only its cost stays */
    NYTP_DROP,        /* it goes, its cost with it; its callees hang under the root */
};

/* One rewrite of the tree. Arrays have one entry per old node, sub or file. */
struct nytp_rewriting {
    uint8_t *action; /* enum nytp_rewrite_action; roots are always kept */
    bool *drop;      /* its own cost and calls go; the frame stays if something below it
                        does. NULL = nothing is dropped */
    const uint32_t *sub_of, *file_of; /* what subs and files become; NULL = themselves */
    const uint32_t *sub_of_node; /* what the sub of each node becomes; NULL = sub_of tells */
    uint32_t pruned_sub;         /* sub (new index) of NYTP_PRUNE nodes */
    struct nytp_arcs_before *before; /* taken down when subs and files had their old indices */
};

/* Replace the profile's nodes, children, node lines and spans, then compute the rest with
 * nytp_profile_rebuild(). Spans of nodes that do not stay go; all go when anything was
 * dropped. False with *error set; the profile is then only good for nytp_profile_free(). */
bool nytp_rewrite(struct nytp_profile *profile, const struct nytp_rewriting *rewriting,
                  struct nytp_error *error);

#endif
