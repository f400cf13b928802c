/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Requests of a client of the control socket: a line with a command and maybe a name after a
 * space, in pieces of any length. Other input is refused.
 */
#ifndef NYTP_REQUEST_H
#define NYTP_REQUEST_H

#include <stddef.h>

enum {
    NYTP_CONTROL_LINE = 512, /* longest line, with its newline */
};

enum nytp_command {
    NYTP_COMMAND_NONE,
    NYTP_COMMAND_ON,
    NYTP_COMMAND_OFF,
    NYTP_COMMAND_CHECKPOINT,
    NYTP_COMMAND_ROTATE,
    NYTP_COMMAND_HEAP,
    NYTP_COMMAND_STATUS, /* this and the next two need no safe point */
    NYTP_COMMAND_CANCEL,
    NYTP_COMMAND_STACK,
    NYTP_COMMAND_UNKNOWN,
    NYTP_COMMAND_TOO_LONG,
};

/* The word of each command up to NYTP_COMMAND_STACK. */
extern const char *const nytp_command_words[];

/* Starts as zeros. Put input at line + n, as much as there is room for. */
struct nytp_request {
    char line[NYTP_CONTROL_LINE];
    unsigned n;
};

/* Adds `n_more` bytes put there. Returns NYTP_COMMAND_NONE if the line is incomplete, else its
 * command. *name is the rest of the line, or "", valid as long as the request. Runs in the tick
 * thread. */
enum nytp_command nytp_request_add(struct nytp_request *request, size_t n_more,
                                   const char **name);

#endif
