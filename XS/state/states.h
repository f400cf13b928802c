/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The states of a recorder. It begins as NYTP_LOADED and ends as NYTP_CLOSED or NYTP_OFF. Only
 * nytp_state_set() (state.h) changes the state; life.c and load.c decide when.
 */
#ifndef NYTP_STATES_H
#define NYTP_STATES_H

enum nytp_state {
    NYTP_LOADED,    /* options may still come */
    NYTP_ARMED,     /* hooks are in place, the first event starts recording */
    NYTP_RECORDING, /* a profile is open and receives events */
    NYTP_PAUSED,    /* a profile is open, but DB::disable_profile() was called or the phase of
                     * start= has not come */
    NYTP_CLOSED,    /* the profile is finished or could not be written; DB::enable_profile() may
                     * begin another */
    NYTP_OFF,       /* for good: refused, or a child beyond forkdepth= */
};

/* The kinds of profile files. A recorder writes one kind at a time (pause_for_exact.h). */
enum nytp_kind {
    NYTP_EXACT, /* every event */
    NYTP_SAMPLED,
    NYTP_KINDS,
};

#endif
