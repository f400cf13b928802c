/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * perl's safe points, where it checks for signals (PERL_ASYNC_CHECK, perl.h): at statements,
 * branches and loops. Another thread or a signal handler requests one by a single store;
 * registered functions are called there, in the interpreter's own thread.
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

/* Called at each safe point at which perl stops, for any reason, so it first checks whether
 * there is work. It leaves errno alone and runs no perl code: perl may be inside a regex
 * match. */
typedef void nytp_at_safe_point_fn(pTHX);

/* Registers a function for the whole process, or none (NULL). */
void nytp_safe_point_set(enum nytp_asker asker, nytp_at_safe_point_fn *call);

/* Makes this interpreter, and its clones, stop at safe points for us. May be called again. */
void nytp_safe_point_begin(pTHX);

/* Returns whether perl's save stack may be used here: not inside a regex match. */
bool nytp_is_between_statements(pTHX);

/* Number of calls of nytp_safe_point_ask(), for safe_point.c. */
extern _Atomic unsigned nytp_safe_point_asks NYTP_HIDDEN;

/* Makes the interpreter (NYTP_THX) stop at its next safe point. From any thread or signal. */
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
