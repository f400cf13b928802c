/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Decodes one record of the native stream from contiguous bytes into an event. nytprof-v5.md
 * describes the format; only record.c knows the differences between its versions.
 * formats/nytprof.c decodes the commonest records itself.
 */
#ifndef NYTP_RECORD_H
#define NYTP_RECORD_H

#include "formats/base/error.h"
#include "event.h"
#include "source.h"

/* The longest text line in bytes, with its newline, that our writers produce; other readers
 * accept no more. This reader accepts any line up to NYTP_MAX_RECORD. */
#define NYTP_MOST_LINE 60000u

/* The largest record in bytes. A version is one number, for comparisons: 500 is 5.0. */
#define NYTP_MAX_RECORD                   (64u * 1024 * 1024)
#define NYTP_STREAM_VERSION(major, minor) ((major)*100u + (minor))

enum nytp_decoded {
    NYTP_DECODED,
    NYTP_SILENT, /* decoded, no event (call_records.h) */
    NYTP_SHORT,  /* the bytes end inside the record; see cursor.need */
    NYTP_FAILED, /* the decoder's *error is set */
};

/* The bytes at hand: `start` of the record, `at` the next byte to decode, `end` one past the
 * last. The other members are valid after NYTP_SHORT only: get at least `need` bytes from
 * `start`, then decode the record anew. */
struct nytp_cursor {
    const uint8_t *start, *at, *end;
    size_t need;
    bool to_newline;     /* continue to the next newline from there */
    uint32_t string_len; /* length of the string that was cut short */
    size_t string_at;    /* its first byte, counted from `start`; 0: no string was cut */
};

struct nytp_decoder {
    struct nytp_source *source; /* knows if offsets are of inflated bytes */
    struct nytp_sink *sink;
    struct nytp_error *error;
    uint32_t version;                /* NYTP_STREAM_VERSION(major, minor), minor at most 99 */
    uint32_t nv_size;                /* bytes of a number (attribute nv_size) */
    const struct nytp_nv_layout *nv; /* layout of numbers; NULL until the first */
};

/* Decodes the record at c->start into `event`; the caller has set its offset and delivers it.
 * The event's strings point into the cursor's bytes. If one record of an old version becomes
 * several events, those before the last have already been delivered. */
enum nytp_decoded nytp_decode_record(struct nytp_decoder *decoder, struct nytp_cursor *c,
                                     struct nytp_event *event);

/* Decodes the text at c->at up to and including a newline. */
enum nytp_decoded nytp_decode_line(struct nytp_cursor *c, struct nytp_str *line);

/* Returns the size of a packed integer from its first byte. */
static inline size_t nytp_u32_size(uint8_t first)
{
    return first < 0x80 ? 1 : first < 0xc0 ? 2 : first < 0xe0 ? 3 : first < 0xff ? 4 : 5;
}

/* Passes an event to the sink. Returns false, error set, if the sink stops the reading. */
bool nytp_deliver(struct nytp_decoder *decoder, const struct nytp_event *event);

/* Sets the error of a sink that stopped. Returns false. */
bool nytp_fail_stopped(struct nytp_decoder *decoder, uint64_t offset);

/* Decodes a packed integer, all of whose bytes must be there. Returns the next field. */
static inline const uint8_t *nytp_u32_unchecked(const uint8_t *at, uint32_t *value)
{
    const uint32_t first = at[0];
    if (first < 0x80) {
        *value = first;
        return at + 1;
    }
    if (first < 0xc0) {
        *value = (first & 0x3f) << 8 | at[1];
        return at + 2;
    }
    if (first < 0xe0) {
        *value = (first & 0x1f) << 16 | (uint32_t)at[1] << 8 | at[2];
        return at + 3;
    }
    if (first < 0xff) {
        *value = (first & 0x0f) << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
        return at + 4;
    }
    *value = (uint32_t)at[1] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 8 | at[4];
    return at + 5;
}

/* The same from a cursor. Returns false and sets `need` if the bytes end inside it. */
static inline bool nytp_cursor_u32(struct nytp_cursor *c, uint32_t *value)
{
    if (c->at == c->end || (size_t)(c->end - c->at) < nytp_u32_size(*c->at)) {
        c->need = (size_t)(c->at - c->start) + (c->at == c->end ? 1 : nytp_u32_size(*c->at));
        return false;
    }
    c->at = nytp_u32_unchecked(c->at, value);
    return true;
}

#endif
