/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Where an interpreter is, and for how long, as the tick thread sees it: for who asks while the
 * program executes nothing.
 */
#ifndef NYTP_WHERE_H
#define NYTP_WHERE_H

#include "XS/ground/open_stack.h"

/* As it was at the last look. */
struct nytp_where {
    const void *interpreter;
    long pid, thread_id;  /* of its thread for the system; 0: not known */
    clockid_t cpu_clock;  /* of its thread */
    const void *op, *cop; /* that were current */
    uint64_t cpu_ns;      /* processor time that it had had */
    uint64_t since_ns;    /* CLOCK_MONOTONIC when all these were first so */
    bool is_still;        /* it has used no processor time between the last two looks */
};

/* In the interpreter's thread. `thread` is its number, 0: the program's first. */
void nytp_where_begin(struct nytp_where *where, void *interpreter, unsigned thread);

/* These run under the rules of raw_thread.h. Look; to be called now and then, since what did
 * not change from look to look is believed not to have changed in between. */
void nytp_where_look(struct nytp_where *where);

/* "waits in CORE:readline for 11.9 s, fd 4" or "runs". */
void nytp_where_put(struct nytp_raw_text *text, struct nytp_where *where);

/* A newline, and a line for each open call, innermost first: its name and, behind a tab, file
 * and line of the statement that it has come to. */
void nytp_where_put_stack(struct nytp_raw_text *text, struct nytp_where *where);

#endif
