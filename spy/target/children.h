/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The processes that others have started.
 */
#ifndef NYTP_SPY_CHILDREN_H
#define NYTP_SPY_CHILDREN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether the kernel lists them (CONFIG_PROC_CHILDREN). If not, nytp_children() reads the
 * status of every process that there is. */
bool nytp_children_are_listed(void);

/* The children of some processes, whose numbers are in ascending order, as an array for free():
 * those that have not ended, or were not waited for. */
pid_t *nytp_children(const pid_t *parents, uint32_t n_parents, uint32_t *n);

/* Whether a process runs the program that its parent runs, or a perl: /proc/PID/exe. */
bool nytp_child_may_be_perl(pid_t child, pid_t parent);

#endif
