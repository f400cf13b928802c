/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The stream on its way to disk: flushes, calibration of the clock, and write errors. Any file
 * puts records into rec->writer; its bytes go through here to rec->file.
 *
 * "raw" is a reading of the raw clock (clock.h): cycles of the counter or nanoseconds.
 */
#ifndef NYTP_STREAM_H
#define NYTP_STREAM_H

#include "XS/perl/perl_compat.h"

#include "formats/stream/write/writer.h"

struct nytp_recorder;

struct nytp_rec_stream {
    uint64_t begun_raw;      /* begin of the file */
    uint64_t flush_raw;      /* last timed flush */
    int64_t credit_raw;      /* time that flushes before blocking calls may still take */
    uint64_t credited_raw;   /* when that was computed */
    uint64_t memory_raw;     /* last record of memory in core */
    uint64_t synced_raw;     /* bytes of the stream on disk */
    uint64_t calibrated_raw; /* last calibration */
    uint64_t calibrate_ns;   /* interval of calibrations; grows */
    bool is_abandoned;       /* the profile cannot be written; this was reported */
};

/* Reports, once, that the profile cannot be written, and stops recording. Later bytes are
 * dropped. Call it wherever writing has failed. */
void nytp_stream_abandon_profile(struct nytp_recorder *rec);
/* The same if the reason has been reported already. */
void nytp_stream_abandon_profile_silently(struct nytp_recorder *rec);

/* Writes the buffer to disk; NYTP_FLUSH_FINISH also ends compression. The time this takes is
 * cut out of the axis. Abandons the profile on failure. */
void nytp_stream_flush(struct nytp_recorder *rec, enum nytp_flush how);

/* The writer's function for a full block. */
void nytp_stream_on_full(struct nytp_writer *writer);

/* Begins a new stream: the clock is calibrated often at first. */
void nytp_stream_begin(struct nytp_recorder *rec);
/* Recording goes on: flushes and calibrations are timed from now. */
void nytp_stream_restart(struct nytp_recorder *rec);

/* Goes back to a suspended profile file, whose stream state is `stream`. */
void nytp_stream_restore(struct nytp_recorder *rec, const struct nytp_rec_stream *stream);

/* Work driven by the clock. The *_if_due functions do it at reading `raw` if it is due;
 * nytp_stream_plan_wake_up() sets rec->wake_raw, the next reading to look at it. */
void nytp_stream_flush_if_due(struct nytp_recorder *rec, uint64_t raw);
void nytp_stream_emit_memory_if_due(struct nytp_recorder *rec, uint64_t raw);
void nytp_stream_emit_memory_of_label(struct nytp_recorder *rec, uint64_t raw);
void nytp_stream_recalibrate_if_due(struct nytp_recorder *rec, uint64_t raw);
void nytp_stream_plan_wake_up(struct nytp_recorder *rec, uint64_t raw);

/* Flushes that calls ask for may take one part in WAIT_SHARE of the time, and MOST_CREDIT_NS at
 * once. So a program that blocks rarely flushes each time; one that reads a socket byte by byte
 * flushes rarely. Processor time counts: on a busy machine a flush may wait long for a processor,
 * and the next one must not be left out for that. */
bool nytp_stream_can_pay_flush(struct nytp_recorder *rec, uint64_t raw);
/* Accounts for a flush that has ended, and took so many nanoseconds of processor time. */
void nytp_stream_pay_flush(struct nytp_recorder *rec, int64_t ns);

/* Compares the counter with the kernel's clock. If they have diverged, that is recorded, *raw
 * is read again, and readings come from clock_gettime() from here on. */
void nytp_stream_watch_clock(struct nytp_recorder *rec, uint64_t *raw);

#endif
