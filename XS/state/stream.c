/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Flushes, calibrations and write errors of the stream; see stream.h.
 */
#include "stream.h"

#include "dprof.h"
#include "XS/output/say.h"
#include "state.h"

#include "formats/base/platform.h"
#include "formats/stream/comments/sample_records.h"

#include <stdio.h>
#include <string.h>

enum {
    SHARE_AT_RISK = 128,       /* at most 1/128 of a profile's bytes may be missing on disk */
    TIME_AT_RISK = 200,        /* and at most 1/200 of its time, */
    LEAST_AT_RISK_NS = 500000, /* or this, while there are few bytes */
    BLOCK_OF_SAMPLES = 4 * NYTP_WRITER_BLOCK,
    MEMORY_TIMES = 500,         /* points of memory while the elapsed time doubles or so, */
    LEAST_MEMORY_NS = 10000000, /* at least this far apart, */
    LEAST_MEMORY_OF_LABEL_NS = 1000000, /* or this, at a change of a label */
    FIRST_CALIBRATION_NS = 1000000,
    LAST_CALIBRATION_NS = 1000000000,
    WAIT_SHARE = 50, /* see nytp_stream_can_pay_flush() */
    MOST_CREDIT_NS = 10000000,
};

/* Silent in a signal: the program dies, and readers report that the profile ends early. */
void nytp_stream_abandon_profile(struct nytp_recorder *rec)
{
    if (!rec->stream->is_abandoned && !rec->file.in_signal)
        nytp_say(&rec->options, "%s; profiling stops here, the program goes on",
                 rec->file.error.status != NYTP_OK ? rec->file.error.message
                                                   : "cannot compress the profile");
    nytp_stream_abandon_profile_silently(rec);
}

void nytp_stream_abandon_profile_silently(struct nytp_recorder *rec)
{
    rec->stream->is_abandoned = true;
    nytp_state_set(rec, NYTP_CLOSED);
}

void nytp_stream_flush(struct nytp_recorder *rec, enum nytp_flush how)
{
    dSAVE_ERRNO;
    nytp_clock_pause(&rec->clock);
    const bool ok =
        nytp_writer_flush(rec->writer, how) && (rec->dprof == NULL || nytp_dprof_flush(rec));
    if (how != NYTP_FLUSH_NONE)
        rec->stream->synced_raw = rec->writer->n_raw;
    nytp_clock_resume(&rec->clock);
    if (!ok && rec->state != NYTP_OFF)
        nytp_stream_abandon_profile(rec);
    RESTORE_ERRNO;
}

/* Samples come slowly: the clock writes them. An earlier flush costs as much as several. */
static size_t shortest_block(const struct nytp_recorder *rec)
{
    return rec->kind == NYTP_SAMPLED ? BLOCK_OF_SAMPLES : NYTP_WRITER_BLOCK;
}

/* If the process is killed, at most the shortest block or a small share of the data is lost. */
void nytp_stream_on_full(struct nytp_writer *writer)
{
    char *const file = writer->context; /* the writer's context is the output file */
    struct nytp_recorder *const rec =
        (struct nytp_recorder *)(file - offsetof(struct nytp_recorder, file));
    const uint64_t total = writer->n_raw + (uint64_t)(writer->at - writer->block);
    const uint64_t share = total / SHARE_AT_RISK;
    const size_t shortest = shortest_block(rec);
    const size_t next = share < shortest           ? shortest
                        : share > NYTP_WRITER_MOST ? NYTP_WRITER_MOST
                                                   : (size_t)share;
    const bool is_due = total - rec->stream->synced_raw + next > share;
    nytp_stream_flush(rec, is_due ? NYTP_FLUSH_SYNC : NYTP_FLUSH_NONE);
    nytp_writer_set_block(writer, next);
    /* Lines of new subs follow soon. A sampled profile names few of the waiting subs: they are
     * written at the next flush. */
    if (rec->kind != NYTP_SAMPLED && rec->infos_wait)
        rec->wake_raw = 0;
}

/* Returns the longest time between two timed flushes. */
static uint64_t flush_period(const struct nytp_recorder *rec)
{
    return nytp_clock_raw_of_ns(&rec->clock, (uint64_t)(rec->options.flush_s * 1e9));
}

/* A program may be killed after a short or a long run: only a small share of either may be
 * missing on disk. Samples come too slowly for that. */
static uint64_t next_look(const struct nytp_recorder *rec, uint64_t raw)
{
    const uint64_t longest = flush_period(rec);
    const uint64_t least = nytp_clock_raw_of_ns(&rec->clock, LEAST_AT_RISK_NS);
    const uint64_t share = (raw - rec->stream->begun_raw) / TIME_AT_RISK;
    const uint64_t look = share > least ? share : least;
    return rec->kind == NYTP_SAMPLED || rec->on.counts || look > longest ? longest : look;
}

/* Plans the next wake-up: a look is due some time after the last flush. If that has passed,
 * since there was too little to flush, looks again soon. */
void nytp_stream_plan_wake_up(struct nytp_recorder *rec, uint64_t raw)
{
    const uint64_t calibrate = nytp_clock_raw_of_ns(&rec->clock, rec->stream->calibrate_ns);
    const uint64_t look = rec->options.flush_s > 0 ? next_look(rec, raw) : calibrate;
    const uint64_t since = raw - rec->stream->flush_raw;
    const uint64_t left = since < look ? look - since : look / 4;
    rec->wake_raw = raw + (left < calibrate ? left : calibrate);
}

