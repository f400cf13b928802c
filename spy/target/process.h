/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Processes and threads in /proc.
 */
#ifndef NYTP_SPY_PROCESS_H
#define NYTP_SPY_PROCESS_H

#include "formats/base/strings.h"

#include <stdbool.h>
#include <sys/types.h>

struct nytp_process_state {
    char state; /* as in ps: R, S, D, T, Z; NUL: no such process */
    pid_t parent, tracer;
    uid_t uid; /* the real ones */
    gid_t gid;
};

struct nytp_process_state nytp_process_status(pid_t pid);

/* Returns whether it has ended or is about to: its memory may be gone already. Its parent need
 * not have waited for it. */
bool nytp_process_has_ended(pid_t pid);

/* Returns whether it is a kernel thread, which has no memory and runs no program. */
bool nytp_is_kernel_thread(pid_t pid);

/* Returns its start in ticks since boot, or 0 if unknown. It shows whether a pid was reused. */
uint64_t nytp_process_start_ticks(pid_t pid);

/* Returns the start of its program in seconds of the epoch. A forked worker's program began
 * with the ancestor that ran exec, as far as that still exists and may be read. */
double nytp_program_start(pid_t pid);

/* Returns the size of its memory, swapped out or not, or 0 if unknown. */
uint64_t nytp_process_bytes(pid_t pid);

/* Writes its command line in UTF-8, arguments separated by blanks, control characters and
 * invalid bytes as '?', at most size - 1 bytes. Returns false if there is none. */
bool nytp_process_command(pid_t pid, char *to, size_t size);

/* Writes perl's $0 in it: the script, or "-e". For another program with perl in it, or one that
 * has renamed itself, its first word; "" if it cannot be read. */
void nytp_process_script(pid_t pid, char *to, size_t size);

/* Writes its working directory as it sees it, below its own root. Returns false if unknown. */
bool nytp_process_folder(pid_t pid, char *to, size_t size);

/* Writes where a link in /proc/PID leads, or "". Returns false on failure, or if it is cut. */
bool nytp_process_link(pid_t pid, const char *name, char *to, size_t size);

/* Returns all processes as an array for free(). */
pid_t *nytp_processes(uint32_t *n);

/* Returns the tasks (threads) of a process as an array for free(). */
pid_t *nytp_tasks(pid_t pid, uint32_t *n);

/* Sorts process ids; returns whether a sorted list has one. */
void nytp_pids_sort(pid_t *pids, uint32_t n);
bool nytp_pid_is_among(pid_t pid, const pid_t *sorted, uint32_t n);

/* Reads a file of a task as text; returns the length, or 0. */
size_t nytp_task_read(pid_t pid, pid_t task, const char *name, char *to, size_t size);

/* Returns the id of a task as it sees it itself: in a container it differs from ours. */
pid_t nytp_task_inside(pid_t pid, pid_t task);

/* Opens a file of a thread, "schedstat" or "stat", for the functions below, or returns -1. */
int nytp_task_open(pid_t pid, pid_t task, const char *name);

struct nytp_task_state {
    char letter;   /* as in ps; NUL: the thread has ended */
    int processor; /* the processor it last ran on */
    int n_tasks;   /* threads of its process, perl or not */
};
struct nytp_task_state nytp_task_state(int stat_fd);

/* How long a thread ran, how long it was ready while others ran, and how often it was given a
 * processor. The kernel updates the first when the thread stops running and at each tick, up to
 * 10 ms late; the others when the thread goes on. */
struct nytp_task_times {
    int64_t ran_ns, waited_ns; /* -1: the thread has ended, or the kernel does not count */
    int64_t n_turns;           /* 0: the same */
};
struct nytp_task_times nytp_task_times(int schedstat_fd);

/* Returns whether the kernel lists children (CONFIG_PROC_CHILDREN). If not, nytp_children()
 * reads the status of every process. */
bool nytp_children_are_listed(void);

/* Returns the children of some processes (pids in ascending order) as an array for free(),
 * without those that have ended and were waited for. */
pid_t *nytp_children(const pid_t *parents, uint32_t n_parents, uint32_t *n);

/* Returns whether a process runs its parent's program or a perl, by /proc/PID/exe. */
bool nytp_child_may_be_perl(pid_t child, pid_t parent);

#endif
