/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * perl's stack of open sub calls, read without changing it. perl has one PERL_SI for the
 * program, and one for each sort block, tied variable, destructor or callback from C above it.
 * Each has an array of contexts; those of type CXt_SUB are calls. The walk allocates nothing
 * and runs no perl code, so it may be used at a safe point and inside an op.
 */
#ifndef NYTP_PERL_STACK_H
#define NYTP_PERL_STACK_H

#include "perl_compat.h"

/* A sub that was called and not left. All pointers are borrowed from perl. */
struct nytp_perl_call {
    CV *cv;            /* the running sub; after `goto &sub` its target */
    const COP *site;   /* the calling statement; may be &PL_compiling */
    const PERL_SI *si; /* the context's stack */
    I32 index;         /* and its index there */
    bool is_multicall; /* run by C code without a call op: a sort sub, List::Util's blocks */
};

/* State of a walk: the next context to look at. */
struct nytp_perl_stack {
    const PERL_SI *si; /* NULL: at the end */
    I32 index;
};

/* Begins with the innermost call. */
void nytp_perl_stack_begin(pTHX_ struct nytp_perl_stack *walk);

/* Finds the next call outward; returns false if there is none. Skips (?{}) blocks of patterns,
 * which have a sub's context. */
bool nytp_perl_stack_next(struct nytp_perl_stack *walk, struct nytp_perl_call *call);

/* Returns whether a call found by a walk has not been left. A later call of the same sub at the
 * same height looks the same. */
bool nytp_perl_call_is_open(pTHX_ const struct nytp_perl_call *call);

#endif
