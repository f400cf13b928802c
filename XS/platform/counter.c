/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Whether the processor's counter tells the time; see counter.h.
 */
#include "counter.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#define LEAST_PER_S 20000001u /* a unit of the counter is less than half a tick (clock.h) */

enum {
    LEAF_POWER = (int)0x80000007, /* of CPUID */
    IS_INVARIANT = 1 << 8,        /* in EDX of that */
    BATCHES = 8,                  /* of readings, the fastest of which counts */
    BATCH = 8,
};

/* Clock sources that are the counter. Of "tsc" the kernel has checked that the counters of all
 * processors agree and have one rate. A guest's kernel leaves that to the host: the processor
 * has to say that the counter is invariant, and the kernel's vDSO has to read it, which it does
 * only while the host says that the counters agree. */
static const struct clock_source {
    const char *name;
    enum nytp_counter counter;
    bool is_checked;
} sources[] = {
    {"tsc", NYTP_COUNTER_TSC, true},
    {"kvm-clock", NYTP_COUNTER_TSC, false},
    {"hyperv_clocksource_tsc_page", NYTP_COUNTER_TSC, false},
    {"xen", NYTP_COUNTER_TSC, false},
    {"arch_sys_counter", NYTP_COUNTER_CNTVCT, false},
};

static const struct clock_source *find_source(const struct nytp_counter_facts *facts)
{
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (strcmp(sources[i].name, facts->source) == 0 && sources[i].counter == facts->counter)
            return &sources[i];
    return NULL;
}

const char *nytp_counter_source(const struct nytp_counter_facts *facts)
{
    const struct clock_source *const source = find_source(facts);
    if (source == NULL || !facts->may_be_read ||
        (facts->per_s != 0 && facts->per_s < LEAST_PER_S))
        return NULL;
    if (!source->is_checked && (!facts->is_invariant || facts->is_system_call))
        return NULL;
    return source->name;
}

/* ---- this machine ---- */

bool nytp_counter_may_be_read(void)
{
#if defined(PR_GET_TSC)
    int state = 0;
    if (prctl(PR_GET_TSC, &state, 0, 0, 0) == 0)
        return state == PR_TSC_ENABLE;
#endif
    return NYTP_COUNTER != NYTP_COUNTER_NONE; /* a kernel that cannot forbid it */
}

static void read_source(char *text, size_t size)
{
    const int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                        O_RDONLY | O_CLOEXEC);
    ssize_t len = 0;
    if (fd >= 0) {
        len = read(fd, text, size - 1);
        close(fd);
    }
    while (len > 0 && text[len - 1] == '\n')
        len--;
    text[len > 0 ? len : 0] = '\0';
}

/* ARM's counter has one rate by its definition. */
static bool is_invariant(void)
{
#if defined(__x86_64__) || defined(__i386__)
    unsigned a, b, c, d;
    return __get_cpuid(LEAF_POWER, &a, &b, &c, &d) && (d & IS_INVARIANT) != 0;
#else
    return NYTP_COUNTER != NYTP_COUNTER_NONE;
#endif
}

static uint64_t per_second(void)
{
    uint64_t per_s = 0;
#if defined(__aarch64__)
    __asm__("mrs %0, cntfrq_el0" : "=r"(per_s));
#endif
    return per_s;
}

#if defined(__linux__)
static uint64_t time_batch(bool by_system_call)
{
    struct timespec now[2];
    const uint64_t begun = nytp_counter_read();
    for (int i = 0; i < BATCH; i++)
        if (by_system_call)
            syscall(SYS_clock_gettime, CLOCK_MONOTONIC, now);
        else
            clock_gettime(CLOCK_MONOTONIC, now);
    return nytp_counter_read() - begun;
}
#endif

/* A clock_gettime() that falls back to the system call takes longer than that alone; where it
 * does not, it takes half as long at most. Should all batches of one kind be interrupted, and
 * the answer be wrong, then speed is lost, or the clock is watched (clock.h). */
static bool is_system_call(void)
{
#if defined(__linux__)
    uint64_t fastest[2] = {UINT64_MAX, UINT64_MAX};
    for (int i = 0; i < 2 * BATCHES; i++) {
        const uint64_t time = time_batch(i % 2);
        if (time < fastest[i % 2])
            fastest[i % 2] = time;
    }
    return fastest[0] / 3 >= fastest[1] / 4;
#else
    return true;
#endif
}

void nytp_counter_look(struct nytp_counter_facts *facts)
{
    *facts = (struct nytp_counter_facts){.counter = NYTP_COUNTER};
    read_source(facts->source, sizeof facts->source);
    const struct clock_source *const source = find_source(facts);
    if (source == NULL || !nytp_counter_may_be_read())
        return;
    facts->may_be_read = true;
    facts->per_s = per_second();
    if (source->is_checked)
        return;
    facts->is_invariant = is_invariant();
    facts->is_system_call = is_system_call();
}
