/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Copies perl's state at a tick: the current op, statement and pad, the innermost calls, and
 * the sub that an entersub calls. A safe point would be too late: a sub whose last statement
 * takes the time may have been left by then. The stacks may move or go meanwhile, so the kernel
 * copies them (memory.h).
 */
#ifndef NYTP_COPY_STACK_H
#define NYTP_COPY_STACK_H

#include "XS/perl/perl_compat.h"
#include "ticks.h"

/* The words of a tick, in the order of reading. PL_op and PL_curpad mostly share a cache
 * line. */
enum {
    NYTP_TICK_OP,
    NYTP_TICK_PAD,
    NYTP_TICK_COP
};

/* Finds the call that a context is, or, at depth 0, the file or string eval. Returns false if it
 * is neither. */
bool nytp_read_context(const PERL_CONTEXT *cx, struct nytp_tick_call *call);

/* Makes the ring's ticks look at this interpreter. In the thread that runs it. */
void nytp_copy_stack_begin(pTHX_ struct nytp_ring *ring);

/* Makes the calling thread the one that the ring looks at. */
void nytp_copy_stack_thread(struct nytp_ring *ring);

#endif
