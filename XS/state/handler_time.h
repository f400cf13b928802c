/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * How long one of our handlers takes where it stands: one in a hundred of its runs is timed. In
 * a program it waits for memory that the program has pushed out of the caches, and for branches
 * that the processor has forgotten, which a loop to measure by does not show.
 *
 * Runs are timed two by two, and the first of the two is not kept: it makes the code that times
 * the second as near as the one that does not time.
 */
#ifndef NYTP_HANDLER_TIME_H
#define NYTP_HANDLER_TIME_H

#include "XS/perl/perl_compat.h"

#include <stdbool.h>
#include <stdint.h>

enum nytp_handler {
    NYTP_HANDLER_STATEMENT, /* of stmts.c: one begins */
    NYTP_HANDLER_ENTRY,     /* of calls.c: of a perl sub */
    NYTP_HANDLER_XSUB,      /* and of an xsub */
    NYTP_HANDLER_BUILTIN,
    NYTP_HANDLERS
};

enum {
    NYTP_HANDLER_PERIOD = 112,      /* as a rule */
    NYTP_HANDLER_LONGEST_RAW = 2048 /* longer ones were interrupted, or did what is rare */
};

struct nytp_handler_time {
    int8_t period; /* runs from two that are timed to two */
    uint32_t n;    /* were kept */
    uint64_t raw;  /* and took so long together, in raw units of the clock */
};

/* `until` counts runs down to the next two that are timed: the one that makes it -1, and the
 * one that makes it -2. Its sign is asked for, as the processor knows that without a look. */
static inline bool nytp_handler_is_timed(int8_t *until)
{
    return UNLIKELY(--*until < 0);
}

/* This one was timed, and took so long. */
static inline void nytp_handler_took(struct nytp_handler_time *time, int8_t *until,
                                     uint64_t raw)
{
    if (*until == -1)
        return;
    *until = (int8_t)(time->period - 1);
    if (raw < NYTP_HANDLER_LONGEST_RAW) {
        time->raw += raw;
        time->n++;
    }
}

#endif
