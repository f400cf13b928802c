/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The time axis of a profile: whole ticks of 100 ns, from a counter that is cheap to read.
 * Time that the profiler spent on itself is cut out of the axis, and fractions of a tick are
 * kept, so that differences between any two readings add up exactly.
 *
 * It is read from the processor's counter where the kernel itself keeps its time by that
 * (counter.h), calibrated against CLOCK_MONOTONIC again and again; otherwise from
 * clock_gettime(). The counter is watched: when the two have parted (the guest was moved to
 * another host, the machine slept) the axis goes on by clock_gettime(), from the last moment at
 * which they agreed. No point of the axis comes before one that was told already.
 */
#ifndef NYTP_CLOCK_H
#define NYTP_CLOCK_H

#include "counter.h"

#include "formats/base/wide.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define NYTP_TICKS_PER_SEC 10000000

/* Both clocks at one moment. */
struct nytp_clock_pair {
    uint64_t raw, ns;
    uint64_t width; /* raw units within which that moment was */
};

struct nytp_clock {
    bool is_counter;   /* else raw readings are made of clock_gettime() */
    clockid_t id;      /* of clock_gettime(), also what the counter is calibrated against */
    uint64_t rate;     /* ticks per raw unit, in 2^-64; less than half a tick */
    uint64_t base_raw; /* raw reading of the axis point base_ticks + base_fraction */
    int64_t base_ticks;
    uint64_t base_fraction; /* in 2^-64 tick */
    int64_t latest_ticks;   /* the latest point of the axis that was returned */
    int64_t overhead_ticks; /* cut out so far */
    unsigned pauses;        /* nested nytp_clock_pause() calls */
    uint64_t paused_raw;    /* when the outermost of them was */
    const char *source;     /* of the kernel, that is the counter; not owned; NULL: none is */
    struct nytp_clock_pair first; /* where the calibration began */
    struct nytp_clock_pair seen;  /* when both clocks last agreed, */
    int64_t seen_ticks;           /* which point of the axis that was, */
    int64_t seen_overhead;        /* and what had been cut out then */
    double rate_doubt;            /* by what share of it the rate may be wrong */
    uint64_t raw_per_ns;          /* in 2^-32, since the clocks have parted; 0: they have not */
};

/* A raw reading that is made of clock_gettime()'s nanoseconds. */
uint64_t nytp_clock_system_raw(const struct nytp_clock *clock);

/* Raw units are those of the counter, also when the clocks have parted; else nanoseconds. */
static inline uint64_t nytp_clock_raw(const struct nytp_clock *clock)
{
    return clock->is_counter ? nytp_counter_read() : nytp_clock_system_raw(clock);
}

/* The same where that takes no longer than a few instructions; else always 0. */
static inline uint64_t nytp_clock_cycles(const struct nytp_clock *clock)
{
    return clock->is_counter ? nytp_counter_read() : 0;
}

/* The axis point of a raw reading. */
static inline int64_t nytp_clock_ticks(const struct nytp_clock *clock, uint64_t raw)
{
    const int64_t since = (int64_t)(raw - clock->base_raw);
    const struct nytp_wide fixed =
        nytp_wide_add(nytp_wide_mul_signed(since, (int64_t)clock->rate), clock->base_fraction);
    return clock->base_ticks + (int64_t)fixed.high;
}

/* Now, as a point of the axis that is told; while the clock is paused, when that began. */
int64_t nytp_clock_now(struct nytp_clock *clock);

/* A reading came before what was told already. From now on the axis goes on from there, which
 * is returned. */
int64_t nytp_clock_hold(struct nytp_clock *clock);

/* Take the first of the two readings from which nytp_clock_init() works out the counter's rate,
 * so that it need not wait between them. The clock is all zero. */
void nytp_clock_foresee(struct nytp_clock *clock);

/* Begin at tick 0 now. `id` is a clockid_t as a number, -1 for the default, which alone may
 * use the counter; an id that the system does not have becomes CLOCK_REALTIME. */
void nytp_clock_init(struct nytp_clock *clock, int id);

/* Begin at tick 0 now, at the rate that is known already. */
void nytp_clock_restart(struct nytp_clock *clock);

/* Compare both clocks. True: they have parted, by *apart_ns (above 0: the counter is ahead),
 * and from now on clock_gettime() is read. False: they agree, or the counter is not in use. */
bool nytp_clock_has_parted(struct nytp_clock *clock, double *apart_ns);

/* Continue the axis at raw reading `raw` with a better rate, from all the time between init and
 * when both clocks last agreed. */
void nytp_clock_recalibrate(struct nytp_clock *clock, uint64_t raw);

/* The time between these two is the profiler's own and is cut out. Pairs may nest. */
void nytp_clock_pause(struct nytp_clock *clock);
void nytp_clock_resume(struct nytp_clock *clock);

/* Raw units in this many nanoseconds. */
uint64_t nytp_clock_raw_of_ns(const struct nytp_clock *clock, uint64_t ns);

#endif
