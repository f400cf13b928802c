/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Beside a program, a thread that only wakes: to be preloaded, with WAKER_HZ in the
 * environment. It is made and woken as the sampler's is (XS/recorder/raw_thread.c and
 * raw_alarm.c, which it is built with), at the same random distances, and does nothing: what it
 * costs is the machine's.
 */
#include "raw_alarm.h"

#include <stdlib.h>

static struct nytp_raw_thread thread;
static struct nytp_raw_alarm alarms;
static _Atomic uint32_t never;
static uint64_t period_ns;

NYTP_RAW_CODE static int run(void *unused)
{
    uint64_t next_ns = 0, after_ns = 0, random = nytp_raw_clock_ns(CLOCK_MONOTONIC) | 1;
    (void)unused;
    nytp_raw_name_thread("waker");
    nytp_raw_alarm_begin(&alarms);
    for (;;) {
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
    const char *const hz = getenv("WAKER_HZ");
    if (hz == NULL || atoi(hz) <= 0)
        return;
    period_ns = 1000000000u / (unsigned)atoi(hz);
    nytp_raw_thread_start(&thread, run, NULL);
}
