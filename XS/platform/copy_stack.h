/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Copies perl's state at a tick: the current op, statement and pad, the innermost calls, and
 * the sub that an entersub calls.
 *
 * perl's safe points come too late for that: leavesub is none, so a sub whose last statement
 * takes the time has been left by then, together with its caller's caller perhaps. The stacks
 * may move or go while they are copied, so the kernel does it (memory.h).
 */
#ifndef NYTP_COPY_STACK_H
#define NYTP_COPY_STACK_H

#include "XS/perl/perl_compat.h"
#include "ticks.h"

/* The words of a tick, in the order in which they are read: PL_op and PL_curpad lie on one cache
 * line most often. */
enum {
    NYTP_TICK_OP,
    NYTP_TICK_PAD,
    NYTP_TICK_COP
};

/* Takes the call that a context is, or the code of a file or string eval that it runs, at depth
 * 0. False: it is neither. */
bool nytp_read_context(const PERL_CONTEXT *cx, struct nytp_tick_call *call);

/* Let ticks of the ring look at this interpreter, from the thread that runs it. */
void nytp_copy_stack_begin(pTHX_ struct nytp_ring *ring);

/* The ring's processor time is that of the calling thread. */
void nytp_copy_stack_thread(struct nytp_ring *ring);

#endif
