/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * System calls in which programs wait, and what their arguments tell of the wait.
 */
#ifndef NYTP_SAMPLING_WAIT_CALLS_H
#define NYTP_SAMPLING_WAIT_CALLS_H

#include "formats/stream/comments/wait_records.h"

enum nytp_wait_subject {
    NYTP_WAITS_NOTHING,
    NYTP_WAITS_FILE,   /* the first argument is a descriptor */
    NYTP_WAITS_LOCK,   /* the same, and a lock of the file */
    NYTP_WAITS_SELECT, /* files, given as by select() */
    NYTP_WAITS_POLL,   /* by poll() */
    NYTP_WAITS_EPOLL,  /* the first argument is a descriptor of epoll_create() */
    NYTP_WAITS_CHILD,
};

struct nytp_wait_call {
    long number;
    const char *name;
    enum nytp_wait_subject subject;
    enum nytp_wait_reason reason; /* NYTP_WAIT_UNKNOWN: the subject tells */
};

/* The table has the calls of this machine; the last has no name. */
extern const struct nytp_wait_call nytp_wait_calls[];

#endif
