/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * perl's handler of a statement (pp_hot.c, pp_nextstate; all versions), in line. Its usual case
 * is a few assignments; a call of it takes longer.
 */
#ifndef NYTP_NEXTSTATE_H
#define NYTP_NEXTSTATE_H

#include "perl_compat.h"

/* perl's handler, or NULL if another module's is in its place. nextstate.c writes it. */
extern Perl_ppaddr_t nytp_nextstate_of_perl NYTP_HIDDEN;

/* Looks whether the table of handlers has perl's. Call it before the handler is redirected. */
void nytp_nextstate_look(void);

/* Runs the handler in line and returns the next op. Returns NULL, with nothing done, if it is
 * not perl's, or has to free temporaries or to run a signal's handler. A stack that counts
 * references (PERL_RC_STACK, 5.40) is not set back in line. */
static NYTP_INLINED OP *nytp_nextstate_in_line(pTHX_ Perl_ppaddr_t handler)
{
#ifdef PERL_RC_STACK
    PERL_UNUSED_ARG(handler);
    return NULL;
#else
    if (UNLIKELY(handler != nytp_nextstate_of_perl || PL_tmps_ix > PL_tmps_floor ||
                 PL_sig_pending))
        return NULL;
    PL_curcop = (COP *)PL_op;
    TAINT_NOT;
    PL_stack_sp = PL_stack_base + NYTP_CX_TOP->blk_oldsp;
    return PL_op->op_next;
#endif
}

#endif
