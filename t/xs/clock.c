/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The time axis by itself, with a counter and a clock that nothing but the test moves on, and
 * the choice between them. Prints TAP; clock.t builds and runs it.
 */
#include "../tap.h"

/* The processor's own reading is put aside. */
#define nytp_counter_read counter_of_processor
#include "../../XS/platform/counter.h"
#undef nytp_counter_read
#define nytp_counter_read fake_counter
#define nytp_counter_look fake_look

static uint64_t fake_counter(void);
static void fake_look(struct nytp_counter_facts *facts);

#include "../../XS/platform/clock.c"

enum {
    RATE = 3,
    STEP_NS = 20,
    MS = 1000000,
    LOOK_MS = 5
};

static uint64_t now_ns, counted; /* nanoseconds, and units of the counter until then */
static double rate = RATE;
static uint64_t counted_at_ns;

static void pass(uint64_t ns)
{
    now_ns += ns;
}

static uint64_t fake_counter(void)
{
    pass(STEP_NS);
    return counted + (uint64_t)((double)(now_ns - counted_at_ns) * rate);
}

int clock_gettime(clockid_t id, struct timespec *now)
{
    (void)id;
    pass(STEP_NS);
    now->tv_sec = (time_t)(now_ns / 1000000000);
    now->tv_nsec = (long)(now_ns % 1000000000);
    return 0;
}

static void fake_look(struct nytp_counter_facts *facts)
{
    *facts = (struct nytp_counter_facts){
        .counter = NYTP_COUNTER_TSC, .source = "tsc", .may_be_read = true};
}

/* From now on the counter counts on from `to`, so many units a nanosecond. */
static void set_counter(uint64_t to, double per_ns)
{
    counted = to;
    counted_at_ns = now_ns;
    rate = per_ns;
}

/* ---- which clock ---- */

static const struct {
    enum nytp_counter counter;
    const char *source;
    bool may_be_read, is_invariant, is_system_call;
    uint64_t per_s;
    bool is_kept;
} choices[] = {
    /* A kernel that trusts the counter has asked all there is to ask. */
    {NYTP_COUNTER_TSC, "tsc", true, false, false, 0, true},
    {NYTP_COUNTER_TSC, "tsc", true, true, true, 0, true},
    {NYTP_COUNTER_TSC, "tsc", false, true, false, 0, false},
    /* Guests: the processor and the host have to agree. */
    {NYTP_COUNTER_TSC, "kvm-clock", true, true, false, 0, true},
    {NYTP_COUNTER_TSC, "kvm-clock", true, true, true, 0, false},
    {NYTP_COUNTER_TSC, "kvm-clock", true, false, false, 0, false},
    {NYTP_COUNTER_TSC, "kvm-clock", false, true, false, 0, false},
    {NYTP_COUNTER_TSC, "hyperv_clocksource_tsc_page", true, true, false, 0, true},
    {NYTP_COUNTER_TSC, "hyperv_clocksource_tsc_page", true, true, true, 0, false},
    {NYTP_COUNTER_TSC, "hyperv_clocksource_tsc_page", true, false, false, 0, false},
    {NYTP_COUNTER_TSC, "xen", true, true, false, 0, true},
    {NYTP_COUNTER_TSC, "xen", true, true, true, 0, false},
    {NYTP_COUNTER_TSC, "xen", true, false, false, 0, false},
    /* Other clocks are not the counter, whatever it can do. */
    {NYTP_COUNTER_TSC, "tsc-early", true, true, false, 0, false},
    {NYTP_COUNTER_TSC, "hyperv_clocksource_msr", true, true, false, 0, false},
    {NYTP_COUNTER_TSC, "hpet", true, true, false, 0, false},
    {NYTP_COUNTER_TSC, "acpi_pm", true, true, false, 0, false},
    {NYTP_COUNTER_TSC, "jiffies", true, true, false, 0, false},
    {NYTP_COUNTER_TSC, "", true, true, false, 0, false},
    {NYTP_COUNTER_TSC, "arch_sys_counter", true, true, false, 0, false},
    /* 64-bit ARM: a unit of the counter has to be less than half a tick. */
    {NYTP_COUNTER_CNTVCT, "arch_sys_counter", true, true, false, 1000000000, true},
    {NYTP_COUNTER_CNTVCT, "arch_sys_counter", true, true, false, 25000000, true},
    {NYTP_COUNTER_CNTVCT, "arch_sys_counter", true, true, false, 20000000, false},
    {NYTP_COUNTER_CNTVCT, "arch_sys_counter", true, true, false, 19200000, false},
    {NYTP_COUNTER_CNTVCT, "arch_sys_counter", true, true, true, 1000000000, false},
    {NYTP_COUNTER_CNTVCT, "arch_sys_counter", false, true, false, 1000000000, false},
    {NYTP_COUNTER_CNTVCT, "tsc", true, true, false, 1000000000, false},
    {NYTP_COUNTER_NONE, "tsc", true, true, false, 0, false},
    {NYTP_COUNTER_NONE, "timebase", true, true, false, 0, false},
};

