/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The processor's counter: the time stamp counter of x86, the virtual counter of 64-bit ARM. A
 * reading takes a few nanoseconds. It is a clock if the kernel's own clock is this counter,
 * perhaps by another name: in a virtual machine the host gives the kernel offset and rate,
 * which stay the same until the machine moves.
 */
#ifndef NYTP_COUNTER_H
#define NYTP_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__) || defined(__i386__)
#define NYTP_COUNTER NYTP_COUNTER_TSC
#include <x86intrin.h>
#elif defined(__aarch64__)
#define NYTP_COUNTER NYTP_COUNTER_CNTVCT
#else
#define NYTP_COUNTER NYTP_COUNTER_NONE
#endif

enum nytp_counter {
    NYTP_COUNTER_NONE,
    NYTP_COUNTER_TSC,
    NYTP_COUNTER_CNTVCT
};

/* Neither instruction waits for those before it, so each reading may be some ten nanoseconds
 * early. One that waits would take twice as long. */
static inline uint64_t nytp_counter_read(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return __rdtsc();
#elif defined(__aarch64__)
    uint64_t now;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
    return now;
#else
    return 0;
#endif
}

/* Facts that decide whether the counter can replace clock_gettime(). */
struct nytp_counter_facts {
    enum nytp_counter counter; /* the processor's */
    char source[40];           /* the kernel's name of its clock source; "": unknown */
    bool may_be_read;          /* in user space, without a signal */
    bool is_invariant;         /* by the processor: one rate in all its states */
    bool is_system_call;       /* each clock_gettime() enters the kernel */
    uint64_t per_s;            /* by the counter itself; 0: unknown */
};

/* Returns the name, a constant, of the clock source that is this counter, or NULL if
 * clock_gettime() is to be read. Depends on the facts alone. */
const char *nytp_counter_source(const struct nytp_counter_facts *facts);

/* Looks at this machine. Facts that the clock source makes needless stay false. */
void nytp_counter_look(struct nytp_counter_facts *facts);

/* Returns whether reading the counter raises no signal (prctl(PR_SET_TSC)). */
bool nytp_counter_may_be_read(void);

#endif
