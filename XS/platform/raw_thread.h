/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A thread beside the program's that the C library does not know of.
 *
 * glibc leaves its faster ways through malloc and stdio for good once pthread_create() was
 * called: a loop that allocates takes 4 % more instructions from then on. So the thread is made
 * by clone(), on a stack of its own, with all signals blocked.
 *
 * The price: it shares the thread-local storage of the thread that made it, errno among it.
 * What runs in it makes raw system calls and touches memory, and calls nothing else: no libc,
 * no perl. Such functions are marked NYTP_RAW_CODE. fork() leaves it behind; exec and exit end
 * it; setuid() and its like, which glibc carries out in every thread that it knows, do not
 * reach it.
 *
 * Where the processor or system is none that the calls are written for, it is a thread like any
 * other, under the same rules.
 */
#ifndef NYTP_RAW_THREAD_H
#define NYTP_RAW_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#if defined(__linux__) && !defined(NYTP_NO_RAW_THREADS) &&                                     \
    (defined(__x86_64__) || defined(__aarch64__))
#define NYTP_RAW_THREADS 1
#else
#define NYTP_RAW_THREADS 0
#include <pthread.h>
#endif

/* On functions that run in such a thread: sanitizers keep state in thread-local storage. Who
 * calls them in a thread of the program, to test them, may define it as nothing. */
#ifndef NYTP_RAW_CODE
#define NYTP_RAW_CODE __attribute__((no_sanitize("address"), no_sanitize("undefined")))
#endif

struct nytp_raw_thread {
    bool is_running; /* for the threads of the program: it was started and not joined */
#if NYTP_RAW_THREADS
    _Atomic int32_t id; /* of the thread; the kernel makes it 0 near its end */
    int number;         /* the same, and stays */
    void *stack;
#else
    pthread_t id;
#endif
};

/* Begin to run `run`. False when the system refuses: errno says why. */
bool nytp_raw_thread_start(struct nytp_raw_thread *thread, int (*run)(void *), void *context);

/* Wait until it is none of the process's threads any more. */
void nytp_raw_thread_join(struct nytp_raw_thread *thread);

/* In a child of fork(): there is no such thread. */
void nytp_raw_thread_forget(struct nytp_raw_thread *thread);

/* ---- what the thread itself may call ---- */

struct pollfd;

/* Nanoseconds of a clock; 0: the system has no such clock. */
uint64_t nytp_raw_clock_ns(clockid_t clock);

/* Wait until CLOCK_MONOTONIC shows `until_ns`, or nytp_raw_wake() was called after *word was
 * `seen`. UINT64_MAX: only that. Any thread may wake. */
void nytp_raw_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t until_ns);
void nytp_raw_wake(_Atomic uint32_t *word);

/* Wait until one of the descriptors is ready, at most for so many nanoseconds. The number of
 * those that are; below 0: -errno. */
int nytp_raw_poll(struct pollfd *fds, unsigned n, uint64_t ns);

/* Write over what a file has there; the number of bytes, or below 0. */
long nytp_raw_pwrite(int fd, const void *bytes, size_t len, uint64_t at);

void nytp_raw_name_thread(const char *name); /* as `top -H` shows it */

#if NYTP_RAW_THREADS
#include <sys/syscall.h>
#undef register /* perl.h of a perl with -DDEBUGGING makes it nothing, and below it matters */
/* A system call; the result or -errno. */
NYTP_RAW_CODE static inline long nytp_raw_syscall(long number, long a, long b, long c, long d,
                                                  long e, long f)
{
#if defined(__x86_64__)
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
#else
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
#endif
}

/* Which signals this thread blocks; which it did before. */
uint64_t nytp_raw_set_signal_mask(uint64_t mask);
#endif

#endif
