/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The choice between the processor's counter and clock_gettime(), with ones that nothing but the
 * test moves on. Prints TAP; clock.t builds and runs it.
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
    MS = 1000000
};

static uint64_t now_ns;
static double rate = RATE; /* of the counter, in units a nanosecond */

static void pass(uint64_t ns)
{
    now_ns += ns;
}

static uint64_t fake_counter(void)
{
    pass(STEP_NS);
    return 77 + (uint64_t)((double)now_ns * rate);
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

/* A counter that never counted is none. */
static void test_still(void)
{
    struct nytp_clock clock = {0};
    rate = 0;
    nytp_clock_init(&clock, -1);
    ok(!clock.is_counter && clock.source == NULL, "a counter that stands still is not taken");
    nytp_clock_restart(&clock);
    const int64_t before = nytp_clock_ticks(&clock, nytp_clock_raw(&clock));
    pass(MS);
    const int64_t ticks = nytp_clock_ticks(&clock, nytp_clock_raw(&clock)) - before;
    ok(ticks >= MS / NYTP_NS_PER_TICK && ticks < MS / NYTP_NS_PER_TICK + 10, "and time passes");
}

/* Time that is cut out of the axis is no cost of recording. */
static void test_cut(void)
{
    struct nytp_clock clock = {0};
    rate = RATE;
    nytp_clock_init(&clock, -1);
    const uint64_t begun = nytp_clock_cycles(&clock);
    pass(100);
    nytp_clock_pause(&clock);
    pass(MS);
    nytp_clock_resume(&clock);
    const uint64_t took = nytp_clock_cycles(&clock) - begun;
    ok(took == RATE * (100 + 2 * STEP_NS), "time that is cut out is in no difference of cycles");
}

int main(void)
{
    test_choices();
    test_still();
    test_cut();
    return done_testing();
}
