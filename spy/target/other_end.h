/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The other end of a wait: the peer of a socket, the holder of a lock, a child.
 */
#ifndef NYTP_SPY_OTHER_END_H
#define NYTP_SPY_OTHER_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Each writes a text and returns true, or returns false if nothing is known; `to` stays. */

/* "tcp 127.0.0.1:80, peer 127.0.0.1:40022", "unix socket /run/x" or for a client "unix socket,
 * peer /run/x of process 17 (perl server.pl)": the socket of this inode, in the process's
 * network namespace. A unix socket's peer is known only in our own namespace. */
bool nytp_describe_socket(pid_t pid, uint64_t inode, char *to, size_t size);

/* "held by process 17 (perl worker.pl)": the lock that a process waits for. */
bool nytp_describe_lock_holder(pid_t pid, char *to, size_t size);

/* "process 17 (perl worker.pl)": the child with this number in the namespace of its parent
 * `pid`. For -1 "any of 3 children", or the only one. */
bool nytp_describe_child(pid_t pid, pid_t child, char *to, size_t size);

#endif
