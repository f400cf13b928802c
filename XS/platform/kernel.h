/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * System calls of the thread that looks at the program (ticks.h).
 *
 * On Linux x86-64 and arm64 they go to the kernel itself. A preloaded library that changes
 * clocks, descriptors or files for the program (faketime, fakeroot) does not change them here.
 * On other systems they are the C library's functions.
 *
 * All of this leaves errno alone, so that threads of the program may call it at any place.
 */
#ifndef NYTP_KERNEL_H
#define NYTP_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#if defined(__linux__) && !defined(NYTP_NO_KERNEL_CALLS) &&                                    \
    (defined(__x86_64__) || defined(__aarch64__))
#define NYTP_KERNEL_CALLS 1
#else
#define NYTP_KERNEL_CALLS 0
#endif

struct pollfd;

/* Returns the clock of the calling thread's processor time, or of the process's if threads have
 * none. */
clockid_t nytp_kernel_cpu_clock(void);

/* Returns the nanoseconds of a clock, or 0 if the system has no such clock. */
uint64_t nytp_kernel_clock_ns(clockid_t clock);

/* Waits until CLOCK_MONOTONIC shows `until_ns` or a thread has called nytp_kernel_wake() since
 * *word was `seen`. It may return earlier: look at the clock. UINT64_MAX: no end. */
void nytp_kernel_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t until_ns);
void nytp_kernel_wake(_Atomic uint32_t *word);

/* Waits until a descriptor is ready, for at most `ns`. Returns how many are, or -errno. */
int nytp_kernel_poll(struct pollfd *fds, unsigned n, uint64_t ns);

#ifdef __linux__
/* Blocks these signals in the calling thread, with those that the C library uses itself, which
 * its own function leaves out. Returns the mask before. */
uint64_t nytp_kernel_set_signal_mask(uint64_t mask);
#endif

#if NYTP_KERNEL_CALLS
#include <sys/syscall.h>

/* Makes a system call; arguments that are left out are 0. Returns its result, or -errno. */
long nytp_kernel_call(long number, const long arguments[6]);
#endif

#endif
