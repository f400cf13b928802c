/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Calls that were open when recording began. They get frames, so that their callees have whole
 * stacks. But perl's save stack, which closes other frames, has grown beyond their scopes, so
 * no destructor reports their end. It is seen at the next event, from perl's contexts; ops that
 * leave a sub are events.
 */
#ifndef NYTP_OPEN_AT_START_H
#define NYTP_OPEN_AT_START_H

#include "XS/perl/perl_compat.h"
#include "XS/perl/perl_stack.h"

struct nytp_recorder;

struct nytp_open_at_start {
    struct nytp_perl_call call;
    uint32_t serial;
};

/* After recording has begun: gives frames to open calls without one. */
void nytp_open_at_start_add(pTHX_ struct nytp_recorder *rec);

/* Closes those that have been left. Needed only while rec->on.first_look, and before recording
 * begins again. */
void nytp_open_at_start_check(pTHX_ struct nytp_recorder *rec) NYTP_COLD;

/* nytp_call_goto() for a jumping sub that may be such a call. */
OP *nytp_open_at_start_goto(pTHX_ struct nytp_recorder *rec, CV *cv);

/* Forgets these calls because their frames are freed. */
void nytp_open_at_start_forget(struct nytp_recorder *rec);

#endif
