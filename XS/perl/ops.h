/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * perl's table of op handlers: handlers saved, redirected, restored. Ops copy their handler
 * from PL_ppaddr when they are made, so only code compiled after a redirection comes to the new
 * handler, and what was compiled between it and the restoration keeps coming there, unless each
 * op is switched in its place (switch_ops.h).
 *
 * The table belongs to the process, and so does what is kept here. Every change is one aligned
 * pointer.
 */
#ifndef NYTP_OPS_H
#define NYTP_OPS_H

#include "perl_compat.h"

/* perl's handlers, or another profiler's before us; NULL for ops that were never redirected.
 * Only ops.c writes it. */
extern Perl_ppaddr_t nytp_real_ops[MAXO] NYTP_HIDDEN;

/* Run perl's own handler of an op that was redirected. */
static inline OP *nytp_real_op(pTHX_ int type)
{
    return nytp_real_ops[type](aTHX);
}

/* Our handlers, NULL for ops that are perl's alone; and which of them nytp_ops_turn() switches.
 * Only ops.c writes them. */
extern Perl_ppaddr_t nytp_own_ops[MAXO] NYTP_HIDDEN;
extern bool nytp_op_is_switched[MAXO] NYTP_HIDDEN;

/* Ops of this type that are compiled from now on come to `wrapper` instead of perl's handler,
 * also by way of ours; it has to call *inner, which is perl's and is set once. For the rest of
 * the process. */
void nytp_op_wrap(int type, Perl_ppaddr_t wrapper, Perl_ppaddr_t *inner);

enum nytp_op_when {
    NYTP_OP_ALWAYS,
    NYTP_OP_SWITCHED, /* while nytp_ops_turn() says so */
};

/* Ops of this type that are compiled from now on, or while recording is on, get the handler,
 * unless somebody redirected it after us: that handler leads to ours. */
void nytp_op_redirect(int type, Perl_ppaddr_t handler, enum nytp_op_when when);

/* The table for what is compiled from now on: with our handlers of switched ops, or without. */
void nytp_ops_turn(bool on);

/* The same for one op that is compiled. One that somebody else redirected is left. */
static inline void nytp_op_turn(OP *op, bool on)
{
    const int type = op->op_type;
    if (type >= MAXO || !nytp_op_is_switched[type])
        return;
    const Perl_ppaddr_t own = nytp_own_ops[type], real = nytp_real_ops[type];
    if (op->op_ppaddr == (on ? real : own))
        op->op_ppaddr = on ? own : real;
}

/* perl's hook for ops that are freed, or another's before us; NULL: there was none. */
extern Perl_ophook_t nytp_real_op_free NYTP_HIDDEN;

/* `hook` is called for every op that is freed, unless somebody redirected that after us. It has
 * to call nytp_real_op_free. */
void nytp_op_free_redirect(Perl_ophook_t hook);

/* Code compiled from now on is not looked at, and no op is to be switched. Where somebody has
 * redirected an op after us, the chain must stay. */
void nytp_ops_restore(void);

#endif
