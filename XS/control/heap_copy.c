/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A stopped copy of the process; see heap_copy.h.
 *
 * A second fork whose middle process ends would give the copy to init. But if the program is a
 * container's first process, it would get the copy itself. A child without an exit signal stays
 * the program's child, visible only to __WCLONE; if the program ends first, init gets it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "heap_copy.h"

#include <stdio.h>

#if NYTP_KERNEL_CALLS

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum {
    MOST_COPIES = 4,
    MOST_FDS = 1 << 20, /* closed one by one without close_range() */
};

static const uint64_t longest_ns = 600000000000; /* for a copy */

static _Atomic long copies[MOST_COPIES]; /* their ids; 0: none. One thread each takes and frees
                                          * one */

/* ---- in the copy ---- */

static void close_from_to(unsigned first, unsigned last)
{
    struct {
        uint64_t now, most;
    } limit = {0, 0};
    if (first > last || nytp_kernel_call(SYS_close_range, (long[6]){first, last}) == 0)
        return;
    nytp_kernel_call(SYS_prlimit64, (long[6]){0, RLIMIT_NOFILE, 0, (long)&limit});
    const uint64_t end = limit.now < MOST_FDS ? limit.now : MOST_FDS;
    for (unsigned fd = first; fd <= last && fd < end; fd++)
        nytp_kernel_call(SYS_close, (long[6]){fd});
}

/* Where only parents may look at a process (Yama), allows the client and its children to. */
static void let_look(int client)
{
    struct ucred peer = {0};
    socklen_t len = sizeof peer;
    const long result = nytp_kernel_call(
        SYS_getsockopt, (long[6]){client, SOL_SOCKET, SO_PEERCRED, (long)&peer, (long)&len});
    if (result == 0 && peer.pid > 0)
        nytp_kernel_call(SYS_prctl, (long[6]){PR_SET_PTRACER, peer.pid});
}

/* If memory becomes short, the kernel kills the copy, not the program. */
static void go_first(void)
{
    const long fd = nytp_kernel_call(
        SYS_openat, (long[6]){AT_FDCWD, (long)"/proc/self/oom_score_adj", O_WRONLY});
    if (fd < 0)
        return;
    nytp_kernel_call(SYS_write, (long[6]){fd, (long)"1000", 4});
    nytp_kernel_call(SYS_close, (long[6]){fd});
}

/* All signals are blocked. A new session keeps signals for the program's process group away
 * from the copy. */
static void stand_still(const struct nytp_own_fd *client)
{
    const int fd = nytp_own_fd(client);
    struct pollfd hangs_up = {.fd = fd, .events = POLLIN};
    if (fd >= 0) {
        close_from_to(0, (unsigned)fd - 1);
        close_from_to((unsigned)fd + 1, ~0u);
        nytp_kernel_call(SYS_setsid, (long[6]){0});
        nytp_kernel_call(SYS_prctl, (long[6]){PR_SET_NAME, (long)"nytp-heap"});
        let_look(fd);
        go_first();
        nytp_kernel_call(SYS_sendto,
                         (long[6]){fd, (long)"ready\n", 6, MSG_DONTWAIT | MSG_NOSIGNAL});
        nytp_kernel_poll(&hangs_up, 1, longest_ns);
    }
    for (;;)
        nytp_kernel_call(SYS_exit_group, (long[6]){0});
}

/* ---- in the program ---- */

/* All arguments of clone() are 0: no exit signal, nothing shared, the same stack. */
static long split(const struct nytp_own_fd *client)
{
    const uint64_t before = nytp_kernel_set_signal_mask(UINT64_MAX);
    const long pid = nytp_kernel_call(SYS_clone, (long[6]){0});
    if (pid == 0)
        stand_still(client);
    nytp_kernel_set_signal_mask(before);
    return pid;
}

static _Atomic long *free_place(void)
{
    for (size_t i = 0; i < MOST_COPIES; i++)
        if (atomic_load(&copies[i]) == 0)
            return &copies[i];
    return NULL;
}

bool nytp_heap_copy_make(const struct nytp_own_fd *client, char *text, size_t size)
{
    _Atomic long *const place = free_place();
    if (place == NULL) {
        snprintf(text, size, "its values are being counted %d times already", MOST_COPIES);
        return false;
    }
    const uint64_t began_ns = nytp_kernel_clock_ns(CLOCK_MONOTONIC);
    const long pid = split(client);
    if (pid < 0) {
        snprintf(text, size, "the program cannot be copied: %s", strerror((int)-pid));
        return false;
    }
    atomic_store(place, pid);
    const uint64_t pause_ns = nytp_kernel_clock_ns(CLOCK_MONOTONIC) - began_ns;
    snprintf(text, size, "process %ld is a copy; the program stood still for %.1f ms", pid,
             (double)pause_ns / 1e6);
    return true;
}

static void reap(_Atomic long *copy, int options)
{
    const long pid = atomic_load(copy);
    long result;
    if (pid == 0)
        return;
    do
        result = nytp_kernel_call(SYS_wait4, (long[6]){pid, 0, __WCLONE | options});
    while (result == -EINTR);
    if (result != 0)
        atomic_store(copy, 0); /* the copy has ended, or is no child of ours */
}

void nytp_heap_copies_reap(void)
{
    for (size_t i = 0; i < MOST_COPIES; i++)
        reap(&copies[i], WNOHANG);
}

void nytp_heap_copies_end(void)
{
    for (size_t i = 0; i < MOST_COPIES; i++) {
        if (atomic_load(&copies[i]) != 0)
            nytp_kernel_call(SYS_kill, (long[6]){atomic_load(&copies[i]), SIGKILL});
        reap(&copies[i], 0);
    }
}

void nytp_heap_copies_forget(void)
{
    for (size_t i = 0; i < MOST_COPIES; i++)
        atomic_store(&copies[i], 0);
}

#else

bool nytp_heap_copy_make(const struct nytp_own_fd *client, char *text, size_t size)
{
    (void)client;
    snprintf(text, size, "copies of a program are made on Linux only (x86-64, arm64)");
    return false;
}

void nytp_heap_copies_reap(void)
{
}

void nytp_heap_copies_end(void)
{
}

void nytp_heap_copies_forget(void)
{
}

#endif
