/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The present state of a thread, from the kernel.
 */
#ifndef NYTP_SPY_DOING_H
#define NYTP_SPY_DOING_H

#include <stddef.h>
#include <sys/types.h>

/* Returns the state of a thread as ps shows it, or 0 if there is no such thread. Writes to `to`
 * the system call of a waiting thread with its subject and the other end (other_end.h), as
 * "read of /tmp/x (fd 3)", or "". */
char nytp_task_doing(pid_t pid, pid_t task, char *to, size_t size);

#endif
