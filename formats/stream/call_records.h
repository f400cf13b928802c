/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Compact records for entries and returns of calls (nytprof-v5.md, "Calls in comments"). Each
 * is a comment, so other readers of the format skip it.
 *
 * The time axis is the running sum of the statements' ticks. An entry or return is a point on
 * it, usually the point where the next statement's record ends. The time of a call is the
 * distance between its two points.
 *
 * This file has the codes and the reader, which delivers SUB_ENTRY and SUB_RETURN events. The
 * writer is write/writer.h.
 */
#ifndef NYTP_CALL_RECORDS_H
#define NYTP_CALL_RECORDS_H

#include "record.h"

/* The comment that precedes such records in a process. */
#define NYTP_CALLS_HEAD "nytp-calls 1"

/* The first byte of the comment. */
enum nytp_call_code {
    NYTP_CALL_SITE = 1,  /* fid, line, tag, name: caller's place and callee; counted from 0 */
    NYTP_CALL_ENTRY = 2, /* site; its point is the end of the next statement's record */
    NYTP_CALL_ENTRY_AT = 3,  /* site, ticks; with the return's ticks: it called nothing */
    NYTP_CALL_RETURN = 4,    /* like ENTRY, for the innermost call */
    NYTP_CALL_RETURN_AT = 5, /* ticks */
    NYTP_CALL_POINT = 6,     /* ticks: the point of the ENTRY or RETURN right before */
    NYTP_CALL_SHIFT = 7,     /* ticks that passed outside statements */
    NYTP_CALL_WAIT = 8,      /* ticks to exclude from the open calls */
    NYTP_CALL_OPEN = 9,      /* site of a call that was open already */
    NYTP_CALL_RENAME = 11,   /* site: the innermost call is really of this one */
    NYTP_CALL_CODES = 12,
};

/* Numbers have no byte below 0x10, so none is a newline. The lowest seven bits come first,
 * with 0x80 added while more bytes follow. The last byte has one of 112 values. A longer
 * number counts from the end of the shorter ones. */
#define NYTP_CALL_LAST_BYTE 0x10u
#define NYTP_CALL_LASTS     112u

/* In a name a newline is `\n`, a backslash `\\`. Longer names are cut: readers limit lines. */
#define NYTP_MOST_CALL_NAME (NYTP_MOST_LINE - 100)

struct nytp_call_frame;
struct nytp_call_site_record;

/* The calls of the process being read. A zeroed struct has none. */
struct nytp_call_reader {
    bool is_on;    /* NYTP_CALLS_HEAD was read */
    uint64_t axis; /* end of the last statement in ticks, signed; may overflow. nytprof.c adds
                    * to it */
    int64_t point; /* point of the last call record with ticks */
    uint64_t
        waited; /* ticks so far that belong to no open call; may overflow, too */
    struct nytp_call_frame *frames; /* open calls; owned, like all the rest */
    struct nytp_call_site_record *sites;
    struct nytp_arena *names;
    uint32_t n_frames, frames_capacity, n_sites, sites_capacity;
    bool is_recorded; /* the attribute `basetime` precedes the process */
};

void nytp_call_reader_free(struct nytp_call_reader *calls);

/* Notes a decoded record: the beginning of a process, and the comment that announces call
 * records. Call records are accepted only in an original recording: a program that copies
 * comments to another file may have renumbered the files. In such a copy the attribute
 * `basetime` is at the end. */
void nytp_calls_note(struct nytp_call_reader *calls, const struct nytp_event *event);

/* Returns true if the bytes begin a record for nytp_decode_call(). */
static inline bool nytp_is_call(const struct nytp_call_reader *calls, const uint8_t *at,
                                const uint8_t *end)
{
    return *at == '#' && calls->is_on && end - at >= 2 && at[1] < NYTP_CALL_CODES &&
           at[1] != '\n';
}

/* Decodes like nytp_decode_record(). NYTP_SILENT: the record is decoded and has no event. */
enum nytp_decoded nytp_decode_call(struct nytp_decoder *decoder, struct nytp_call_reader *calls,
                                   struct nytp_cursor *c, struct nytp_event *event);

#endif
