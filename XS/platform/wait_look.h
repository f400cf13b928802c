/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Finds what a thread of the program waits for. The kernel names its system call
 * (/proc/thread-self/syscall), and the call's descriptor names the file.
 *
 * If the kernel names no call, the reason is unknown.
 */
#ifndef NYTP_WAIT_LOOK_H
#define NYTP_WAIT_LOOK_H

#include "formats/stream/comments/wait_records.h"
#include "own_fd.h"

enum {
    NYTP_PEER_BYTES = 112, /* of a socket address */
};

struct nytp_wait_seen {
    enum nytp_wait_reason reason; /* NYTP_WAIT_UNKNOWN: it runs, or nothing is known */
    uint32_t peer_len;            /* of a socket; 0: none */
    unsigned char peer[NYTP_PEER_BYTES];
};

/* A system call that a thread is blocked in, as the kernel shows it; number -1: it is blocked
 * in none, as in a page fault. */
enum {
    NYTP_BLOCKED_ARGUMENTS = 4, /* the first ones of a call */
};
struct nytp_blocked {
    long number;
    unsigned long arguments[NYTP_BLOCKED_ARGUMENTS];
};

/* Reads a thread's /proc/PID/task/TID/syscall. Returns false if the thread runs or the system
 * does not say. Changes errno. */
bool nytp_blocked_read(int fd, struct nytp_blocked *blocked);

/* Call it in the thread to be looked at. Opens the files that nytp_wait_look() reads, in place
 * of those of another thread or of the parent process. */
void nytp_wait_look_begin(struct nytp_own_fd *call);
void nytp_wait_look_end(struct nytp_own_fd *call);

/* Returns whether the program has closed the files opened for it. */
bool nytp_wait_look_is_lost(const struct nytp_own_fd *call);

/* In the tick thread: writes what the thread waits for; nothing if it runs. */
void nytp_wait_look(const struct nytp_own_fd *call, long pid, struct nytp_wait_seen *seen);

/* Writes the socket's other side, "127.0.0.1:5432" or the path of a local socket, or "" if
 * there is none. */
void nytp_wait_put_peer(const struct nytp_wait_seen *seen, char *text, size_t size);

#endif