/* Many bytes need no clock to reach the disk. Few may double before the next look. */
static bool is_little_at_risk(const struct nytp_recorder *rec)
{
    const uint64_t total =
        rec->writer->n_raw + (uint64_t)(rec->writer->at - rec->writer->block);
    const uint64_t share = total / SHARE_AT_RISK;
    return share >= shortest_block(rec) || total - rec->stream->synced_raw <= share / 2;
}

void nytp_stream_flush_if_due(struct nytp_recorder *rec, uint64_t raw)
{
    const uint64_t since = raw - rec->stream->flush_raw;
    if (rec->options.flush_s <= 0 || since < next_look(rec, raw) ||
        (since < flush_period(rec) && is_little_at_risk(rec)))
        return;
    rec->stream->flush_raw = raw;
    nytp_trace(&rec->options, 4, "flush after %llu bytes", (unsigned long long)rec->file.size);
    nytp_stream_flush(rec, NYTP_FLUSH_SYNC);
}

bool nytp_stream_can_pay_flush(struct nytp_recorder *rec, uint64_t raw)
{
    const int64_t most = (int64_t)nytp_clock_raw_of_ns(&rec->clock, MOST_CREDIT_NS);
    const uint64_t since = raw - rec->stream->credited_raw;
    rec->stream->credited_raw = raw;
    rec->stream->credit_raw +=
        since / WAIT_SHARE > (uint64_t)most ? most : (int64_t)(since / WAIT_SHARE);
    if (rec->stream->credit_raw > most)
        rec->stream->credit_raw = most;
    return rec->stream->credit_raw > 0;
}

/* Records the memory in core if `least` raw units have passed since the last time. */
static void emit_memory(struct nytp_recorder *rec, uint64_t raw, uint64_t least)
{
    char text[sizeof NYTP_MEMORY_NOW_HEAD + 24];
    int64_t now;
    if (rec->dprof != NULL || raw - rec->stream->memory_raw < least)
        return;
    rec->stream->memory_raw = raw;
    if (!nytp_platform_resident(&now))
        return;
    snprintf(text, sizeof text, NYTP_MEMORY_NOW_HEAD " %lld", (long long)now);
    nytp_write_comment(rec->writer, text);
}

void nytp_stream_emit_memory_of_label(struct nytp_recorder *rec, uint64_t raw)
{
    emit_memory(rec, raw, nytp_clock_raw_of_ns(&rec->clock, LEAST_MEMORY_OF_LABEL_NS));
}

/* The interval grows with the run: a day's curve has a few thousand points. */
void nytp_stream_emit_memory_if_due(struct nytp_recorder *rec, uint64_t raw)
{
    const uint64_t least = nytp_clock_raw_of_ns(&rec->clock, LEAST_MEMORY_NS);
    const uint64_t share = (raw - rec->stream->begun_raw) / MEMORY_TIMES;
    emit_memory(rec, raw, share > least ? share : least);
}

void nytp_stream_recalibrate_if_due(struct nytp_recorder *rec, uint64_t raw)
{
    if (raw - rec->stream->calibrated_raw <
        nytp_clock_raw_of_ns(&rec->clock, rec->stream->calibrate_ns))
        return;
    rec->stream->calibrated_raw = raw;
    nytp_clock_recalibrate(&rec->clock, raw);
    if (rec->stream->calibrate_ns < LAST_CALIBRATION_NS)
        rec->stream->calibrate_ns *= 4; /* a longer base needs fewer corrections */
}

void nytp_stream_watch_clock(struct nytp_recorder *rec, uint64_t *raw)
{
    char text[60];
    double apart_ns;
    if (!nytp_clock_has_parted(&rec->clock, &apart_ns))
        return;
    *raw = nytp_clock_raw(&rec->clock);
    snprintf(text, sizeof text, "%lld %.0f", (long long)nytp_axis_now(rec), apart_ns);
    nytp_trace(&rec->options, 1, "clock: the counter and the kernel's clock are %.0f ns apart",
               apart_ns);
    if (rec->dprof == NULL)
        nytp_write_attribute_record(rec->writer, "clock_parted", text, strlen(text));
}

void nytp_stream_pay_flush(struct nytp_recorder *rec, int64_t ns)
{
    rec->stream->flush_raw = nytp_clock_raw(&rec->clock);
    rec->stream->credit_raw -= (int64_t)nytp_clock_raw_of_ns(&rec->clock, (uint64_t)ns);
}

void nytp_stream_begin(struct nytp_recorder *rec)
{
    rec->stream->is_abandoned = false;
    rec->stream->calibrate_ns = FIRST_CALIBRATION_NS;
    rec->stream->begun_raw = nytp_clock_raw(&rec->clock);
    rec->stream->synced_raw = 0;
    rec->stream->memory_raw = rec->stream->begun_raw; /* the profile's head records it */
    nytp_writer_set_block(rec->writer, shortest_block(rec));
}

void nytp_stream_restart(struct nytp_recorder *rec)
{
    rec->stream->flush_raw = rec->stream->calibrated_raw = nytp_clock_raw(&rec->clock);
    nytp_stream_plan_wake_up(rec, rec->stream->flush_raw);
}

void nytp_stream_restore(struct nytp_recorder *rec, const struct nytp_rec_stream *stream)
{
    *rec->stream = *stream;
}
