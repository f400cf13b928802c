/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The time axis of a profile, in whole ticks of 100 ns. Time that the profiler spends on itself
 * is cut out. Fractions of a tick are kept, so differences between any two readings add up.
 *
 * The processor's counter is read if the kernel keeps its own time by it (counter.h), and is
 * calibrated against CLOCK_MONOTONIC again and again; otherwise clock_gettime(). If the two
 * part (the guest was moved to another host, the machine slept), clock_gettime() takes over
 * from the last moment at which they agreed. The axis never goes back.
 */
#ifndef NYTP_CLOCK_H
#define NYTP_CLOCK_H

#include "counter.h"

#include "formats/base/wide.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define NYTP_TICKS_PER_SEC 10000000
#define NYTP_NS_PER_TICK   (1000000000 / NYTP_TICKS_PER_SEC)

/* Both clocks at one moment. */
struct nytp_clock_pair {
    uint64_t raw, ns;
    uint64_t width; /* uncertainty of the moment, in raw units */
};

struct nytp_clock {
    bool is_counter;   /* false: raw readings come from clock_gettime() */
    clockid_t id;      /* of clock_gettime(); the counter is calibrated against it, too */
    uint64_t rate;     /* ticks per raw unit, in 2^-64; less than half a tick */
    uint64_t base_raw; /* raw reading of the axis point base_ticks + base_fraction */
    int64_t base_ticks;
    uint64_t base_fraction; /* in 2^-64 tick */
    int64_t latest_ticks;   /* the latest point of the axis that was returned */
    int64_t overhead_ticks; /* cut out so far */
    unsigned pauses;        /* nested nytp_clock_pause() calls */
    uint64_t paused_raw;    /* at the outermost of them */
    const char *source;     /* the kernel's name of the counter; not owned; NULL: not used */
    struct nytp_clock_pair first; /* begin of the calibration */
    struct nytp_clock_pair seen;  /* the last moment at which both clocks agreed, */
    int64_t seen_ticks;           /* its point of the axis, */
    int64_t seen_overhead;        /* and overhead_ticks then */
    double rate_doubt;            /* the share by which the rate may be wrong */
    uint64_t raw_per_ns;          /* in 2^-32, since the clocks have parted; 0: they have not */
};

/* Returns a raw reading from clock_gettime(). */
uint64_t nytp_clock_system_raw(const struct nytp_clock *clock);

/* Returns the nanoseconds that this thread ran on a processor, or -1 if unknown. */
int64_t nytp_clock_processor_ns(void);

/* Returns the time in units of the counter, also when the clocks have parted; else in
 * nanoseconds. */
static inline uint64_t nytp_clock_raw(const struct nytp_clock *clock)
{
    return clock->is_counter ? nytp_counter_read() : nytp_clock_system_raw(clock);
}

/* The same, less all that was cut out, if that takes a few instructions only, else 0. For
 * differences. */
static inline uint64_t nytp_clock_cycles(const struct nytp_clock *clock)
{
    return clock->is_counter ? nytp_counter_read() - clock->base_raw : 0;
}

/* Returns the axis point of a raw reading. */
static inline int64_t nytp_clock_ticks(const struct nytp_clock *clock, uint64_t raw)
{
    const int64_t since = (int64_t)(raw - clock->base_raw);
    const struct nytp_wide fixed =
        nytp_wide_add(nytp_wide_mul_signed(since, (int64_t)clock->rate), clock->base_fraction);
    return clock->base_ticks + (int64_t)fixed.high;
}

/* Returns now as a point of the axis; while the clock is paused, the begin of the pause. */
int64_t nytp_clock_now(struct nytp_clock *clock);

/* After a reading before latest_ticks: the axis goes on from there. Returns latest_ticks. */
int64_t nytp_clock_hold(struct nytp_clock *clock);

/* Takes the first of the two readings that nytp_clock_init() needs for the counter's rate,
 * which then need not wait. The clock is all zero. */
void nytp_clock_foresee(struct nytp_clock *clock);

/* Begins at tick 0 now. `id` is a clockid_t, or -1 for the default, which alone may use the
 * counter. An id that the system does not have becomes CLOCK_REALTIME. */
void nytp_clock_init(struct nytp_clock *clock, int id);

/* Begins at tick 0 now, at the known rate. */
void nytp_clock_restart(struct nytp_clock *clock);

/* Compares both clocks. Returns true if they have parted, by *apart_ns (above 0: the counter is
 * ahead): from now on clock_gettime() is read. */
bool nytp_clock_has_parted(struct nytp_clock *clock, double *apart_ns);

/* Goes on at raw reading `raw` with a better rate, from all the time in which both clocks have
 * agreed. */
void nytp_clock_recalibrate(struct nytp_clock *clock, uint64_t raw);

/* The time between these two is cut out of the axis. Pairs may nest. */
void nytp_clock_pause(struct nytp_clock *clock);
void nytp_clock_resume(struct nytp_clock *clock);

/* Returns the raw units in this many nanoseconds. */
uint64_t nytp_clock_raw_of_ns(const struct nytp_clock *clock, uint64_t ns);

#endif
