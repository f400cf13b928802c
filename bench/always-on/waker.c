/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Beside a program, a thread that only wakes: to be preloaded, with WAKER_HZ in the
 * environment. It is made and woken as the sampler's is (XS/platform/ticks.c; it is built with
 * kernel.c), at the same random distances, and does nothing: what it costs is the machine's. It
 * sleeps until it reads a '1' from the descriptor WAKER_FD, and again after a '0'.
 */
#include "XS/platform/ticks.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    LOOK_EVERY = 4, /* wakes: to look for a '0' takes a system call */
};

static _Atomic uint32_t never;
static uint64_t period_ns;
static int fd;

static char read_switch(void)
{
    char byte = '0';
    return read(fd, &byte, 1) == 1 ? byte : '0';
}

static bool is_switched(void)
{
    struct pollfd there = {.fd = fd, .events = POLLIN};
    return nytp_kernel_poll(&there, 1, 0) > 0;
}

static void *run(void *unused)
{
    uint64_t next_ns = 0, random = nytp_kernel_clock_ns(CLOCK_MONOTONIC) | 1;
    char is_on = '0';
    for (unsigned n = 0;; n++) {
        while (is_on == '0' || (n % LOOK_EVERY == 0 && is_switched()))
            is_on = read_switch();
        const uint64_t now_ns = nytp_kernel_clock_ns(CLOCK_MONOTONIC);
        if (now_ns >= next_ns)
            next_ns += nytp_next_distance_ns(&random, period_ns);
        if (now_ns >= next_ns)
            next_ns = now_ns + nytp_next_distance_ns(&random, period_ns);
        nytp_kernel_wait(&never, 0, next_ns);
    }
    return unused;
}

__attribute__((constructor)) static void start(void)
{
    const char *const hz = getenv("WAKER_HZ"), *const descriptor = getenv("WAKER_FD");
    pthread_t thread;
    sigset_t all, before;
    if (hz == NULL || atoi(hz) <= 0 || descriptor == NULL)
        return;
    period_ns = 1000000000u / (unsigned)atoi(hz);
    fd = atoi(descriptor);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_create(&thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
