/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * perl's table of op handlers: saved, redirected, restored. Ops copy their handler from
 * PL_ppaddr when they are made. So only code compiled after a redirection calls the new
 * handler, and it goes on doing so after the table is restored, unless each op is switched
 * (switch_ops.h).
 *
 * The table and the data here belong to the process. Every change is one aligned pointer.
 */
#ifndef NYTP_OPS_H
#define NYTP_OPS_H

#include "perl_compat.h"

/* perl's handlers, or an earlier profiler's; NULL for ops never redirected. ops.c writes it. */
extern Perl_ppaddr_t nytp_real_ops[MAXO] NYTP_HIDDEN;

static inline OP *nytp_real_op(pTHX_ int type)
{
    return nytp_real_ops[type](aTHX);
}

/* Our handlers or NULL, and whether nytp_ops_turn() switches them. For ops.c to write. */
extern Perl_ppaddr_t nytp_own_ops[MAXO] NYTP_HIDDEN;
extern bool nytp_op_is_switched[MAXO] NYTP_HIDDEN;

/* Makes ops of this type compiled from now on call `wrapper` instead of perl's handler, also
 * through ours. It has to call *inner, perl's handler, which is set once. For the rest of the
 * process. */
void nytp_op_wrap(int type, Perl_ppaddr_t wrapper, Perl_ppaddr_t *inner);

enum nytp_op_when {
    NYTP_OP_ALWAYS,
    NYTP_OP_SWITCHED, /* while nytp_ops_turn() has switched them on */
};

/* Gives ops of this type the handler if they are compiled from now on, or while recording is
 * on. A handler set after ours stays and leads to ours. */
void nytp_op_redirect(int type, Perl_ppaddr_t handler, enum nytp_op_when when);

/* Switches the table for code compiled from now on: our handlers of switched ops, or perl's. */
void nytp_ops_turn(bool on);

/* Replaces perl's handler of a type by ours, or back. One that was set after ours stays: it
 * leads to ours, or to the one before us. */
static inline void nytp_handler_turn(Perl_ppaddr_t *handler, int type, bool on)
{
    const Perl_ppaddr_t own = nytp_own_ops[type], real = nytp_real_ops[type];
    if (own != NULL && *handler == (on ? real : own))
        *handler = on ? own : real;
}

/* Switches one compiled op. */
static inline void nytp_op_turn(OP *op, bool on)
{
    if (op->op_type < MAXO && nytp_op_is_switched[op->op_type])
        nytp_handler_turn(&op->op_ppaddr, op->op_type, on);
}

/* perl's hook for freed ops, or another's before us, or NULL. */
extern Perl_ophook_t nytp_real_op_free NYTP_HIDDEN;

/* Calls `hook` for every freed op, unless others redirect that. It calls nytp_real_op_free. */
void nytp_op_free_redirect(Perl_ophook_t hook);

/* Stops redirecting and switching ops in code compiled from now on. Where others redirected an
 * op after us, the chain stays. */
void nytp_ops_restore(void);

#endif
