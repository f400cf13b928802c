/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * For whom a process waits: the peer of a socket, who holds a lock, a child.
 */
#ifndef NYTP_SPY_OTHER_END_H
#define NYTP_SPY_OTHER_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Each writes a text and returns true, or false where nothing is known: then the text is as it
 * was. */

/* "tcp 127.0.0.1:80, peer 127.0.0.1:40022", "unix socket /run/x" or, of a client, "unix socket,
 * peer /run/x of process 17 (perl server.pl)": the socket of this inode, in the network
 * namespace of the process. The peer of the last is known only if that is ours. */
bool nytp_tell_socket(pid_t pid, uint64_t inode, char *to, size_t size);

/* "held by process 17 (perl worker.pl)": the lock for which a process waits. */
bool nytp_tell_lock_holder(pid_t pid, char *to, size_t size);

/* "process 17 (perl worker.pl)": the child that has this number where its parent `pid` is; with
 * -1 "any of 3 children", or the only one. */
bool nytp_tell_child(pid_t pid, pid_t child, char *to, size_t size);

#endif
