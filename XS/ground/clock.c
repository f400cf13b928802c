/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The time axis of a profile; see clock.h.
 *
 * A rate from two readings is off by the jitter of reading both clocks, some 50 ns, over the
 * time between them: by 1e-3 after the 50 us that pass at least before the start, by 1e-6 after
 * 50 ms. Each recalibration moves the base to "now", so what was measured before is not
 * touched.
 */
#include "clock.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
    NS_PER_TICK = 100,
    SPIN_NS = 50000, /* the least time between the first two readings */
    PAIR_TRIES = 5,  /* readings of both clocks, the best of which counts */
};

static uint64_t ns_of(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#if NYTP_HAS_TSC

/* The kernel has checked what CPUID cannot tell: that the counters of all processors agree. */
static bool kernel_trusts_tsc(void)
{
    const int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                        O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    char text[8] = "";
    const ssize_t len = read(fd, text, sizeof text - 1);
    close(fd);
    return len >= 4 && memcmp(text, "tsc\n", 4) == 0;
}

/* Both clocks at one moment: the pair whose two counter readings lie closest together. */
static void read_pair(const struct nytp_clock *clock, uint64_t *raw, uint64_t *ns)
{
    uint64_t narrowest = UINT64_MAX;
    for (int i = 0; i < PAIR_TRIES; i++) {
        const uint64_t before = __rdtsc();
        const uint64_t between_ns = ns_of(clock->id);
        const uint64_t width = __rdtsc() - before;
        if (width >= narrowest)
            continue;
        narrowest = width;
        *raw = before + width / 2;
        *ns = between_ns;
    }
}

/* Ticks per raw unit, from the time since the first pair of readings. */
static uint64_t measured_rate(const struct nytp_clock *clock)
{
    uint64_t raw = 0, ns = 0;
    read_pair(clock, &raw, &ns);
    if (raw <= clock->first_raw || ns <= clock->first_ns)
        return clock->rate;
    const struct nytp_wide ticks =
        nytp_wide_div((struct nytp_wide){ns - clock->first_ns, 0}, NS_PER_TICK);
    return nytp_wide_div(ticks, raw - clock->first_raw).low;
}

static void start_tsc(struct nytp_clock *clock)
{
    clock->is_tsc = true;
    if (clock->first_ns == 0)
        read_pair(clock, &clock->first_raw, &clock->first_ns);
    while (ns_of(clock->id) - clock->first_ns < SPIN_NS)
        ;
    clock->rate = measured_rate(clock);
}

#endif

uint64_t nytp_clock_system_ns(const struct nytp_clock *clock)
{
    return ns_of(clock->id);
}

void nytp_clock_foresee(struct nytp_clock *clock)
{
#if NYTP_HAS_TSC
    clock->id = CLOCK_MONOTONIC;
    read_pair(clock, &clock->first_raw, &clock->first_ns);
#else
    (void)clock;
#endif
}

void nytp_clock_init(struct nytp_clock *clock, int id)
{
    struct timespec probe;
    *clock = (struct nytp_clock){.first_raw = clock->first_raw, .first_ns = clock->first_ns};
    clock->id = id < 0 ? CLOCK_MONOTONIC : (clockid_t)id;
    if (clock_gettime(clock->id, &probe) != 0)
        clock->id = CLOCK_REALTIME;
    clock->rate =
        UINT64_MAX / NS_PER_TICK + 1; /* rounded up: 100 ns are a whole tick, not 0.99… */
#if NYTP_HAS_TSC
    if (id < 0 && kernel_trusts_tsc())
        start_tsc(clock);
#endif
    clock->base_raw = nytp_clock_raw(clock);
}

void nytp_clock_restart(struct nytp_clock *clock)
{
    clock->base_raw = nytp_clock_raw(clock);
    clock->base_ticks = clock->overhead_ticks = 0;
    clock->base_fraction = 0;
    clock->pauses = 0;
}

void nytp_clock_recalibrate(struct nytp_clock *clock, uint64_t raw)
{
    if (!clock->is_tsc || raw < clock->base_raw)
        return;
#if NYTP_HAS_TSC
    const struct nytp_wide fixed =
        nytp_wide_add(nytp_wide_mul(raw - clock->base_raw, clock->rate), clock->base_fraction);
    clock->base_ticks += (int64_t)fixed.high;
    clock->base_fraction = fixed.low;
    clock->base_raw = raw;
    clock->rate = measured_rate(clock);
#endif
}

/* The time from raw reading `from` to `to` is cut out. */
static void cut(struct nytp_clock *clock, uint64_t from, uint64_t to)
{
    if (to <= from)
        return;
    clock->base_raw += to - from;
    clock->overhead_ticks += (int64_t)nytp_wide_mul(to - from, clock->rate).high;
}

void nytp_clock_pause(struct nytp_clock *clock)
{
    if (clock->pauses++ == 0)
        clock->paused_raw = nytp_clock_raw(clock);
}

void nytp_clock_resume(struct nytp_clock *clock)
{
    if (--clock->pauses == 0)
        cut(clock, clock->paused_raw, nytp_clock_raw(clock));
}

uint64_t nytp_clock_raw_of_ns(const struct nytp_clock *clock, uint64_t ns)
{
    return nytp_wide_div(nytp_wide_div((struct nytp_wide){ns, 0}, NS_PER_TICK), clock->rate)
        .low;
}
