/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A thread that the C library does not know of; see raw_thread.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "raw_thread.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    NS_PER_S = 1000000000,
};

NYTP_RAW_CODE static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_S),
                             .tv_nsec = (long)(ns % NS_PER_S)};
}

#if NYTP_RAW_THREADS

#include <linux/futex.h>
#include <sched.h>
#include <sys/prctl.h>

enum {
    STACK = 65536,
    GUARD = 65536, /* below the stack; the largest page that these processors are run with */
};

/* The stack, with a page below it that nothing may touch. NULL: no memory. */
static char *new_stack(void)
{
    char *const room = mmap(NULL, GUARD + STACK, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (room == MAP_FAILED)
        return NULL;
    mprotect(room, GUARD, PROT_NONE);
    return room;
}

/* The C library's sigprocmask() leaves out the signals that it keeps for itself. */
NYTP_RAW_CODE uint64_t nytp_raw_set_signal_mask(uint64_t mask)
{
    uint64_t before = 0;
    nytp_raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, (long)&before, sizeof mask,
                     0, 0);
    return before;
}

bool nytp_raw_thread_start(struct nytp_raw_thread *thread, int (*run)(void *), void *context)
{
    const int flags = CLONE_VM | CLONE_THREAD | CLONE_SIGHAND | CLONE_FS | CLONE_FILES |
                      CLONE_SYSVSEM | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
    char *const stack = new_stack();
    if (stack == NULL)
        return false;
    const uint64_t before = nytp_raw_set_signal_mask(UINT64_MAX);
    thread->id = -1;
    const int id =
        clone(run, stack + GUARD + STACK, flags, context, &thread->id, NULL, &thread->id);
    const int error = errno;
    nytp_raw_set_signal_mask(before);
    if (id < 0) {
        munmap(stack, GUARD + STACK);
        errno = error;
        return false;
    }
    thread->stack = stack;
    thread->number = id;
    thread->is_running = true;
    return true;
}

void nytp_raw_thread_join(struct nytp_raw_thread *thread)
{
    int32_t id;
    if (!thread->is_running)
        return;
    /* the kernel wakes without the private flag */
    while ((id = thread->id) != 0)
        nytp_raw_syscall(SYS_futex, (long)&thread->id, FUTEX_WAIT, id, 0, 0, 0);
    /* it counts as one for a moment more, in which the kernel denies what needs one thread */
    while (nytp_raw_syscall(SYS_tgkill, getpid(), thread->number, 0, 0, 0, 0) == 0)
        sched_yield();
    nytp_raw_thread_forget(thread);
}

void nytp_raw_thread_forget(struct nytp_raw_thread *thread)
{
    if (thread->is_running)
        munmap(thread->stack, GUARD + STACK);
    thread->is_running = false;
}

NYTP_RAW_CODE uint64_t nytp_raw_clock_ns(clockid_t clock)
{
    struct timespec now;
    if (nytp_raw_syscall(SYS_clock_gettime, clock, (long)&now, 0, 0, 0, 0) != 0)
        return 0;
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

NYTP_RAW_CODE void nytp_raw_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t until_ns)
{
    const struct timespec until = timespec_of(until_ns);
    nytp_raw_syscall(SYS_futex, (long)word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, (long)seen,
                     until_ns == UINT64_MAX ? 0 : (long)&until, 0, FUTEX_BITSET_MATCH_ANY);
}

NYTP_RAW_CODE void nytp_raw_wake(_Atomic uint32_t *word)
{
    ++*word;
    nytp_raw_syscall(SYS_futex, (long)word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, 0, 0, 0);
}

NYTP_RAW_CODE int nytp_raw_poll(struct pollfd *fds, unsigned n, uint64_t ns)
{
    struct timespec left = timespec_of(ns);
    return (int)nytp_raw_syscall(SYS_ppoll, (long)fds, n, (long)&left, 0, 8, 0);
}

NYTP_RAW_CODE long nytp_raw_pwrite(int fd, const void *bytes, size_t len, uint64_t at)
{
    return nytp_raw_syscall(SYS_pwrite64, fd, (long)bytes, (long)len, (long)at, 0, 0);
}

NYTP_RAW_CODE void nytp_raw_name_thread(const char *name)
{
    nytp_raw_syscall(SYS_prctl, PR_SET_NAME, (long)name, 0, 0, 0, 0);
}

#else /* a thread like any other */

enum {
    SLICE_NS = 20000000, /* a wait looks that often whether it was woken */
};

struct start {
    int (*run)(void *);
    void *context;
};

static void *run_thread(void *ptr)
{
    const struct start *const start = ptr;
    return start->run(start->context) == 0 ? NULL : ptr;
}

bool nytp_raw_thread_start(struct nytp_raw_thread *thread, int (*run)(void *), void *context)
{
    static struct start start;
    sigset_t all, before;
    start = (struct start){.run = run, .context = context};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&thread->id, NULL, run_thread, &start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    thread->is_running = error == 0;
    errno = error;
    return error == 0;
}

void nytp_raw_thread_join(struct nytp_raw_thread *thread)
{
    if (thread->is_running)
        pthread_join(thread->id, NULL);
    thread->is_running = false;
}

void nytp_raw_thread_forget(struct nytp_raw_thread *thread)
{
    thread->is_running = false;
}

uint64_t nytp_raw_clock_ns(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

void nytp_raw_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t until_ns)
{
    uint64_t now;
    while (*word == seen && (now = nytp_raw_clock_ns(CLOCK_MONOTONIC)) < until_ns) {
        const uint64_t left = until_ns - now;
        const struct timespec slice = timespec_of(left < SLICE_NS ? left : SLICE_NS);
        nanosleep(&slice, NULL);
    }
}

void nytp_raw_wake(_Atomic uint32_t *word)
{
    ++*word;
}

int nytp_raw_poll(struct pollfd *fds, unsigned n, uint64_t ns)
{
    const int ready = poll(fds, n, (int)((ns + 999999) / 1000000));
    return ready < 0 ? -errno : ready;
}

long nytp_raw_pwrite(int fd, const void *bytes, size_t len, uint64_t at)
{
    return (long)pwrite(fd, bytes, len, (off_t)at);
}

void nytp_raw_name_thread(const char *name)
{
    (void)name;
}

#endif
