/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Which calls were open at a tick: made from what the tick copied and from perl's stack as it
 * is at the safe point that came after it.
 *
 * The innermost calls are the tick's own copy; the rest is believed to be as it is now. The pad
 * that was current at the tick tells which of the calls it hit, for each call of a sub that is
 * in progress has its own: what lies above was entered a moment later. A pad that none of them
 * has belongs to a call that returned in that moment. Whose pad it is has been learned, who has
 * called it and where on the stack it lay then; where the top was at the tick tells which of
 * these calls it was.
 */
#ifndef NYTP_TICK_STACK_H
#define NYTP_TICK_STACK_H

#include "XS/platform/copy_stack.h"
#include "XS/state/state.h"

enum {
    NYTP_TICK_LEFT = 8, /* calls that have returned since a tick, on top of each other */
};

/* A call in a stack. Pointers are borrowed from perl and may be compared at any time. */
struct nytp_stack_call {
    CV *cv;
    const OP *root;  /* CvROOT(cv) when it was seen: a later CV at this address has another */
    const COP *site; /* the statement that called; NULL: not known */
    const PERL_SI *si;
    I32 index;
    I32 depth;      /* of recursion */
    SV *const *pad; /* of this call, as PL_curpad has it; NULL: none */
};

/* The moment of a tick. */
struct nytp_moment {
    uint32_t n_below; /* calls that are as they are now */
    uint32_t n_above; /* and above them */
    struct nytp_stack_call above[NYTP_TICK_CALLS + NYTP_TICK_LEFT];
    const COP *cop; /* the statement */
    CV *xsub;       /* that was running, or NULL */
    int builtin;    /* or op type of the builtin that was; OP_NULL: none */
    int op_type;    /* of any operation of the statement that was; OP_NULL: not known */
    const void *op; /* where it lay; it may be gone by now */
};

/* A call that was seen. */
struct nytp_known_call {
    SV *const *pad, *const *caller; /* NULL: the program itself has called it */
    CV *cv;
    const COP *site;
    const PERL_SI *si, *caller_si; /* NULL: of the program itself */
    I32 index, caller_index;       /* on these */
    I32 depth;
};

enum {
    NYTP_KNOWN_CALLS = 8192,
    NYTP_KNOWN_SVS = 4096,
};

struct nytp_tick_stack {
    struct nytp_stack_call *now; /* perl's calls at this safe point, outermost first */
    uint32_t n_now, size_now;
    uint32_t n_kept; /* of them, as at the last safe point */
    struct nytp_stack_call *upper;
    uint32_t size_upper;
    struct nytp_known_call known[NYTP_KNOWN_CALLS]; /* by hash */
    const void *svs[NYTP_KNOWN_SVS];                /* addresses of SVs, by hash */
};

/* At a safe point: look at perl's stack. Takes time for what is new, and 256 calls more,
 * however deep the stack is. */
void nytp_tick_stack_look(pTHX_ struct nytp_tick_stack *stack);

/* What a tick before this safe point saw. Everything in it can be dereferenced now. */
void nytp_moment_of(pTHX_ struct nytp_recorder *rec, struct nytp_tick_stack *stack,
                    const struct nytp_tick *tick, struct nytp_moment *moment);

/* Free what it has; the struct itself is the owner's. */
void nytp_tick_stack_free(struct nytp_tick_stack *stack);

#endif
