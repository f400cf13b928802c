/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The present state of an interpreter and its duration, as the tick thread sees it, for clients
 * that ask while the program executes nothing.
 */
#ifndef NYTP_WHERE_H
#define NYTP_WHERE_H

#include "XS/platform/open_stack.h"

struct nytp_where {
    const void *interpreter;
    long pid, thread_id; /* of its thread for the system; 0: unknown */
    clockid_t cpu_clock;
    const void *op, *cop; /* the current ones */
    uint64_t cpu_ns;      /* processor time used so far */
    uint64_t since_ns;    /* CLOCK_MONOTONIC when all these were first seen */
    bool is_still;        /* no processor time was used between the last two looks */
};

/* In the interpreter's thread. `thread` is its number, 0 for the program's first. */
void nytp_where_begin(struct nytp_where *where, void *interpreter, unsigned thread);

/* These run in the tick thread. nytp_where_look() looks; call it regularly, since
 * an unchanged state is assumed not to have changed in between. */
void nytp_where_look(struct nytp_where *where);

/* Appends "waits in CORE:readline for 11.9 s, fd 4" or "runs". */
void nytp_where_put(struct nytp_fixed_text *text, struct nytp_where *where);

/* After nytp_where_put() of the same interpreter: appends a newline, and a line for each open
 * call, innermost first: its name, a tab, file and line of its current statement. */
void nytp_where_put_stack(struct nytp_fixed_text *text);

#endif
