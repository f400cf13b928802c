/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Beside a program, a thread that only wakes: to be preloaded, with WAKER_HZ in the
 * environment. It is made and woken as the sampler's is (XS/platform/raw_thread.c and
 * raw_alarm.c, which it is built with), at the same random distances, and does nothing: what it
 * costs is the machine's. It sleeps until it reads a '1' from the descriptor WAKER_FD, and again
 * after a '0'.
 */
#include "raw_alarm.h"

#include <poll.h>
#include <stdlib.h>

enum {
    LOOK_EVERY = 4, /* wakes: to look for a '0' takes a system call */
};

static struct nytp_raw_thread thread;
static struct nytp_raw_alarm alarms;
static _Atomic uint32_t never;
static uint64_t period_ns;
static int fd;

NYTP_RAW_CODE static char read_switch(void)
{
    char byte = '0';
    nytp_raw_syscall(SYS_read, fd, (long)&byte, 1, 0, 0, 0);
    return byte;
}

NYTP_RAW_CODE static bool is_switched(void)
{
    struct pollfd there = {.fd = fd, .events = POLLIN};
    return nytp_raw_poll(&there, 1, 0) > 0;
}

NYTP_RAW_CODE static int run(void *unused)
{
    uint64_t next_ns = 0, after_ns = 0, random = nytp_raw_clock_ns(CLOCK_MONOTONIC) | 1;
    char is_on = '0';
    (void)unused;
    nytp_raw_name_thread("waker");
    nytp_raw_alarm_begin(&alarms);
    for (unsigned n = 0;; n++) {
        while (is_on == '0' || (n % LOOK_EVERY == 0 && is_switched()))
            is_on = read_switch();
        const uint64_t now_ns = nytp_raw_clock_ns(CLOCK_MONOTONIC);
        if (now_ns >= next_ns) {
            next_ns = after_ns > now_ns
                          ? after_ns
                          : now_ns + nytp_raw_next_distance_ns(&random, period_ns);
            after_ns = next_ns + nytp_raw_next_distance_ns(&random, period_ns);
        }
        nytp_raw_alarm_wait(&alarms, &never, 0, next_ns, after_ns);
    }
    return 0;
}

__attribute__((constructor)) static void start(void)
{
    const char *const hz = getenv("WAKER_HZ"), *const descriptor = getenv("WAKER_FD");
    if (hz == NULL || atoi(hz) <= 0 || descriptor == NULL)
        return;
    period_ns = 1000000000u / (unsigned)atoi(hz);
    fd = atoi(descriptor);
    nytp_raw_thread_start(&thread, run, NULL);
}
