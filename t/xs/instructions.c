/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * For LD_PRELOAD: what perf_event_open() answers to who asks for the processor's counter. With
 * NYTP_TEST_PERF=ERRNO it fails so; with "task" it counts in the counter's place, for the same
 * thread, the nanoseconds that this has a processor, as every kernel can. NYTP_TEST_PARANOID is a
 * file that is read instead of /proc/sys/kernel/perf_event_paranoid.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

long syscall(long number, ...)
{
    long (*const real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    const char *const answer = getenv("NYTP_TEST_PERF");
    long a[6];
    va_list rest;
    va_start(rest, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(rest, long);
    va_end(rest);
    if (number != SYS_perf_event_open || answer == NULL)
        return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    struct perf_event_attr attr = *(struct perf_event_attr *)a[0];
    const int is_ours = attr.type == PERF_TYPE_HARDWARE && attr.config == PERF_COUNT_HW_INSTRUCTIONS &&
                        attr.exclude_kernel && attr.exclude_hv && attr.pinned && (int)a[1] == 0;
    if (!is_ours || strcmp(answer, "task") != 0) {
        errno = is_ours ? atoi(answer) : EINVAL;
        return -1;
    }
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_TASK_CLOCK;
    return real(number, &attr, a[1], a[2], a[3], a[4], a[5]);
}

static int open_by(const char *name, const char *path, int flags, int mode)
{
    int (*const real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, name);
    const char *const other = getenv("NYTP_TEST_PARANOID");
    if (other != NULL && strcmp(path, "/proc/sys/kernel/perf_event_paranoid") == 0)
        path = other;
    return real(path, flags, mode);
}

static int mode_of(int flags, va_list rest)
{
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, int) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    const int mode = mode_of(flags, rest);
    va_end(rest);
    return open_by("open", path, flags, mode);
}

#ifdef __GLIBC__ /* elsewhere it is the same function */
int open64(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    const int mode = mode_of(flags, rest);
    va_end(rest);
    return open_by("open64", path, flags, mode);
}
#endif
