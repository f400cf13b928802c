/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What a client of the control socket may send: a line of a command and maybe a name behind a
 * space, in pieces of any length. All else is none.
 */
#ifndef NYTP_REQUEST_H
#define NYTP_REQUEST_H

#include <stddef.h>

enum {
    NYTP_CONTROL_LINE = 512, /* the longest, with its end */
};

enum nytp_command {
    NYTP_COMMAND_NONE,
    NYTP_COMMAND_ON,
    NYTP_COMMAND_OFF,
    NYTP_COMMAND_CHECKPOINT,
    NYTP_COMMAND_ROTATE,
    NYTP_COMMAND_HEAP,
    NYTP_COMMAND_STATUS, /* this and the next two are not for the program */
    NYTP_COMMAND_CANCEL,
    NYTP_COMMAND_STACK,
    NYTP_COMMAND_UNKNOWN,
    NYTP_COMMAND_TOO_LONG,
};

/* The word for one of those up to NYTP_COMMAND_STACK. */
extern const char *const nytp_command_words[];

/* Begins as zeros. What comes is to be put at line + n, as much as there is room for. */
struct nytp_request {
    char line[NYTP_CONTROL_LINE];
    unsigned n;
};

/* `n_more` bytes have been put there. NYTP_COMMAND_NONE: the line has no end yet. *name is what
 * stands behind the command, "" if nothing does, valid as long as the request is. Runs in the
 * tick thread (raw_thread.h). */
enum nytp_command nytp_request_add(struct nytp_request *request, size_t n_more,
                                   const char **name);

#endif
