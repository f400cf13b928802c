/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The time our handlers take in the program. One run in a hundred is timed, later one in two
 * thousand. In a program a handler waits for memory that the program has pushed out of the
 * caches and for mispredicted branches; a measuring loop does not show that.
 *
 * Runs are timed in pairs. The first of each brings the timing code into the cache and is
 * dropped. The code that is timed is a function that all runs reach: it waits for its
 * instructions, too. It has no branch that tells timed runs from others, which the processor
 * would not predict. A run begins when all that perl did before is done: what perl waits for is
 * no part of it. It ends when all that it did is done: what it waits for is.
 */
#ifndef NYTP_HANDLER_TIME_H
#define NYTP_HANDLER_TIME_H

#include "XS/perl/perl_compat.h"
#include "XS/platform/clock.h"

#include <stdbool.h>
#include <stdint.h>

/* The parts of handlers that are timed. */
enum nytp_handler {
    NYTP_HANDLER_STATEMENT, /* stmts.c: a statement begins, */
    NYTP_HANDLER_FIRST,     /* or with the call of its sub, and reads no clock */
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
    NYTP_HANDLER_PERIOD = 112,        /* at first */
    NYTP_HANDLER_LATER_PERIOD = 1792, /* when many runs are known */
    NYTP_HANDLER_LONGEST_RAW = 2048   /* longer ones were interrupted */
};

struct nytp_handler_time {
    int16_t period;    /* runs from one timed pair to the next */
    uint32_t n;        /* runs kept */
    uint32_t n_rare;   /* of these, that did rare work, most of which was cut out of the axis */
    uint64_t raw;      /* total time of all kept, in raw units of the clock, without that, */
    uint64_t raw2;     /* and the sum of the squares */
    uint64_t raw_rare; /* time of those that did rare work */
};

struct nytp_handler_times {
    int16_t until[NYTP_HANDLERS]; /* runs until the next timed pair; -1 and -2: its two runs */
    uint64_t begun, base_raw;     /* the clock when the timed run began, and its base_raw */
    struct nytp_handler_time of[NYTP_HANDLERS];
};

/* Counts down to the next timed pair. Returns whether the run is one of it. */
static inline bool nytp_handler_is_due(struct nytp_handler_times *times,
                                       enum nytp_handler handler)
{
    return UNLIKELY(--times->until[handler] < 0);
}

/* Waits until the processor has done all that came before. */
static inline void nytp_finish_ops(void)
{
#if defined(__x86_64__)
    __builtin_ia32_lfence();
#elif defined(__aarch64__)
    __asm__ volatile("dsb sy\n\tisb" ::: "memory");
#else
    __sync_synchronize();
#endif
}

/* Begins a timed run. It does not wait for what perl began before, nor for `size` bytes at
 * `perls`, which perl itself reads next. */
void nytp_handler_begin(struct nytp_handler_times *times, const struct nytp_clock *clock,
                        const void *perls, size_t size);

/* Ends it. A run that did other work than the handler's is left without this. */
void nytp_handler_end(struct nytp_handler_times *times, enum nytp_handler handler,
                      const struct nytp_clock *clock);

#endif
