/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * perl's safe points: where it looks whether a signal has come (PERL_ASYNC_CHECK, perl.h), at
 * statements, branches and loops. Another thread, or a signal handler, asks for the next one by
 * a single store, and those who registered are called there, in the interpreter's own thread.
 */
#ifndef NYTP_SAFE_POINT_H
#define NYTP_SAFE_POINT_H

#include "perl_compat.h"

enum nytp_asker {
    NYTP_ASKER_CONTROL,
    NYTP_ASKER_SAMPLE,
    NYTP_ASKER_LOAD,
    NYTP_N_ASKERS,
};

/* Called at each safe point that perl stops at, for whatever reason; so it looks first whether
 * there is anything to do. It leaves errno alone and runs no perl code: perl may be inside a
 * match of a regular expression. */
typedef void nytp_at_safe_point_fn(pTHX);

/* For the whole process; NULL: not any more. */
void nytp_safe_point_set(enum nytp_asker asker, nytp_at_safe_point_fn *call);

/* Let this interpreter stop at safe points for us. A clone of one that does needs not be told.
 * The second of two calls does nothing. */
void nytp_safe_point_begin(pTHX);

/* Whether something may be put on perl's save stack at this safe point. One inside a match of a
 * regular expression is no place for that. */
bool nytp_is_between_statements(pTHX);

/* How often nytp_safe_point_ask() was called; only safe_point.c and it look at it. */
extern _Atomic unsigned nytp_safe_point_asks NYTP_HIDDEN;

/* The interpreter (NYTP_THX) stops at its next safe point. From any thread and any signal. */
static inline void nytp_safe_point_ask(void *interpreter)
{
    PERL_UNUSED_VAR(interpreter);
    nytp_safe_point_asks++;
#ifdef MULTIPLICITY
    *(volatile int *)&((PerlInterpreter *)interpreter)->Isig_pending = 1;
#else
    *(volatile int *)&PL_sig_pending = 1;
#endif
}

#endif
