/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A Unix socket by which somebody else steers the recorder: lines in, lines out. The tick
 * thread (ticks.h) waits on it, so that no system call of the program is interrupted and an
 * answer comes while the program sleeps; what is to be done waits for the program's next safe
 * point.
 *
 * Who connects is greeted with "nytp PID". A line of a command and maybe a name follows, and
 * the answer is a line that begins with "ok", "error" or, for `status`, tells how things stand.
 */
#ifndef NYTP_CONTROL_SOCKET_H
#define NYTP_CONTROL_SOCKET_H

#include "request.h"

#include "XS/ground/own_fd.h"
#include "where.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

/* Who obeys: an interpreter of the process. What is not said to be the tick thread's is read
 * there and written in the interpreter's own. */
struct nytp_control_target {
    void *interpreter; /* that is asked to a safe point */
    const int *state;  /* an enum nytp_state, for `status` */
    unsigned thread;   /* its number; 0: the first */
    const char *const volatile
        *path;             /* of the profile, while the state says that there is one */
    const time_t *began_s; /* and when it began */
    char answer[NYTP_CONTROL_LINE];
    struct nytp_where where; /* the tick thread's */
    atomic_uint obeyed;      /* the number of the last command that it did */
    struct nytp_control_target *next;
};

/* Add an interpreter: it obeys what is asked from now on, not what was asked before. The target
 * stays the caller's, who removes it before freeing it. */
void nytp_control_add_target(struct nytp_control_target *target);
void nytp_control_remove_target(struct nytp_control_target *target);

/* In the child of a fork there is only this one; NULL: none. */
void nytp_control_forked(struct nytp_control_target *only);

/* Make the socket, for this user and root only, and listen. What is at `path` stays, unless it
 * is a socket of ours that nobody listens to any more. False: `error` says why. */
bool nytp_control_listen(const char *path, char *error, size_t size);

/* At each safe point: whether to listen anew, since the program closed the socket or has become
 * another user, whom that would not let in. Said once. */
bool nytp_control_is_lost(void);

/* The newest command, if this one has not obeyed it, with its name or "" in `name`;
 * NYTP_COMMAND_NONE: there is nothing to do. *number tells it from others. */
enum nytp_command nytp_control_command(const struct nytp_control_target *target,
                                       char name[NYTP_CONTROL_LINE], unsigned *number);

/* The client that waits for the newest command. It is given to one who asks; false: to nobody any
 * more. */
bool nytp_control_take_client(struct nytp_own_fd *client);

/* Unless another command comes first, all are to be off after this time. For the one that is
 * called first about command `number`. */
void nytp_control_off_after(unsigned number, uint64_t ns);

/* Command `number` has been obeyed: one line, without its end. */
void nytp_control_answer(struct nytp_control_target *target, unsigned number, const char *line);

/* All are to do this, as if it had come by the socket. */
void nytp_control_ask_all(enum nytp_command what);

/* The same for now: if the program goes on after all, nytp_control_is_lost() says so. */
void nytp_control_leave(void);

/* The same for a process that dies of a signal, in which this may be called. */
void nytp_control_remove_name(void);

/* No more; the socket's name is removed if this process made it. Nothing if there is none. */
void nytp_control_close(void);

#endif
