/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A Unix socket for control of the recorder: lines in, lines out. The tick thread (ticks.h)
 * waits on it, so no system call of the program is interrupted and answers come while the
 * program sleeps. Commands run at the program's next safe point.
 *
 * A client is greeted with "nytp PID". It sends a line with a command and maybe a name. The
 * answer is a line that begins with "ok" or "error", or for `status` the state.
 */
#ifndef NYTP_CONTROL_SOCKET_H
#define NYTP_CONTROL_SOCKET_H

#include "request.h"

#include "XS/platform/own_fd.h"
#include "XS/state/states.h"
#include "where.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

/* An interpreter that obeys commands. Fields are read in the tick thread and written in the
 * interpreter's own, unless marked as the tick thread's. */
struct nytp_control_target {
    void *interpreter;                /* to be stopped at a safe point */
    const enum nytp_state *state;     /* for `status` */
    unsigned thread;                  /* its number; 0: the first */
    const char *const volatile *path; /* of the profile, if the state says that there is one */
    const time_t *began_s;            /* begin of the profile */
    char answer[NYTP_CONTROL_LINE];
    struct nytp_where where; /* the tick thread's */
    atomic_uint obeyed;      /* number of the last command it obeyed */
    struct nytp_control_target *next;
};

/* Adds an interpreter; it obeys later commands. The caller owns the target and removes it. */
void nytp_control_add_target(struct nytp_control_target *target);
void nytp_control_remove_target(struct nytp_control_target *target);

/* In a fork's child: leaves only this target, or NULL for none, and no client. */
void nytp_control_forked(struct nytp_control_target *only);

/* Makes the socket, for this user and root only, and listens. A file at `path` stays, unless it
 * is an abandoned socket of ours. Returns false with the reason in `error`. */
bool nytp_control_listen(const char *path, char *error, size_t size);

/* At each safe point: returns true, once, if the socket has to be made again, since the program
 * closed it or became another user, whom it would not let in. */
bool nytp_control_is_lost(void);

/* Returns the newest command if this target has not obeyed it, with its argument or "" in
 * `name`, else NYTP_COMMAND_NONE. *number identifies it. */
enum nytp_command nytp_control_command(const struct nytp_control_target *target,
                                       char name[NYTP_CONTROL_LINE], unsigned *number);

/* Gives the client that waits for the newest command to one caller; false for the others. */
bool nytp_control_take_client(struct nytp_own_fd *client);

/* Switches all targets off after this time, unless another command comes first. The first call
 * for command `number` counts. */
void nytp_control_off_after(unsigned number, uint64_t ns);

/* Answers command `number` with one line, without its newline. */
void nytp_control_answer(struct nytp_control_target *target, unsigned number, const char *line);

/* Gives all targets this command, as if it came from the socket. */
void nytp_control_ask_all(enum nytp_command what);

/* Closes the socket for now. If the program goes on, nytp_control_is_lost() returns true. */
void nytp_control_leave(void);

/* Removes the name, for a process that dies of a signal; may be called in it. */
void nytp_control_remove_name(void);

/* Closes the socket, if any, and removes its name if this process made it. */
void nytp_control_close(void);

#endif
