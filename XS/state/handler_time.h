/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The time our handlers take in the program. One run in a hundred is timed, later one in two
 * thousand. In a program a handler waits for memory that the program has pushed out of the
 * caches and for mispredicted branches; a measuring loop does not show that.
 *
 * Runs are timed in pairs. The first of each brings the timing code into the cache and is
 * dropped. A run begins when all that perl did before is done: what perl waits for is no part
 * of it.
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
    int16_t until;     /* runs until the next timed pair; -1 and -2: its two runs */
    int16_t period;    /* runs from one timed pair to the next */
    uint32_t n;        /* runs kept */
    uint32_t n_rare;   /* of these, that did rare work, most of which was cut out of the axis */
    uint64_t raw;      /* total time of all kept, in raw units of the clock, without that, */
    uint64_t raw2;     /* and the sum of the squares */
    uint64_t raw_rare; /* time of those that did rare work */
};

/* Counts down to the next timed pair. Returns whether the run is one of it. */
static inline bool nytp_handler_is_timed(struct nytp_handler_time *time)
{
    return UNLIKELY(--time->until < 0);
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

/* A timed run: the clock when it began. */
struct nytp_handler_run {
    uint64_t cycles, base_raw;
};

/* Begins a timed run. It does not wait for what perl began before, nor for `size` bytes at
 * `perls`, which perl itself reads next. */
static inline struct nytp_handler_run nytp_handler_begins(const struct nytp_clock *clock,
                                                          const void *perls, size_t size)
{
    if (size > 0) {
        (void)*(const volatile char *)perls;
        (void)((const volatile char *)perls)[size - 1];
    }
    nytp_finish_ops();
    return (struct nytp_handler_run){nytp_clock_cycles(clock), clock->base_raw};
}

static inline void nytp_handler_ends(struct nytp_handler_time *time,
                                     const struct nytp_clock *clock,
                                     struct nytp_handler_run run)
{
    const uint64_t raw = nytp_clock_cycles(clock) - run.cycles;
    if (time->until == -1)
        return;
    time->until = (int16_t)(time->period - 1);
    if (raw >= NYTP_HANDLER_LONGEST_RAW)
        return;
    time->raw += raw;
    time->raw2 += raw * raw;
    time->n++;
    if (clock->base_raw != run.base_raw) {
        time->raw_rare += raw;
        time->n_rare++;
    }
}

#endif
