/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Calls that were open when recording began. They get frames like all others, so that what they
 * call has its whole stack; but the program's save stack, by which other frames are closed, has
 * been built up beyond their scopes, so that nothing tells when they are left. It is seen at
 * the next event, from perl's contexts; the ops that leave a sub are events.
 */
#ifndef NYTP_OPEN_AT_START_H
#define NYTP_OPEN_AT_START_H

#include "XS/perl/perl_compat.h"
#include "XS/perl/perl_stack.h"

struct nytp_recorder;

/* Such a call, and its frame. */
struct nytp_open_at_start {
    struct nytp_perl_call call;
    uint32_t serial; /* of the frame */
};

/* The part of the state that open_at_start.c writes. */
struct nytp_rec_open_at_start {
    struct nytp_open_at_start *all; /* outermost first */
    uint32_t n, size;
};

/* Recording is about to begin: calls that were left since it stopped are closed. */
void nytp_open_at_start_close_left(pTHX_ struct nytp_recorder *rec);

/* Recording has begun: calls that are open and have no frame get one. */
void nytp_open_at_start_add(pTHX_ struct nytp_recorder *rec);

/* Close those that have been left. Only while there are any: rec->looks_first. */
void nytp_open_at_start_check(pTHX_ struct nytp_recorder *rec) NYTP_COLD;

/* `goto &sub` where the sub that jumps may be such a call: as nytp_call_goto(). */
OP *nytp_open_at_start_goto(pTHX_ struct nytp_recorder *rec, CV *cv);

/* The frames that they have are gone. */
void nytp_open_at_start_forget(struct nytp_recorder *rec);
void nytp_open_at_start_free(struct nytp_recorder *rec);

#endif