static void test_choices(void)
{
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        struct nytp_counter_facts facts = {.counter = choices[i].counter,
                                           .may_be_read = choices[i].may_be_read,
                                           .is_invariant = choices[i].is_invariant,
                                           .is_system_call = choices[i].is_system_call,
                                           .per_s = choices[i].per_s};
        char name[200];
        strcpy(facts.source, choices[i].source);
        const char *const source = nytp_counter_source(&facts);
        snprintf(name, sizeof name, "'%s'%s%s%s, %llu a second: %s", facts.source,
                 facts.may_be_read ? "" : ", not to be read",
                 facts.is_invariant ? ", invariant" : "",
                 facts.is_system_call ? ", a system call" : "", (unsigned long long)facts.per_s,
                 choices[i].is_kept ? "the counter" : "clock_gettime()");
        ok(choices[i].is_kept ? source != NULL && strcmp(source, facts.source) == 0
                              : source == NULL,
           name);
    }
}

/* ---- a counter that moves ---- */

static uint64_t wake_raw; /* when both clocks are looked at next; 0: at once */
static double apart_ns;   /* as it was found when they had parted; else 0 */

static void look(struct nytp_clock *clock)
{
    double by_ns;
    if (nytp_clock_has_parted(clock, &by_ns))
        apart_ns = by_ns;
    else
        nytp_clock_recalibrate(clock, nytp_clock_raw(clock));
    wake_raw = nytp_clock_raw(clock) + nytp_clock_raw_of_ns(clock, LOOK_MS * MS);
}

/* As XS/state/state.h does it. */
static int64_t look_at(struct nytp_clock *clock)
{
    if (nytp_clock_raw(clock) >= wake_raw)
        look(clock);
    const int64_t now = nytp_clock_ticks(clock, nytp_clock_raw(clock));
    if (now >= clock->latest_ticks)
        return clock->latest_ticks = now;
    wake_raw = 0;
    return nytp_clock_hold(clock);
}

/* Events every 100 us for 100 ms. False: the axis went back, or the clocks have parted. */
static bool run(struct nytp_clock *clock)
{
    bool is_ahead = true;
    apart_ns = 0;
    for (unsigned i = 0; i < 1000; i++) {
        const int64_t before = clock->latest_ticks;
        pass(MS / 10);
        is_ahead &= look_at(clock) >= before;
    }
    return is_ahead && apart_ns == 0;
}

static void begin(struct nytp_clock *clock)
{
    *clock = (struct nytp_clock){0};
    now_ns = 5000 * (uint64_t)MS;
    set_counter(now_ns * 2, RATE);
    nytp_clock_foresee(clock);
    nytp_clock_init(clock, -1);
    nytp_clock_restart(clock);
    wake_raw = 0;
}

