/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Child processes.
 */
#ifndef NYTP_SPY_CHILDREN_H
#define NYTP_SPY_CHILDREN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Returns whether the kernel lists children (CONFIG_PROC_CHILDREN). If not, nytp_children()
 * reads the status of every process. */
bool nytp_children_are_listed(void);

/* Returns the children of some processes (pids in ascending order) as an array for free(),
 * without those that have ended and were waited for. */
pid_t *nytp_children(const pid_t *parents, uint32_t n_parents, uint32_t *n);

/* Returns whether a process runs its parent's program or a perl, by /proc/PID/exe. */
bool nytp_child_may_be_perl(pid_t child, pid_t parent);

#endif
