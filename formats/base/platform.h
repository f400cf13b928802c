/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What Linux, macOS and FreeBSD do each in its own way: what the system knows of processes and
 * locks, and the few constructs that one of them lacks. What a system does not tell is as if it
 * were not so; doc/platforms.md lists that.
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
#define st_mtim st_mtimespec /* as POSIX has called it since 2008 */
#endif

struct nytp_system_process {
    long parent, group;
    struct timespec began; /* on the clock of file times */
};

/* False where the system does not tell, or has no such process. */
bool nytp_platform_process(long pid, struct nytp_system_process *process);

/* Whether the process has this file open. */
bool nytp_platform_has_open(long pid, const struct stat *file);

/* The pid that holds the flock() on a file; 0 where the system does not tell. */
long nytp_platform_lock_holder(dev_t dev, ino_t ino);

/* Whether the program has rights by its file: set-user-ID, set-group-ID or capabilities. Linux
 * tells how it was when the program began; elsewhere ids are compared, which it may have
 * changed since. */
bool nytp_platform_is_setuid(void);

/* Whether root started the program. */
bool nytp_platform_is_of_root(void);

/* Whether the environment that the program was started with has this variable, "NAME=", whatever
 * became of it since. True where the system does not tell. */
bool nytp_platform_began_with(const char *variable);

/* How often the calling thread has slept: given up its processor of itself. -1: not known. */
int64_t nytp_platform_times_slept(void);

/* The memory of this process that is in core, now and at its most, in bytes. False where the
 * system does not tell. To be called in signal handlers, too. */
bool nytp_platform_memory(int64_t *now, int64_t *peak);

/* The same of now alone, at a third of the cost. */
bool nytp_platform_resident(int64_t *now);

/* Of these signals, which the thread blocks, take those that are pending. */
void nytp_platform_drop_signals(const sigset_t *signals);

#endif
