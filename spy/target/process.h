/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What /proc tells of processes and their threads.
 */
#ifndef NYTP_SPY_PROCESS_H
#define NYTP_SPY_PROCESS_H

#include "formats/base/strings.h"

#include <stdbool.h>
#include <sys/types.h>

struct nytp_process_state {
    char state; /* as in ps: R, S, D, T, Z; NUL: there is no such process */
    pid_t parent, tracer;
    uid_t uid; /* the real ones */
    gid_t gid;
};

struct nytp_process_state nytp_process_status(pid_t pid);

/* Whether it is a thread of the kernel, which has no memory of its own and runs no program. */
bool nytp_is_kernel_thread(pid_t pid);

/* When it began, in the system's ticks since it was booted, by which processes that have the
 * same number one after the other are told apart; 0: not known. */
uint64_t nytp_process_start_ticks(pid_t pid);

/* The same in seconds of the epoch. */
double nytp_process_start(pid_t pid);

/* When the program in it began, in seconds of the epoch: that of a worker began with the
 * process above it that the worker was forked off, as far as that is there yet and may be
 * looked at. */
double nytp_program_start(pid_t pid);

/* How much memory it has, swapped out or not; 0: not known. */
uint64_t nytp_process_bytes(pid_t pid);

/* Its command line in UTF-8, arguments separated by blanks, control characters and bytes that
 * are no UTF-8 as '?'; at most size - 1 bytes. False: there is none. */
bool nytp_process_command(pid_t pid, char *to, size_t size);

/* What perl calls $0 in it: the script, or "-e"; of another program that has perl in it, or one
 * that has named itself, its first word. "" where nothing can be read. */
void nytp_process_script(pid_t pid, char *to, size_t size);

/* The folder that it is in, as it calls that itself: below its own root. False: it cannot be
 * told. */
bool nytp_process_folder(pid_t pid, char *to, size_t size);

/* The processes that there are, as an array for free(). */
pid_t *nytp_processes(uint32_t *n);

/* The tasks (threads) of a process, as an array for free(). */
pid_t *nytp_tasks(pid_t pid, uint32_t *n);

/* The id of a task as it sees it itself: in a container another than ours. */
pid_t nytp_task_inside(pid_t pid, pid_t task);

/* A file of a thread, "schedstat" or "stat", for the functions below; -1: there is none. */
int nytp_task_open(pid_t pid, pid_t task, const char *name);

struct nytp_task_state {
    char letter;   /* its state as in ps, NUL: the thread is gone */
    int processor; /* that it last ran on */
    int n_tasks;   /* threads of its process, whatever they run */
};
struct nytp_task_state nytp_task_state(int stat_fd);

/* How long a thread ran, and how long it was ready to run while others did. The kernel adds to
 * the first when the thread stops running and at each tick, up to 10 ms late; to the second
 * when the thread goes on. */
struct nytp_task_times {
    int64_t ran_ns, waited_ns; /* -1: the thread is gone, or the kernel does not count */
};
struct nytp_task_times nytp_task_times(int schedstat_fd);

#endif
