/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Facts about processes and locks that Linux, macOS and FreeBSD each report in a different
 * way, and a few calls that one of them lacks. doc/platforms.md lists what each system cannot
 * report.
 */
#ifndef NYTP_PLATFORM_H
#define NYTP_PLATFORM_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#ifdef __APPLE__
#define st_ctim st_ctimespec
#define st_mtim st_mtimespec /* the name in POSIX since 2008 */
#endif

struct nytp_system_process {
    long parent, group;
    struct timespec began; /* on the clock of file times */
};

/* Returns false if there is no such process or the system does not say. */
bool nytp_platform_process(long pid, struct nytp_system_process *process);

/* Returns true if the process has this file open. */
bool nytp_platform_has_open(long pid, const struct stat *file);

/* Returns the pid that holds the flock() on a file, or 0 if the system does not say. */
long nytp_platform_lock_holder(dev_t dev, ino_t ino);

/* Returns true if the program got rights from its file: set-user-ID, set-group-ID or
 * capabilities. Linux remembers this from the start of the program. Elsewhere the present ids
 * are compared, which the program may have changed. */
bool nytp_platform_is_setuid(void);

/* Returns true if root started the program. */
bool nytp_platform_is_of_root(void);

/* Returns true if the environment at the start of the program had this variable ("NAME="),
 * even if it was removed since. Also true if the system does not say. */
bool nytp_platform_began_with(const char *variable);

/* Returns how often the calling thread gave up its processor voluntarily, or -1 if unknown. */
int64_t nytp_platform_times_slept(void);

/* Resident memory of this process, now and at its peak, in bytes. Safe in signal handlers.
 * Returns false if the system does not say. */
bool nytp_platform_memory(int64_t *now, int64_t *peak);

/* The present resident memory alone, at a third of the cost. */
bool nytp_platform_resident(int64_t *now);

/* Discards these signals if they are pending. The thread must block them. */
void nytp_platform_drop_signals(const sigset_t *signals);

#endif
