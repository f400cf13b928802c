/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Memory that may be gone; see memory.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "memory.h"

#include "kernel.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if NYTP_KERNEL_CALLS

enum {
    WORDS_AFTER_NAME = 45,
};

/* Begin of the memory that malloc() has from brk(), which is there up to its present end; glibc
 * knows that without a system call. 0: unknown. */
static uintptr_t heap_start;

/* The 47th word of /proc/self/stat; the second, a name in parentheses, may have blanks. */
void nytp_memory_begin(void)
{
    char text[2048];
    if (heap_start != 0)
        return;
    const int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    const ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[len > 0 ? len : 0] = '\0';
    const char *at = strrchr(text, ')');
    for (int i = 0; at != NULL && i < WORDS_AFTER_NAME; i++)
        at = strchr(at + 1, ' ');
    heap_start = at == NULL ? 0 : (uintptr_t)strtoull(at, NULL, 10);
}

long nytp_read_memory(long pid, const struct iovec *to, const struct iovec *from, int n)
{
    return nytp_kernel_call(SYS_process_vm_readv, (long[6]){pid, (long)to, n, (long)from, n});
}

static bool is_in_heap(const void *address, size_t len)
{
    const uintptr_t at = (uintptr_t)address, end = (uintptr_t)sbrk(0);
    return heap_start != 0 && at >= heap_start && at < end && len <= end - at;
}

bool nytp_peek_memory(const void *from, void *to, size_t len)
{
    if (is_in_heap(from, len)) {
        memcpy(to, from, len);
        return true;
    }
    return nytp_read_part((long)getpid(), from, to, len) == (long)len;
}

#else /* through a pipe */

#include "own_fd.h"

#include <sched.h>
#include <stdatomic.h>

enum {
    MOST_TRIES = 1000, /* to get the pipe, which others use for a few system calls */
};

/* One for all threads. Its descriptors may be other files by now: a daemon closes all. */
static struct {
    atomic_flag is_in_use;
    long owner;                 /* the process that made it; 0: none yet */
    struct nytp_own_fd ends[2]; /* to read, to write */
} channel = {.is_in_use = ATOMIC_FLAG_INIT};

static bool is_ours(void)
{
    return channel.owner == (long)getpid() && nytp_own_fd(&channel.ends[0]) >= 0 &&
           nytp_own_fd(&channel.ends[1]) >= 0;
}

static bool take(void)
{
    for (int i = 0; i < MOST_TRIES; i++) {
        if (!atomic_flag_test_and_set_explicit(&channel.is_in_use, memory_order_acquire))
            return true;
        sched_yield();
    }
    return false;
}

static void leave(void)
{
    atomic_flag_clear_explicit(&channel.is_in_use, memory_order_release);
}

static void make_channel(void)
{
    int ends[2];
    for (int i = 0; i < 2 && channel.owner != 0; i++)
        if (nytp_own_fd(&channel.ends[i]) >= 0)
            close(channel.ends[i].fd);
    channel.owner = 0;
    if (pipe(ends) != 0)
        return;
    for (int i = 0; i < 2; i++) {
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
        fcntl(ends[i], F_SETFL, O_NONBLOCK);
        channel.ends[i] = nytp_own_fd_of(nytp_own_fd_move(ends[i]));
    }
    channel.owner = (long)getpid();
}

/* A thread that had the pipe at the fork is not in the child. */
void nytp_memory_begin(void)
{
    if (channel.owner != 0 && channel.owner != (long)getpid())
        leave();
    if (!take())
        return;
    if (!is_ours())
        make_channel();
    leave();
}

/* Leaves the pipe empty. */
static bool copy_through(const struct iovec *to, const struct iovec *from)
{
    char rest[256];
    const ssize_t n = write(channel.ends[1].fd, from->iov_base, from->iov_len);
    if (n == (ssize_t)from->iov_len && read(channel.ends[0].fd, to->iov_base, to->iov_len) == n)
        return true;
    while (read(channel.ends[0].fd, rest, sizeof rest) > 0)
        ;
    return false;
}

long nytp_read_memory(long pid, const struct iovec *to, const struct iovec *from, int n)
{
    long len = 0;
    if (pid != channel.owner || !take())
        return -1;
    const bool is_there = is_ours();
    for (int i = 0; is_there && i < n && copy_through(&to[i], &from[i]); i++)
        len += (long)from[i].iov_len;
    leave();
    return is_there ? len : -1;
}

bool nytp_peek_memory(const void *from, void *to, size_t len)
{
    if (!is_ours())
        nytp_memory_begin();
    return nytp_read_part((long)getpid(), from, to, len) == (long)len;
}

#endif

long nytp_read_part(long pid, const void *from, void *to, size_t len)
{
    const struct iovec there = {(void *)from, len}, here = {to, len};
    return nytp_read_memory(pid, &here, &there, 1);
}
