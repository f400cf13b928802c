/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Sampling: instead of every statement and call, which calls were open at ticks of a clock.
 *
 * What is written is a stream like any other. A call that is seen in one sample after another
 * is entered once; it is entered and left at ticks. The time from one tick to the next belongs
 * to the statement that the later one hit: sleeping is one statement for a long time.
 */
#ifndef NYTP_SAMPLE_H
#define NYTP_SAMPLE_H

#include "XS/perl/perl_compat.h"

struct nytp_recorder;

/* Let ticks come from now on; again after nytp_sample_pause(). False: they cannot be had, and a
 * message has said so. */
bool nytp_sample_begin(pTHX_ struct nytp_recorder *rec);

/* Put what came until now into the stream. No perl code runs. */
void nytp_sample_catch_up(pTHX_ struct nytp_recorder *rec);

/* For the end in a signal handler: writes the time since the last sample, and the open calls
 * that no tick may have seen. Allocates nothing. */
void nytp_sample_put_blocked(struct nytp_recorder *rec);

/* Put the last sample, which is kept back until the next one is known, into the stream. For the
 * end in a signal handler. */
void nytp_sample_put_last(struct nytp_recorder *rec);

/* No ticks come any more: recording is paused or over. */
void nytp_sample_pause(pTHX_ struct nytp_recorder *rec);

/* At a safe point: whether ticks wait, and taking all that do: each becomes a sample in the
 * stream, or is forgotten while recording is paused. */
bool nytp_sample_is_due(const struct nytp_recorder *rec);

/* After the end of the profile was written: whether the program has gone on for so long that
 * the end is to be taken back, and the ticks that wait recorded. */
bool nytp_sample_is_worth_new_end(const struct nytp_recorder *rec);
void nytp_sample_take_ticks(pTHX_ struct nytp_recorder *rec);

/* perl frees a statement: nothing may point to it any more. */
void nytp_sample_forget_cop(struct nytp_recorder *rec, const OP *op);

/* At the end of a profile: if a second of processor time and more has no sample, say so, and
 * why. */
void nytp_sample_say_if_none(const struct nytp_recorder *rec);

#endif
