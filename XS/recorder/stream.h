/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The stream on its way to the disk: when it is flushed, when the clock is calibrated, what
 * happens when it cannot be written.
 */
#ifndef NYTP_STREAM_H
#define NYTP_STREAM_H

#include "state.h"

/* The profile cannot be written any more. Bytes that are still put are dropped. */
void nytp_stream_give_up(struct nytp_recorder *rec);

void nytp_stream_flush(struct nytp_recorder *rec, enum nytp_flush how);
void nytp_stream_on_full(struct nytp_writer *writer); /* the writer's block is full */

/* What hangs on the clock: at reading `raw`, and when it is to be looked at again. */
void nytp_stream_flush_if_due(struct nytp_recorder *rec, uint64_t raw);
void nytp_stream_recalibrate_if_due(struct nytp_recorder *rec, uint64_t raw);

/* Flushes that calls ask for may take one part in WAIT_SHARE of the time, and MOST_CREDIT_NS at
 * once: a program that blocks now and then flushes each time, one that reads a socket byte by
 * byte only now and then. */
bool nytp_stream_can_pay_flush(struct nytp_recorder *rec, uint64_t raw);
/* One that began at reading `raw` is done. */
void nytp_stream_pay_flush(struct nytp_recorder *rec, uint64_t raw);

/* A new stream: the clock is calibrated often at first. */
void nytp_stream_begin(struct nytp_recorder *rec);
/* Recording goes on now: flushes and calibrations are due from now. */
void nytp_stream_restart(struct nytp_recorder *rec);

void nytp_stream_plan_wake_up(struct nytp_recorder *rec, uint64_t raw);

/* Now, in ticks; while the clock stands still, when it was stopped. */
int64_t nytp_axis_now(const struct nytp_recorder *rec);

#endif
