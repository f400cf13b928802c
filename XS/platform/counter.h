/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The processor's counter: the time stamp counter of x86, the virtual counter of 64-bit ARM. To
 * read it takes a few nanoseconds. It tells the time where the kernel's own clock is this
 * counter, perhaps by another name: in a virtual machine the host says how to get from the
 * counter to the time, and that does not change while the machine stays where it is.
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

/* Neither instruction waits for those before it: a reading may be some ten nanoseconds early,
 * for the next one likewise. An instruction that waits would take twice as long. */
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

/* The facts that tell whether the counter can stand in for clock_gettime(). */
struct nytp_counter_facts {
    enum nytp_counter counter; /* that the processor has */
    char source[40];           /* the kernel's clock source, as it names it; "": not known */
    bool may_be_read;          /* in user space, without a signal */
    bool is_invariant;         /* the processor says so: one rate in all its states */
    bool is_system_call;       /* each clock_gettime() enters the kernel */
    uint64_t per_s;            /* as the counter itself says; 0: it does not say */
};

/* The name of the clock source that is this counter, which lasts; NULL: it is none, and
 * clock_gettime() is to be read. A function of the facts alone. */
const char *nytp_counter_source(const struct nytp_counter_facts *facts);

/* Look at this machine. What a clock source makes needless to know is left false. */
void nytp_counter_look(struct nytp_counter_facts *facts);

/* Whether reading the counter raises no signal (prctl(PR_SET_TSC)). */
bool nytp_counter_may_be_read(void);

#endif
