/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The processor's counter of instructions; see instructions.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "instructions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

static const char paranoid_path[] = "/proc/sys/kernel/perf_event_paranoid";

enum {
    MOST_PARANOID = 2, /* with which users may count what they do in user space */
};

/* ---- reading ---- */

static bool id_of(int fd, uint64_t *id)
{
    return ioctl(fd, PERF_EVENT_IOC_ID, id) == 0;
}

/* The descriptor, if it is still the counter's and of this thread; else -1. */
static int descriptor(const struct nytp_instructions *counter)
{
    uint64_t id;
    const int fd = nytp_own_fd(&counter->own);
    return fd >= 0 && id_of(fd, &id) && id == counter->id ? fd : -1;
}

/* -1: that cannot be told. One that had to give way to others reads as nothing. */
static int64_t read_counter(const struct nytp_instructions *counter)
{
    uint64_t count;
    const int fd = pthread_equal(counter->thread, pthread_self()) ? descriptor(counter) : -1;
    return fd >= 0 && read(fd, &count, sizeof count) == (ssize_t)sizeof count ? (int64_t)count
                                                                              : -1;
}

void nytp_instructions_close(struct nytp_instructions *counter)
{
    if (!counter->is_open)
        return;
    const int why = errno, fd = descriptor(counter);
    if (fd >= 0)
        close(fd);
    errno = why;
    *counter = (struct nytp_instructions){.is_recording = counter->is_recording,
                                          .pauses = counter->pauses};
}

#else

static int64_t read_counter(const struct nytp_instructions *counter)
{
    (void)counter;
    return -1;
}

void nytp_instructions_close(struct nytp_instructions *counter)
{
    (void)counter;
}

#endif

/* ---- counting ---- */

/* Count or not, as the state wants it now. */
static void follow(struct nytp_instructions *counter)
{
    const bool counts = counter->is_recording && counter->pauses == 0;
    if (!counter->is_open || counts == (counter->since >= 0))
        return;
    const int why = errno;
    const int64_t now = read_counter(counter);
    errno = why;
    if (now < 0) {
        nytp_instructions_close(counter);
    } else if (counts) {
        counter->since = now;
    } else {
        counter->total += now - counter->since;
        counter->since = -1;
    }
}

void nytp_instructions_set_recording(struct nytp_instructions *counter, bool is_recording)
{
    counter->is_recording = is_recording;
    follow(counter);
}

void nytp_instructions_pause(struct nytp_instructions *counter)
{
    counter->pauses++;
    follow(counter);
}

void nytp_instructions_resume(struct nytp_instructions *counter)
{
    counter->pauses--;
    follow(counter);
}

int64_t nytp_instructions_total(struct nytp_instructions *counter)
{
    if (!counter->is_open)
        return -1;
    if (counter->since < 0)
        return counter->total;
    const int why = errno;
    const int64_t now = read_counter(counter);
    errno = why;
    return now < 0 ? -1 : counter->total + (now - counter->since);
}

/* ---- opening ---- */

#ifdef __linux__

static int open_event(void)
{
    struct perf_event_attr attr = {
        .size = sizeof attr,
        .type = PERF_TYPE_HARDWARE,
        .config = PERF_COUNT_HW_INSTRUCTIONS,
        .pinned = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    const int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? fd : nytp_own_fd_move(fd, nytp_own_fd_lowest());
}

/* What is set there; 0 where that cannot be read. */
static int paranoid(void)
{
    char text[16] = "";
    const int fd = open(paranoid_path, O_RDONLY | O_CLOEXEC);
    const ssize_t len = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[len > 0 ? len : 0] = '\0';
    return atoi(text);
}

static void explain(int why, char *reason, size_t size)
{
    const bool is_denied = why == EACCES || why == EPERM;
    const int level = is_denied ? paranoid() : 0;
    if (level > MOST_PARANOID)
        snprintf(reason, size,
                 "kernel.perf_event_paranoid is %d, and only up to %d lets users count", level,
                 MOST_PARANOID);
    else if (is_denied)
        snprintf(reason, size, "perf_event_open is denied here, as in many containers");
    else if (why == ENOENT || why == ENODEV || why == EOPNOTSUPP)
        snprintf(reason, size,
                 "the processor's counter is not to be had, as in many virtual machines");
    else if (why == ENOSYS)
        snprintf(reason, size, "the kernel has no perf_event_open");
    else
        snprintf(reason, size, "perf_event_open: %s", strerror(why));
}

bool nytp_instructions_open(struct nytp_instructions *counter, char *reason, size_t size)
{
    if (counter->is_open && read_counter(counter) >= 0)
        return true;
    nytp_instructions_close(counter);
    const int fd = open_event();
    if (fd < 0) {
        explain(errno, reason, size);
        return false;
    }
    counter->own = nytp_own_fd_of(fd);
    counter->thread = pthread_self();
    counter->total = 0;
    counter->since = -1;
    counter->is_open = id_of(fd, &counter->id) && read_counter(counter) >= 0;
    if (!counter->is_open) {
        close(fd);
        snprintf(reason, size, "the processor's counters are in use by others");
    }
    follow(counter);
    return counter->is_open;
}

#else

bool nytp_instructions_open(struct nytp_instructions *counter, char *reason, size_t size)
{
    (void)counter;
    snprintf(reason, size, "they are counted on Linux only");
    return false;
}

#endif
