/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * How long accept() waited, in recordings that leave it out of calls. Devel::NYTProf records
 * such a call with a time of 0, and no call around it holds the wait; the statement does. Its
 * record comes after the call, and after the returns of calls that end with that statement. So
 * calls are held back from an accept of no time on until the statement's record comes: then the
 * wait is known, and all of them pass as a recorder writes them that counts it.
 */
#ifndef NYTP_ACCEPT_WAITS_H
#define NYTP_ACCEPT_WAITS_H

#include "formats/base/arena.h"
#include "formats/base/strings.h"
#include "formats/build/tree/tick_sums.h"

#include <stdbool.h>
#include <stdint.h>

/* Calls that are held back; damaged input has more, and loses the wait. */
#define NYTP_MOST_HELD_CALLS 65536u

/* An entry, or a return with its depth, sub and times. */
struct nytp_held_call {
    uint32_t depth; /* 0: an entry */
    uint32_t sub;   /* builder's name id */
    uint32_t file, line;
    int64_t incl_ticks, excl_ticks;
    bool is_leaf;
};

struct nytp_open_wait { /* by depth */
    uint32_t depth;
    int64_t ticks;
};

struct nytp_accept_waits {
    NYTP_LIST(struct nytp_held_call) held; /* begin with an accept */
    uint32_t accept;    /* the last accept among them */
    int64_t leaf_ticks; /* of builtins and xsubs in the statement that runs */
    NYTP_LIST(struct nytp_open_wait) open; /* waits that outer calls do not know of yet */
    struct nytp_tick_sums by_line; /* (file, line) -> of all accepts there */
};

void nytp_accept_waits_free(struct nytp_accept_waits *waits);

/* Returns whether a sub's name is that of the builtin accept. */
bool nytp_is_accept(struct nytp_name name);

/* Holds back a call; `is_accept`: an accept of no time. Returns false if memory is out. */
bool nytp_accept_waits_hold(struct nytp_accept_waits *waits, struct nytp_held_call call,
                            bool is_accept);

/* The statement's time is known: its last accept gets the part that its other calls do not
 * hold. Returns false if memory is out. */
bool nytp_accept_waits_note(struct nytp_accept_waits *waits, uint32_t file, uint32_t line,
                            int64_t ticks);

/* A call returns at `depth` that itself waited `own_ticks` in accept. Returns in *ticks what
 * accepts in calls below it waited. Returns false if memory is out. */
bool nytp_accept_waits_return(struct nytp_accept_waits *waits, uint32_t depth,
                              int64_t own_ticks, int64_t *ticks);

#endif
