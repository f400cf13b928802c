/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The time axis of a profile: whole ticks of 100 ns, from a counter that is cheap to read.
 * Time that the profiler spent on itself is cut out of the axis, and fractions of a tick are
 * kept, so that differences between any two readings add up exactly.
 *
 * The counter is the processor's time stamp counter where the kernel itself keeps its time by
 * it, calibrated against CLOCK_MONOTONIC again and again; otherwise clock_gettime().
 */
#ifndef NYTP_CLOCK_H
#define NYTP_CLOCK_H

#include "formats/base/wide.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)
#define NYTP_HAS_TSC 1
#include <x86intrin.h>
#else
#define NYTP_HAS_TSC 0
#endif

#define NYTP_TICKS_PER_SEC 10000000

struct nytp_clock {
    bool is_tsc;
    clockid_t id;      /* of clock_gettime(), also what a TSC is calibrated against */
    uint64_t rate;     /* ticks per raw unit, in 2^-64; less than half a tick */
    uint64_t base_raw; /* raw reading of the axis point base_ticks + base_fraction */
    int64_t base_ticks;
    uint64_t base_fraction;       /* in 2^-64 tick */
    uint64_t first_raw, first_ns; /* where the calibration began */
    int64_t overhead_ticks;       /* cut out so far */
    unsigned pauses;              /* nested nytp_clock_pause() calls */
    uint64_t paused_raw;          /* when the outermost of them was */
};

/* Nanoseconds of clock_gettime(). */
uint64_t nytp_clock_system_ns(const struct nytp_clock *clock);

/* Raw units are TSC cycles or nanoseconds. */
static inline uint64_t nytp_clock_raw(const struct nytp_clock *clock)
{
#if NYTP_HAS_TSC
    if (clock->is_tsc)
        return __rdtsc();
#endif
    return nytp_clock_system_ns(clock);
}

/* The same where that takes no longer than a few instructions; else always 0. */
static inline uint64_t nytp_clock_cycles(const struct nytp_clock *clock)
{
    return clock->is_tsc ? nytp_clock_raw(clock) : 0;
}

/* The axis point of a raw reading. */
static inline int64_t nytp_clock_ticks(const struct nytp_clock *clock, uint64_t raw)
{
    const int64_t since = (int64_t)(raw - clock->base_raw);
    const struct nytp_wide fixed =
        nytp_wide_add(nytp_wide_mul_signed(since, (int64_t)clock->rate), clock->base_fraction);
    return clock->base_ticks + (int64_t)fixed.high;
}

/* Take the first of the two readings from which nytp_clock_init() works out the counter's rate,
 * so that it need not wait between them. The clock is all zero. */
void nytp_clock_foresee(struct nytp_clock *clock);

/* Begin at tick 0 now. `id` is a clockid_t as a number, -1 for the default, which alone may
 * use the TSC; an id that the system does not have becomes CLOCK_REALTIME. */
void nytp_clock_init(struct nytp_clock *clock, int id);

/* Begin at tick 0 now, at the rate that is known already. */
void nytp_clock_restart(struct nytp_clock *clock);

/* Continue the axis at raw reading `raw` with a better rate, from all the time since init. */
void nytp_clock_recalibrate(struct nytp_clock *clock, uint64_t raw);

/* The time between these two is the profiler's own and is cut out. Pairs may nest. */
void nytp_clock_pause(struct nytp_clock *clock);
void nytp_clock_resume(struct nytp_clock *clock);

/* Raw units in this many nanoseconds. */
uint64_t nytp_clock_raw_of_ns(const struct nytp_clock *clock, uint64_t ns);

#endif
