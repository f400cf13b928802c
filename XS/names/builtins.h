/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Builtins that are timed as if they were subs (slowops.def): "main::CORE:sleep" with
 * slowops=2, "CORE::sleep" with slowops=1.
 */
#ifndef NYTP_BUILTINS_H
#define NYTP_BUILTINS_H

#include "XS/perl/index.h"
#include "XS/perl/perl_compat.h"

#include "XS/ground/open_stack.h"

struct nytp_recorder;
struct nytp_rec_sub;

/* By type of op: whether it is timed. */
extern const bool nytp_is_slowop[MAXO] NYTP_HIDDEN;

/* The xsub or builtin that runs, behind `head`; nothing where none does. As open_stack.h. */
void nytp_open_stack_put_leaf(struct nytp_raw_text *text, const struct nytp_open_stack *stack,
                              const char *head);

/* The part of the state that builtins.c writes. */
struct nytp_rec_builtins {
    struct nytp_index by_op; /* by stash and type of op */
};

/* The sub that stands for ops of this type in the package of this statement. Called for each op
 * that is timed, so it is found by the stash's address; the stash's name is only looked at the
 * first time, and when it has changed. */
struct nytp_rec_sub *nytp_sub_of_op(pTHX_ struct nytp_recorder *rec, const COP *cop, int type);

void nytp_builtins_free(struct nytp_recorder *rec);

#endif
