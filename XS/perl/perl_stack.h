/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * perl's own stack of open sub calls, read without touching it: one PERL_SI for each stack that
 * perl works on (the program's, and one for each sort block, tied variable, destructor or
 * callback from C above it), each with an array of contexts, of which those of type CXt_SUB are
 * calls. The walk allocates nothing and runs no perl code, so it may be used in a safe point
 * and in the middle of an op.
 */
#ifndef NYTP_PERL_STACK_H
#define NYTP_PERL_STACK_H

#include "perl_compat.h"

/* A sub that has been called and not left. All is borrowed from perl. */
struct nytp_perl_call {
    CV *cv;            /* what runs; after `goto &sub` the sub that was gone to */
    const COP *site;   /* the statement that called; may be &PL_compiling */
    const PERL_SI *si; /* where the context lies: the stack, */
    I32 index;         /* and its place on it */
    bool is_multicall; /* run by C code without a call op: a sort sub, List::Util's blocks */
};

/* Where a walk stands: the next context to look at. */
struct nytp_perl_stack {
    const PERL_SI *si; /* NULL: at the end */
    I32 index;
};

/* Begin with the innermost call. */
void nytp_perl_stack_begin(pTHX_ struct nytp_perl_stack *walk);

/* The next call outward; false: there is none. Blocks of (?{}) in a pattern, which perl gives a
 * context of a sub without being one, are left out. */
bool nytp_perl_stack_next(struct nytp_perl_stack *walk, struct nytp_perl_call *call);

/* Whether the call has not been left since it was found by a walk. What perl puts in its place
 * later, a call of the same sub at the same height, cannot be told from it. */
bool nytp_perl_call_is_open(pTHX_ const struct nytp_perl_call *call);

#endif
