/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Calls that were open at a tick: made from what the tick copied and from perl's stack as it
 * is at the safe point that came after it.
 *
 * The innermost calls are the tick's own copy; the rest is believed to be as it is now.
 * sampling/find.h tells which of them the tick hit.
 */
#ifndef NYTP_TICK_STACK_H
#define NYTP_TICK_STACK_H

#include "alive.h"
#include "named_callee.h"

#include "XS/platform/copy_stack.h"
#include "XS/state/state.h"

#include "sampling/find.h"

/* Calls that are seen here are alive, or may be compared only. */
#define NYTP_CALL_CV(call)   INT2PTR(CV *, (UV)(call)->code)
#define NYTP_CALL_SITE(call) INT2PTR(const COP *, (UV)(call)->site)

/* The moment of a tick. */
struct nytp_moment {
    uint32_t n_below; /* calls that are as they are now */
    uint32_t n_above; /* and above them */
    struct nytp_call above[NYTP_TICK_CALLS + NYTP_MOST_LEFT];
    bool is_sort;   /* a sort runs, or its block */
    uint64_t pad;   /* of the innermost call, or of the main program; 0: not known */
    const COP *cop; /* the statement */
    CV *xsub;       /* the running xsub, or NULL */
    int builtin;    /* op type of the running builtin; OP_NULL: none */
    int op_type;    /* op type of whatever ran; OP_NULL: not known */
    const void *op; /* address of that op, which may be freed by now */
};

struct nytp_tick_stack {
    struct nytp_call *now; /* perl's calls at this safe point, outermost first */
    uint32_t n_now, size_now;
    uint32_t n_kept; /* calls of `now` that were open at the last safe point */
    struct nytp_call *upper;
    uint32_t size_upper;
    struct nytp_call_memory memory;
    struct nytp_known_svs svs;
    struct nytp_named_calls named;
};

/* Looks at perl's stack; call it at a safe point. Reads new calls and 256 more, however deep
 * the stack is. */
void nytp_tick_stack_look(pTHX_ struct nytp_tick_stack *stack);

/* Sets *moment to what a tick before this safe point saw. All of it can be dereferenced. */
void nytp_moment_of(pTHX_ struct nytp_recorder *rec, struct nytp_tick_stack *stack,
                    const struct nytp_tick *tick, struct nytp_moment *moment);

/* Free what it has; the struct itself is the owner's. */
void nytp_tick_stack_free(struct nytp_tick_stack *stack);

#endif
