/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * perl's table of op handlers: handlers saved, redirected, restored. Ops copy their handler
 * from PL_ppaddr when they are made, so only code compiled after a redirection comes to the new
 * handler, and what was compiled between it and the restoration keeps coming there.
 *
 * The table belongs to the process, and so does what is kept here.
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

/* Ops of this type that are compiled from now on get the handler, unless somebody redirected it
 * after us: that handler leads to ours. */
void nytp_op_redirect(int type, Perl_ppaddr_t handler);

/* perl's hook for ops that are freed, or another's before us; NULL: there was none. */
extern Perl_ophook_t nytp_real_op_free NYTP_HIDDEN;

/* `hook` is called for every op that is freed, unless somebody redirected that after us. It has
 * to call nytp_real_op_free. */
void nytp_op_free_redirect(Perl_ophook_t hook);

/* Code compiled from now on is not looked at. Where somebody has redirected an op after us, the
 * chain must stay. */
void nytp_ops_restore(void);

#endif
