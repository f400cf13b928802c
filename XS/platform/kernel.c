/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * System calls of the tick thread; see kernel.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "kernel.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>
#endif

enum {
    NS_PER_S = 1000000000,
    SIGNAL_SET_SIZE = 8,
};

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_S),
                             .tv_nsec = (long)(ns % NS_PER_S)};
}

clockid_t nytp_kernel_cpu_clock(void)
{
#if defined(_POSIX_THREAD_CPUTIME) && _POSIX_THREAD_CPUTIME >= 0
    clockid_t clock;
    if (pthread_getcpuclockid(pthread_self(), &clock) == 0)
        return clock;
#endif
    return CLOCK_PROCESS_CPUTIME_ID;
}

#ifdef __linux__
uint64_t nytp_kernel_set_signal_mask(uint64_t mask)
{
    uint64_t before = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &before, (size_t)SIGNAL_SET_SIZE);
    return before;
}
#endif

#if NYTP_KERNEL_CALLS

#include <linux/futex.h>

long nytp_kernel_call(long number, const long a[6])
{
    const int error = errno;
    const long result = syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (result != -1)
        return result;
    const int reason = errno;
    errno = error;
    return -reason;
}

uint64_t nytp_kernel_clock_ns(clockid_t clock)
{
    struct timespec now;
    if (nytp_kernel_call(SYS_clock_gettime, (long[6]){clock, (long)&now}) != 0)
        return 0;
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

void nytp_kernel_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t until_ns)
{
    const struct timespec until = timespec_of(until_ns);
    nytp_kernel_call(SYS_futex, (long[6]){(long)word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG,
                                          (long)seen, until_ns == UINT64_MAX ? 0 : (long)&until,
                                          0, FUTEX_BITSET_MATCH_ANY});
}

void nytp_kernel_wake(_Atomic uint32_t *word)
{
    ++*word;
    nytp_kernel_call(SYS_futex, (long[6]){(long)word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1});
}

int nytp_kernel_poll(struct pollfd *fds, unsigned n, uint64_t ns)
{
    struct timespec left = timespec_of(ns);
    return (int)nytp_kernel_call(SYS_ppoll,
                                 (long[6]){(long)fds, n, (long)&left, 0, SIGNAL_SET_SIZE});
}

#else

enum {
    SLICE_NS = 20000000, /* a wait looks that often whether it was woken */
};

uint64_t nytp_kernel_clock_ns(clockid_t clock)
{
    const int error = errno;
    struct timespec now;
    const bool is_there = clock_gettime(clock, &now) == 0;
    errno = error;
    return is_there ? (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec : 0;
}

void nytp_kernel_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t until_ns)
{
    uint64_t now;
    while (*word == seen && (now = nytp_kernel_clock_ns(CLOCK_MONOTONIC)) < until_ns) {
        const uint64_t left = until_ns - now;
        const struct timespec slice = timespec_of(left < SLICE_NS ? left : SLICE_NS);
        nanosleep(&slice, NULL);
    }
}

void nytp_kernel_wake(_Atomic uint32_t *word)
{
    ++*word;
}

int nytp_kernel_poll(struct pollfd *fds, unsigned n, uint64_t ns)
{
    const int error = errno;
    const int ready = poll(fds, n, (int)((ns + 999999) / 1000000));
    const int reason = errno;
    errno = error;
    return ready < 0 ? -reason : ready;
}

#endif
