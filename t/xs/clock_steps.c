/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * For LD_PRELOAD: a clock that nothing but the program moves on. Every reading of clock_gettime() and
 * gettimeofday() is a microsecond after the one before, and sleep() and select() without handles return at once while
 * the clock says that their time has passed: a profile's times are the same in each run. With NYTP_STEP_GROWTH_NS each
 * step is so many nanoseconds longer than the one before.
 */
#include <stdlib.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long long now_us, more_ns, step_ns;
static int growth_ns = -1;

int clock_gettime(clockid_t id, struct timespec *now)
{
    (void)id;
    if (growth_ns < 0)
        growth_ns = getenv("NYTP_STEP_GROWTH_NS") == NULL ? 0 : atoi(getenv("NYTP_STEP_GROWTH_NS"));
    now_us++;
    more_ns += step_ns += growth_ns;
    const long long now_ns = now_us * 1000 + more_ns;
    now->tv_sec = (time_t)(1000 + now_ns / 1000000000);
    now->tv_nsec = (long)(now_ns % 1000000000);
    return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec time;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &time);
    now->tv_sec = time.tv_sec;
    now->tv_usec = time.tv_nsec / 1000;
    return 0;
}

unsigned sleep(unsigned seconds)
{
    now_us += seconds * 1000000LL;
    return 0;
}

int select(int n, fd_set *in, fd_set *out, fd_set *bad, struct timeval *wait)
{
    if (n > 0 || wait == NULL) {
        struct timespec time = {wait ? wait->tv_sec : 0, wait ? wait->tv_usec * 1000 : 0};
        return pselect(n, in, out, bad, wait ? &time : NULL, NULL);
    }
    now_us += wait->tv_sec * 1000000LL + wait->tv_usec;
    return 0;
}
