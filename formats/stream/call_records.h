/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Entries and returns of calls in a few bytes, which other readers of the format pass over,
 * since each is a comment (nytprof-v5.md, "Calls in comments"). Their times are not told again:
 * an entry or return lies on the time axis, the running sum of the statements' ticks, mostly
 * where the next statement's record ends, and the time of a call is what lies between the two.
 *
 * Here are the codes, and the reader, which gives SUB_ENTRY and SUB_RETURN as if there were
 * records of these. The writer is write/writer.h.
 */
#ifndef NYTP_CALL_RECORDS_H
#define NYTP_CALL_RECORDS_H

#include "record.h"

/* The comment that begins a process with such calls. */
#define NYTP_CALLS_HEAD "nytp-calls 1"

/* The first byte of the comment. */
enum nytp_call_code {
    NYTP_CALL_SITE = 1,  /* fid, line, tag, name: what is called from where; counted from 0 */
    NYTP_CALL_ENTRY = 2, /* site; it lies where the next statement's record ends */
    NYTP_CALL_ENTRY_AT = 3,  /* site, ticks; with the return's ticks: it called nothing */
    NYTP_CALL_RETURN = 4,    /* as ENTRY, of the innermost call */
    NYTP_CALL_RETURN_AT = 5, /* ticks */
    NYTP_CALL_POINT = 6,     /* ticks: right behind an ENTRY or RETURN, it lies there */
    NYTP_CALL_SHIFT = 7,     /* ticks that passed in no statement */
    NYTP_CALL_WAIT = 8,      /* ticks that are no time of the open calls */
    NYTP_CALL_OPEN = 9,      /* site: of a call that was open before */
    NYTP_CALL_RENAME = 11,   /* site: the innermost call turned out to be of this one */
    NYTP_CALL_CODES = 12,
};

/* Their numbers have bytes of 0x10 and more, so that none is a newline: the lowest seven bits
 * first, 0x80 added, as long as more follow; the last byte is one of 112. Each length begins
 * where the one before it ends. */
#define NYTP_CALL_LAST_BYTE 0x10u
#define NYTP_CALL_LASTS     112u

/* In a name a newline is `\n` and a backslash `\\`. Of a name whose line would be longer than
 * readers take the end is dropped. */
#define NYTP_MOST_CALL_NAME (NYTP_MOST_LINE - 100)

struct nytp_call_frame;
struct nytp_call_site_record;

/* The calls of the process that is being read. Zeroed: none. */
struct nytp_call_reader {
    bool is_on;    /* NYTP_CALLS_HEAD was read */
    uint64_t axis; /* where the last statement's record ended, in ticks, signed; for sums that
                      may overflow. nytprof.c adds to it */
    int64_t point; /* where the last call record with ticks lies */
    uint64_t
        waited; /* ticks so far that are no time of open calls; the sum may overflow, too */
    struct nytp_call_frame *frames; /* calls that are open; owned, as is all else */
    struct nytp_call_site_record *sites;
    struct nytp_arena *names;
    uint32_t n_frames, frames_capacity, n_sites, sites_capacity;
    bool is_recorded; /* the attribute `basetime` stands before the process */
};

void nytp_call_reader_free(struct nytp_call_reader *calls);

/* Take notice of a record that was decoded: where a process begins, and whether its calls are
 * told so. Only in a file as it was recorded: who copies comments into another may have given
 * the files other ids. Such a file's attribute `basetime` stands at its end. */
void nytp_calls_note(struct nytp_call_reader *calls, const struct nytp_event *event);

/* Whether the bytes are the beginning of a record that nytp_decode_call() decodes. */
static inline bool nytp_is_call(const struct nytp_call_reader *calls, const uint8_t *at,
                                const uint8_t *end)
{
    return *at == '#' && calls->is_on && end - at >= 2 && at[1] < NYTP_CALL_CODES &&
           at[1] != '\n';
}

/* As nytp_decode_record(). NYTP_SILENT: the record is decoded, and there is no event. */
enum nytp_decoded nytp_decode_call(struct nytp_decoder *decoder, struct nytp_call_reader *calls,
                                   struct nytp_cursor *c, struct nytp_event *event);

#endif
