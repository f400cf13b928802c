/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Growing a calling-context tree anew from another one, after a decision about every node.
 * select.c decides, this does it.
 */
#ifndef NYTP_REGROW_H
#define NYTP_REGROW_H

#include "../../formats/core/model.h"

/* What becomes of a node. */
enum nytp_fate {
    NYTP_KEEP = 0, /* it stays; becomes one with a sibling of the same sub and call site */
    NYTP_HIDE,     /* its cost and callees go to the call site in the caller */
    NYTP_FUSE,     /* it becomes one with its caller: lines, calls and callees */
    NYTP_FOLD,     /* it stays as a call of the sub `folded`; its lines are forgotten */
    NYTP_ABSORB,   /* below a FOLD or ABSORB: only its cost stays */
    NYTP_CUT,      /* it goes, its cost with it; its callees hang under the root */
};

/* One rewrite of the tree. Arrays have one entry per old node, sub or file. */
struct nytp_regrowth {
    uint8_t *fate; /* enum nytp_fate; roots are always kept */
    bool *drop;    /* its own cost goes; the frame stays if something below it does.
                      NULL = nothing is dropped */
    const uint32_t *sub_of, *file_of; /* what subs and files become; NULL = themselves */
    uint32_t folded;                  /* sub (new index) of NYTP_FOLD nodes */
};

/* Replace the profile's nodes, children, node lines and spans, then compute the rest with
 * nytp_profile_rebuild(). Spans of nodes that do not stay go; all go when anything was
 * dropped. False with *error set; the profile is then only good for nytp_profile_free(). */
bool nytp_regrow(struct nytp_profile *profile, const struct nytp_regrowth *regrowth,
                 struct nytp_error *error);

#endif
