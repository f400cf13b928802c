/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The time our handlers take in the program. One run in a hundred is timed, later one in four
 * hundred. In a program a handler waits for memory that the program has pushed out of the
 * caches and for mispredicted branches; a measuring loop does not show that.
 *
 * Runs are timed in pairs. The first of each brings the timing code into the cache and is
 * dropped.
 */
#ifndef NYTP_HANDLER_TIME_H
#define NYTP_HANDLER_TIME_H

#include "XS/perl/perl_compat.h"

#include <stdbool.h>
#include <stdint.h>

/* The parts of handlers that are timed. */
enum nytp_handler {
    NYTP_HANDLER_STATEMENT, /* stmts.c: a statement begins */
    NYTP_HANDLER_LEAVE,     /* stmts.c: a block is left, */
    NYTP_HANDLER_RETURN,    /* or the block of a sub */
    NYTP_HANDLER_ENTRY,     /* calls.c: a perl sub is entered */
    NYTP_HANDLER_EXIT,      /* call_frames.c: and left */
    NYTP_HANDLER_XSUB,      /* calls.c: an xsub is entered */
    NYTP_HANDLER_XSUB_END,
    NYTP_HANDLER_BUILTIN,
    NYTP_HANDLER_BUILTIN_END,
    NYTP_HANDLERS
};

enum {
    NYTP_HANDLER_PERIOD = 112,       /* at first */
    NYTP_HANDLER_LATER_PERIOD = 448, /* when many runs are known */
    NYTP_HANDLER_LONGEST_RAW = 2048  /* longer ones were interrupted or did rare work */
};

struct nytp_handler_time {
    int16_t until;  /* runs until the next timed pair; -1 and -2: its two runs */
    int16_t period; /* runs from one timed pair to the next */
    uint32_t n;     /* runs kept */
    uint64_t raw;   /* total time of these, in raw units of the clock, */
    uint64_t raw2;  /* and the sum of the squares */
};

/* Counts down to the next timed pair. Returns whether the run is one of it. */
static inline bool nytp_handler_is_timed(struct nytp_handler_time *time)
{
    return UNLIKELY(--time->until < 0);
}

/* Adds the time `raw` of a timed run. */
static inline void nytp_handler_took(struct nytp_handler_time *time, uint64_t raw)
{
    if (time->until == -1)
        return;
    time->until = (int16_t)(time->period - 1);
    if (raw < NYTP_HANDLER_LONGEST_RAW) {
        time->raw += raw;
        time->raw2 += raw * raw;
        time->n++;
    }
}

#endif
