/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Builtins timed like subs (slowops.def): "main::CORE:sleep" with slowops=2, "CORE::sleep" with
 * slowops=1.
 */
#ifndef NYTP_BUILTINS_H
#define NYTP_BUILTINS_H

#include "XS/perl/perl_compat.h"

#include "XS/platform/open_stack.h"

struct nytp_recorder;
struct nytp_rec_sub;

/* Whether a type of op is timed. */
extern const bool nytp_is_slowop[MAXO] NYTP_HIDDEN;

/* Writes `head` and the running xsub or builtin, or nothing if none runs. As in
 * open_stack.h. */
void nytp_open_stack_put_leaf(struct nytp_fixed_text *text, const struct nytp_open_stack *stack,
                              const char *head);

/* Returns the sub for ops of this type in the package of this statement. Called for each timed
 * op, so the stash's address is compared first; its name only the first time and after
 * changes. */
struct nytp_rec_sub *nytp_sub_of_op(pTHX_ struct nytp_recorder *rec, const COP *cop, int type);

#endif
