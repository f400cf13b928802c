/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The time axis of a profile; see clock.h.
 *
 * A rate from two readings is off by the jitter of reading both clocks, some 50 ns, over the
 * time between them: by 1e-3 after the 50 us that pass at least before the start, by 1e-6 after
 * 50 ms. Each recalibration moves the base to "now", so what was measured before is not
 * touched.
 *
 * When the clocks have parted, raw readings come from clock_gettime(), in units of the counter
 * and on from the last pair that agreed. So earlier and later raw readings can be compared.
 */
#include "clock.h"

#include <math.h>

enum {
    SPIN_NS = 50000,   /* the least time between the first two readings */
    PAIR_TRIES = 5,    /* readings of both clocks, the best of which counts */
    APART_NS = 100000, /* clocks that agree are no further apart than this, */
    APART_SHARE = 512, /* plus one part in so many of the time, by which NTP may slow one */
};

/* No counter is faster than 10 THz, or slower than half a tick. */
static const uint64_t least_rate = UINT64_MAX / 1000000, most_rate = UINT64_MAX / 2;

static uint64_t ns_of(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static double ns_per_raw(const struct nytp_clock *clock)
{
    return (double)clock->rate * 0x1p-64 * NYTP_NS_PER_TICK;
}

/* Reads both clocks. Returns the pair whose two counter readings lie closest together. */
static struct nytp_clock_pair read_pair(const struct nytp_clock *clock)
{
    struct nytp_clock_pair pair = {.width = UINT64_MAX};
    for (int i = 0; i < PAIR_TRIES; i++) {
        const uint64_t before = nytp_counter_read();
        const uint64_t between_ns = ns_of(clock->id);
        const uint64_t width = nytp_counter_read() - before;
        if (width < pair.width)
            pair = (struct nytp_clock_pair){before + width / 2, between_ns, width};
    }
    return pair;
}

/* Finds the rate from the first pair to the last. Returns false, and changes nothing, if the
 * counter cannot have counted so. */
static bool measure_rate(struct nytp_clock *clock)
{
    const struct nytp_clock_pair *const from = &clock->first, *const to = &clock->seen;
    if (to->raw <= from->raw || to->ns <= from->ns)
        return false;
    const struct nytp_wide ticks =
        nytp_wide_div((struct nytp_wide){to->ns - from->ns, 0}, NYTP_NS_PER_TICK);
    const struct nytp_wide rate = nytp_wide_div(ticks, to->raw - from->raw);
    if (rate.high != 0 || rate.low < least_rate || rate.low > most_rate)
        return false;
    clock->rate = rate.low;
    clock->rate_doubt =
        ((double)from->width + (double)to->width) / (double)(to->raw - from->raw);
    return true;
}

static void start_counter(struct nytp_clock *clock)
{
    struct nytp_counter_facts facts;
    nytp_counter_look(&facts);
    const char *const source = nytp_counter_source(&facts);
    if (source == NULL)
        return;
    if (clock->first.ns == 0)
        clock->first = read_pair(clock);
    while (ns_of(clock->id) - clock->first.ns < SPIN_NS)
        ;
    clock->seen = read_pair(clock);
    clock->is_counter = measure_rate(clock);
    clock->source = clock->is_counter ? source : NULL;
}

int64_t nytp_clock_processor_ns(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0)
        return -1;
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

uint64_t nytp_clock_system_raw(const struct nytp_clock *clock)
{
    const uint64_t ns = ns_of(clock->id);
    if (clock->raw_per_ns == 0)
        return ns;
    const struct nytp_wide raw =
        nytp_wide_mul_signed((int64_t)(ns - clock->seen.ns), (int64_t)clock->raw_per_ns);
    return clock->seen.raw + (raw.high << 32 | raw.low >> 32);
}

int64_t nytp_clock_now(struct nytp_clock *clock)
{
    const uint64_t raw = clock->pauses > 0 ? clock->paused_raw : nytp_clock_raw(clock);
    const int64_t now = nytp_clock_ticks(clock, raw);
    if (now > clock->latest_ticks)
        clock->latest_ticks = now;
    return clock->latest_ticks;
}

int64_t nytp_clock_hold(struct nytp_clock *clock)
{
    clock->base_raw = nytp_clock_raw(clock);
    clock->base_ticks = clock->latest_ticks;
    clock->base_fraction = 0;
    return clock->latest_ticks;
}

void nytp_clock_foresee(struct nytp_clock *clock)
{
    clock->id = CLOCK_MONOTONIC;
    if (nytp_counter_may_be_read())
        clock->first = read_pair(clock);
}

/* At this moment both clocks agree. */
static void see(struct nytp_clock *clock, struct nytp_clock_pair pair)
{
    clock->seen = pair;
    clock->seen_ticks = nytp_clock_ticks(clock, pair.raw);
    clock->seen_overhead = clock->overhead_ticks;
}

void nytp_clock_init(struct nytp_clock *clock, int id)
{
    struct timespec probe;
    *clock = (struct nytp_clock){.first = clock->first};
    clock->id = id < 0 ? CLOCK_MONOTONIC : (clockid_t)id;
    if (clock_gettime(clock->id, &probe) != 0)
        clock->id = CLOCK_REALTIME;
    clock->rate =
        UINT64_MAX / NYTP_NS_PER_TICK + 1; /* rounded up: 100 ns are a whole tick, not 0.99… */
    if (id < 0)
        start_counter(clock);
    nytp_clock_restart(clock);
}

void nytp_clock_restart(struct nytp_clock *clock)
{
    clock->base_raw = nytp_clock_raw(clock);
    clock->base_ticks = clock->overhead_ticks = clock->latest_ticks = 0;
    clock->base_fraction = 0;
    clock->pauses = 0;
    see(clock, clock->seen);
}

void nytp_clock_recalibrate(struct nytp_clock *clock, uint64_t raw)
{
    if (!clock->is_counter || raw < clock->base_raw)
        return;
    const struct nytp_wide fixed =
        nytp_wide_add(nytp_wide_mul(raw - clock->base_raw, clock->rate), clock->base_fraction);
    clock->base_ticks += (int64_t)fixed.high;
    clock->base_fraction = fixed.low;
    clock->base_raw = raw;
    measure_rate(clock);
}

/* Continues from the moment at which the clocks agreed: adds the time since, less the time that
 * was cut out. Points already returned stay. */
static void part(struct nytp_clock *clock, double elapsed_ns)
{
    const int64_t elapsed = (int64_t)(elapsed_ns / NYTP_NS_PER_TICK);
    if (clock->overhead_ticks - clock->seen_overhead > elapsed)
        clock->overhead_ticks = clock->seen_overhead + elapsed;
    const int64_t now =
        clock->seen_ticks + elapsed - (clock->overhead_ticks - clock->seen_overhead);
    clock->is_counter = false;
    clock->raw_per_ns = (uint64_t)(0x1p32 / ns_per_raw(clock));
    if (now > clock->latest_ticks)
        clock->latest_ticks = now;
    nytp_clock_hold(clock);
}

bool nytp_clock_has_parted(struct nytp_clock *clock, double *apart_ns)
{
    if (!clock->is_counter)
        return false;
    const struct nytp_clock_pair now = read_pair(clock), *const seen = &clock->seen;
    const double elapsed_ns = (double)(int64_t)(now.ns - seen->ns);
    const double counted_ns = (double)(int64_t)(now.raw - seen->raw) * ns_per_raw(clock);
    const double widths_ns = ((double)now.width + (double)seen->width) * ns_per_raw(clock);
    const double share = 1.0 / APART_SHARE + clock->rate_doubt;
    *apart_ns = counted_ns - elapsed_ns;
    if (fabs(*apart_ns) > APART_NS + widths_ns + fabs(elapsed_ns) * share) {
        part(clock, elapsed_ns);
        return true;
    }
    see(clock, now);
    return false;
}

void nytp_clock_pause(struct nytp_clock *clock)
{
    if (clock->pauses++ == 0)
        clock->paused_raw = nytp_clock_raw(clock);
}

void nytp_clock_resume(struct nytp_clock *clock)
{
    if (--clock->pauses > 0)
        return;
    const uint64_t from = clock->paused_raw, to = nytp_clock_raw(clock);
    clock->base_raw += to - from; /* also if the counter went back */
    if (to > from)
        clock->overhead_ticks += (int64_t)nytp_wide_mul(to - from, clock->rate).high;
}

uint64_t nytp_clock_raw_of_ns(const struct nytp_clock *clock, uint64_t ns)
{
    return nytp_wide_div(nytp_wide_div((struct nytp_wide){ns, 0}, NYTP_NS_PER_TICK),
                         clock->rate)
        .low;
}