static const struct {
    const char *name;
    int64_t by_ms; /* the counter moves at once */
    double rate;   /* and counts on so */
    int parts;     /* -1, 1: the counter is behind or ahead then; 0: that is no matter */
    int ahead_ms;   /* so much too much has been told at most when it is seen */
} moves[] = {
    {"as ever", 0, RATE, 0, 0},
    {"back by 3 ms", -3, RATE, -1, 0},
    {"back by more than it has counted", -100000, RATE, -1, 0},
    {"ahead by 3 ms", 3, RATE, 1, 3},
    {"ahead by 40 ms", 40, RATE, 1, 0},
    {"ahead by a day", 86400000, RATE, 1, 0},
    {"twice as fast", 0, 2.0 * RATE, 1, 3},
    {"a twentieth faster", 0, 1.05 * RATE, 1, 1},
    {"half as fast", 0, 0.5 * RATE, -1, 0},
    {"a tenth as fast", 0, 0.1 * RATE, -1, 0},
    {"faster by what NTP slows a clock", 0, 1.0005 * RATE, 0, 0},
};

/* The axis against the time that has passed, in ticks: above 0 it is ahead. */
static int64_t error_since(const struct nytp_clock *clock, int64_t from_ticks, uint64_t from_ns)
{
    return clock->latest_ticks - from_ticks - (int64_t)(now_ns - from_ns) / NS_PER_TICK;
}

/* Ticks that were told stay: a counter that went ahead adds no more than comes between two looks.
 * Both clocks may be 100 us apart without a word, and one of two that agree a little faster. */
static void test_move(size_t i, bool in_pause)
{
    struct nytp_clock clock;
    char name[200];
    begin(&clock);
    const uint64_t begun_ns = now_ns;
    bool is_right = run(&clock);
    if (in_pause)
        nytp_clock_pause(&clock);
    set_counter(fake_counter() + (uint64_t)(moves[i].by_ms * MS * RATE), moves[i].rate);
    if (in_pause)
        nytp_clock_resume(&clock);
    const int64_t from_ticks = clock.latest_ticks;
    apart_ns = 0;
    bool is_ahead = true;
    while (now_ns < begun_ns + 200 * (uint64_t)MS) {
        const int64_t before = clock.latest_ticks;
        pass(MS / 10);
        is_ahead &= look_at(&clock) >= before;
    }
    const double by_ns = apart_ns;
    const int64_t wrong = error_since(&clock, 0, begun_ns), moved_ticks = clock.latest_ticks;
    const uint64_t moved_ns = now_ns;
    is_right &= run(&clock) && is_ahead && (by_ns > 0) - (by_ns < 0) == moves[i].parts &&
                from_ticks > 0;
    const int64_t later = error_since(&clock, moved_ticks, moved_ns);
    const int64_t most = 1100, most_later = clock.is_counter ? 600 : 10;
    const int64_t most_ahead = in_pause && moves[i].by_ms != 0 ? 0 : moves[i].ahead_ms;
    snprintf(name, sizeof name, "%s%s: %s, apart by %.0f ns, ticks wrong %lld, later %lld",
             moves[i].name, in_pause ? " in a pause" : "",
             clock.is_counter ? "kept" : "given up", by_ns, (long long)wrong, (long long)later);
    ok(is_right && clock.is_counter == (moves[i].parts == 0) && wrong >= -most &&
           wrong <= most + most_ahead * MS / NS_PER_TICK && later >= -most_later &&
           later <= most_later && clock.overhead_ticks <= 300 * MS / NS_PER_TICK,
       name);
}

/* A counter that never counted is none: neither from the start nor between two readings. */
static void test_still(void)
{
    struct nytp_clock clock = {0};
    set_counter(77, 0);
    nytp_clock_init(&clock, -1);
    wake_raw = UINT64_MAX;
    ok(!clock.is_counter && clock.source == NULL, "a counter that stands still is not taken");
    nytp_clock_restart(&clock);
    const int64_t before = look_at(&clock);
    pass(MS);
    const int64_t ticks = look_at(&clock) - before;
    ok(ticks >= MS / NS_PER_TICK && ticks < MS / NS_PER_TICK + 10, "and time passes");
}

int main(void)
{
    test_choices();
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        test_move(i, false);
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        test_move(i, true);
    test_still();
    return done_testing();
}
