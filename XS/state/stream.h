/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The stream on its way to the disk: when it is flushed, when the clock is calibrated, what
 * happens when it cannot be written. Records are put into rec->writer by everybody; its bytes
 * go through here to rec->file.
 *
 * "raw" is a reading of the raw clock (clock.h): cycles of the counter or nanoseconds.
 */
#ifndef NYTP_STREAM_H
#define NYTP_STREAM_H

#include "XS/perl/perl_compat.h"

#include "formats/stream/write/writer.h"

struct nytp_recorder;

/* The part of the state that stream.c writes. */
struct nytp_rec_stream {
    uint64_t begun_raw;      /* when the file began */
    uint64_t flush_raw;      /* when the last timed flush was */
    int64_t credit_raw;      /* what flushes before calls that may block may cost yet */
    uint64_t credited_raw;   /* when that was worked out */
    uint64_t memory_raw;     /* when memory in core was told last */
    uint64_t synced_raw;     /* bytes of the stream that are on disk */
    uint64_t calibrated_raw; /* when the last calibration was */
    uint64_t calibrate_ns;   /* from one to the next; grows */
    bool is_abandoned;       /* the profile cannot be written, which was said */
};

/* Say, once, that the profile cannot be written any more, and stop recording. Bytes that are
 * still put are dropped. Called wherever writing has failed. */
void nytp_stream_abandon_profile(struct nytp_recorder *rec);
/* The same where the reason has been said already. */
void nytp_stream_abandon_profile_silently(struct nytp_recorder *rec);

/* Put what is buffered on disk, NYTP_FLUSH_FINISH with the end of compression. The time that
 * this takes is cut out of the axis. Gives up when it fails. */
void nytp_stream_flush(struct nytp_recorder *rec, enum nytp_flush how);

/* For the writer: its block is full. */
void nytp_stream_on_full(struct nytp_writer *writer);

/* A new stream: the clock is calibrated often at first. */
void nytp_stream_begin(struct nytp_recorder *rec);
/* Recording goes on now: flushes and calibrations are due from now. */
void nytp_stream_restart(struct nytp_recorder *rec);

/* Another profile file was written for a while; the one that has this is, from now on. */
void nytp_stream_restore(struct nytp_recorder *rec, const struct nytp_rec_stream *stream);

/* What hangs on the clock: do it at reading `raw` if it is due, and set rec->wake_raw, when it
 * is to be looked at again. */
void nytp_stream_flush_if_due(struct nytp_recorder *rec, uint64_t raw);
void nytp_stream_tell_memory_if_due(struct nytp_recorder *rec, uint64_t raw);
void nytp_stream_tell_memory_of_label(struct nytp_recorder *rec, uint64_t raw);
void nytp_stream_recalibrate_if_due(struct nytp_recorder *rec, uint64_t raw);
void nytp_stream_plan_wake_up(struct nytp_recorder *rec, uint64_t raw);

/* Flushes that calls ask for may take one part in WAIT_SHARE of the time, and MOST_CREDIT_NS at
 * once: a program that blocks now and then flushes each time, one that reads a socket byte by
 * byte only now and then. */
bool nytp_stream_can_pay_flush(struct nytp_recorder *rec, uint64_t raw);
/* One that began at reading `raw` is done. */
void nytp_stream_pay_flush(struct nytp_recorder *rec, uint64_t raw);

/* Compare the counter with the kernel's clock. Where they have parted the file is told so, and
 * *raw is read anew: from here on it is made of clock_gettime(). */
void nytp_stream_watch_clock(struct nytp_recorder *rec, uint64_t *raw);

/* Now, in ticks; while the clock stands still, when it was stopped. With sample=: as far as
 * samples account for the time. */
int64_t nytp_axis_now(struct nytp_recorder *rec);

#endif
