/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * One record of the native stream, decoded from contiguous bytes into an event. The format is
 * described in nytprof-v5.md; the differences between its versions are in record.c and nowhere
 * else. formats/nytprof.c calls this for all but the commonest records, which it decodes
 * itself.
 */
#ifndef NYTP_RECORD_H
#define NYTP_RECORD_H

#include "formats/base/error.h"
#include "event.h"
#include "source.h"

/* Bytes of a text line, with its newline, as writers keep to them for the sake of others'
 * readers. This one takes a line of any length that a record may have. */
#define NYTP_MOST_LINE 60000u

/* No record may have more bytes. A version is one number, so that versions compare: 500 is 5.0.
 */
#define NYTP_MAX_RECORD                   (64u * 1024 * 1024)
#define NYTP_STREAM_VERSION(major, minor) ((major)*100u + (minor))

enum nytp_decoded {
    NYTP_DECODED,
    NYTP_SILENT, /* of call_records.h: a record without an event */
    NYTP_SHORT, /* the bytes at hand end inside the record; cursor.need tells what is missing */
    NYTP_FAILED, /* the decoder's *error is set */
};

/* The bytes at hand: a record begins at `start`, `at` is the first that is not decoded yet, and
 * `end` is one past the last. The other members mean something after NYTP_SHORT only: get at
 * least `need` bytes from `start` on, then decode the record from its start again. */
struct nytp_cursor {
    const uint8_t *start, *at, *end;
    size_t need;
    bool to_newline;     /* and go on to the next newline from there */
    uint32_t string_len; /* bytes that the string claims to have in which the input ended, … */
    size_t string_at;    /* … and its first byte, from `start`; 0: it ended in no string */
};

struct nytp_decoder {
    struct nytp_source *source; /* tells whether offsets are of inflated bytes */
    struct nytp_sink *sink;
    struct nytp_error *error;
    uint32_t version;                /* NYTP_STREAM_VERSION(major, minor), minor at most 99 */
    uint32_t nv_size;                /* bytes of a number, as the attribute of that name says */
    const struct nytp_nv_layout *nv; /* how numbers are laid out; NULL until the first one */
};

/* Decode the record at c->start into `event`, whose offset the caller has set. The event's
 * strings point into the cursor's bytes. The event itself is the caller's to deliver; but where
 * one record of an old version stands for several events, those before the last have been
 * handed to the sink already. */
enum nytp_decoded nytp_decode_record(struct nytp_decoder *decoder, struct nytp_cursor *c,
                                     struct nytp_event *event);

/* The text at c->at up to and including a newline. Used for the first line of a stream, too. */
enum nytp_decoded nytp_decode_line(struct nytp_cursor *c, struct nytp_str *line);

/* How many bytes a packed integer has, by its first. */
static inline size_t nytp_u32_size(uint8_t first)
{
    return first < 0x80 ? 1 : first < 0xc0 ? 2 : first < 0xe0 ? 3 : first < 0xff ? 4 : 5;
}

/* Hand an event to the sink; false with the error set when that stops the reading. */
bool nytp_deliver(struct nytp_decoder *decoder, const struct nytp_event *event);

/* A packed integer; the caller has seen to it that all its bytes are there, at most five.
 * Returns where the next field begins. */
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

/* The same from a cursor; false, and `need` is set, when the bytes end inside it. */
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
