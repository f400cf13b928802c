/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * For LD_PRELOAD: sleep() returns at once, and clock_gettime() says that the time has passed.
 */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static time_t slept_s;

unsigned sleep(unsigned seconds)
{
    slept_s += seconds;
    return 0;
}

int clock_gettime(clockid_t id, struct timespec *now)
{
    const int result = (int)syscall(SYS_clock_gettime, id, now);
    now->tv_sec += slept_s;
    return result;
}
