/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The native stream, written: one typed put for each record of the format (the names are
 * those of tags.def), collected in a block that is handed on, compressed once
 * nytp_write_start_deflate() was called, whenever it is full.
 *
 * The trick: a put makes sure once that its record fits into the block, then stores bytes
 * without further checks; only making room is a call.
 */
#ifndef NYTP_WRITER_H
#define NYTP_WRITER_H

#include "formats/deflate/deflate.h"
#include "formats/stream/call_records.h"
#include "formats/stream/event.h"

#include <string.h>

/* Where the calls in comments that were written lie, on the time axis of the one who writes
 * them. What a reader knows of it is the same but for a constant. */
struct nytp_call_axis {
    bool is_held;       /* the last record's point is told by what comes next */
    int64_t held_point; /* which is here, ... */
    int64_t held_since; /* and there the statement's record before it ended */
    int64_t point;      /* of the last record that told ticks */
    uint8_t *entry_end; /* of an entry with ticks, to which its return may be added */
    uint32_t n_sites;
};

struct nytp_writer {
    uint8_t *at, *end;   /* free space of the block */
    uint8_t *record_end; /* up to here there is room for a record without strings */
    uint8_t *block;      /* NYTP_WRITER_MOST bytes: `plain`, or the compressor's room */
    uint8_t *plain;      /* owned */
    size_t n_plain; /* bytes in `plain` (the header) that wait for the first compressed ones:
                       a program killed early then leaves both or neither */
    bool failed;    /* sticky: `put` or the compressor refused; further bytes are dropped */
    /* Called when the block is full, to flush it; NULL: flush without sync. */
    void (*on_full)(struct nytp_writer *writer);
    struct nytp_call_axis calls;
    uint64_t n_raw;     /* bytes handed on so far before compression */
    uint64_t n_written; /* bytes given to `put` so far */
    nytp_bytes_fn *put;
    void *context;
    struct nytp_deflate *deflate; /* owned; NULL until nytp_write_start_deflate() */
    uint64_t n_inflated;          /* bytes that went through the compressor */
    uint64_t n_deflated;          /* and came out of it */
};

/* A block is this long at first; records are shorter but for their strings, which may be of any
 * length. */
#define NYTP_WRITER_BLOCK 16384
#define NYTP_WRITER_MOST  NYTP_DEFLATE_ROOM

/* Room that one record needs without its strings. */
#define NYTP_WRITER_RECORD 64

/* A writer whose bytes go to `put`, in order, each time with `context`. NULL when memory is
 * out. */
struct nytp_writer *nytp_writer_new(nytp_bytes_fn *put, void *context);

/* Does not flush. Accepts NULL. */
void nytp_writer_free(struct nytp_writer *writer);

/* Hand on what the block holds. With NYTP_FLUSH_SYNC a reader of what came out so far sees
 * every record put before; NYTP_FLUSH_FINISH ends the stream. Allocates nothing. False when
 * the writer has failed. */
bool nytp_writer_flush(struct nytp_writer *writer, enum nytp_flush flush);

/* From now on blocks have `len` bytes, NYTP_WRITER_BLOCK to NYTP_WRITER_MOST. The present one
 * must not hold more: on_full may say it after a flush. Long ones spare the processor's caches,
 * from which the compressor and the program drive each other. */
void nytp_writer_set_block(struct nytp_writer *writer, size_t len);

/* Go on with another compressor, NULL: with none, in a block of the shortest length. The old
 * one is freed, and what its block held is forgotten. */
void nytp_writer_set_deflate(struct nytp_writer *writer, struct nytp_deflate *deflate);

/* After NYTP_FLUSH_FINISH: the line of text behind a compressed stream, which readers of the
 * format leave unread, on how much it was compressed. */
bool nytp_writer_put_trailer(struct nytp_writer *writer);

/* Forget what the block holds and the compressor: the next record starts a new stream. */
void nytp_writer_reset(struct nytp_writer *writer);

/* Out-of-line parts of the puts below. */
void nytp_writer_make_room(struct nytp_writer *writer) __attribute__((cold));
void nytp_writer_put_bytes(struct nytp_writer *writer, const void *bytes, size_t len);

/* Make sure that a record fits into the block, which may flush it. */
static inline void nytp_writer_room(struct nytp_writer *writer)
{
    if (__builtin_expect(writer->at > writer->record_end, 0))
        nytp_writer_make_room(writer);
}

/* Store a packed integer, one to five bytes, or a number, the eight bytes of a double in this
 * machine's order (nytprof-v5.md). There must be room. Both return where the next field goes.
 */
static inline uint8_t *nytp_encode_u32(uint8_t *at, uint32_t value)
{
    if (value < 0x80) {
        *at++ = (uint8_t)value;
        return at;
    }
    if (value < 0x4000) {
        *at++ = (uint8_t)(0x80 | value >> 8);
    } else if (value < 0x200000) {
        *at++ = (uint8_t)(0xC0 | value >> 16);
        *at++ = (uint8_t)(value >> 8);
    } else if (value < 0x10000000) {
        *at++ = (uint8_t)(0xE0 | value >> 24);
        *at++ = (uint8_t)(value >> 16);
        *at++ = (uint8_t)(value >> 8);
    } else {
        *at++ = 0xFF;
        *at++ = (uint8_t)(value >> 24);
        *at++ = (uint8_t)(value >> 16);
        *at++ = (uint8_t)(value >> 8);
    }
    *at++ = (uint8_t)value;
    return at;
}

static inline uint8_t *nytp_encode_nv(uint8_t *at, double value)
{
    memcpy(at, &value, sizeof value);
    return at + sizeof value;
}

/* Records of the event part: these are the ones that a running program pays for. Ticks are
 * those of the clock that the attribute ticks_per_sec speaks of. */

static inline void nytp_write_time_line(struct nytp_writer *writer, int32_t ticks, uint32_t fid,
                                        uint32_t line)
{
    nytp_writer_room(writer);
    uint8_t *at = writer->at;
    *at++ = '+';
    at = nytp_encode_u32(at, (uint32_t)ticks);
    at = nytp_encode_u32(at, fid);
    writer->at = nytp_encode_u32(at, line);
}

/* A fid and a line as they stand in records. */
struct nytp_encoded_place {
    uint8_t bytes[11], len;
};

static inline struct nytp_encoded_place nytp_encode_place(uint32_t fid, uint32_t line)
{
    struct nytp_encoded_place place = {.len = 0};
    const uint8_t *const end = nytp_encode_u32(nytp_encode_u32(place.bytes, fid), line);
    place.len = (uint8_t)(end - place.bytes);
    return place;
}

/* nytp_write_time_line() for a place that comes again and again. */
static inline void nytp_write_time_at(struct nytp_writer *writer, int32_t ticks,
                                      const struct nytp_encoded_place *place)
{
    nytp_writer_room(writer);
    uint8_t *at = writer->at;
    *at++ = '+';
    at = nytp_encode_u32(at, (uint32_t)ticks);
    memcpy(at, place->bytes, sizeof place->bytes);
    writer->at = at + place->len;
}

/* The same for the usual case, with or without a DISCOUNT behind it, and without a call: false,
 * and nothing is written, when there is no room, the time takes more than two bytes, or a call
 * is held whose point is not `now`, where the record ends. */
static inline bool nytp_write_short_time(struct nytp_writer *writer, int64_t now,
                                         uint64_t ticks, const struct nytp_encoded_place *place,
                                         bool discount)
{
    uint8_t *at = writer->at;
    if (ticks >= 0x4000 || at > writer->record_end ||
        (writer->calls.is_held && writer->calls.held_point != now))
        return false;
    writer->calls.is_held = false;
    *at++ = '+';
    if (ticks >= 0x80)
        *at++ = (uint8_t)(0x80 | ticks >> 8);
    *at++ = (uint8_t)ticks;
    memcpy(at, place->bytes, sizeof place->bytes);
    at += place->len;
    if (discount)
        *at++ = '-';
    writer->at = at;
    return true;
}

static inline void nytp_write_time_block(struct nytp_writer *writer, int32_t ticks,
                                         uint32_t fid, uint32_t line, uint32_t block_line,
                                         uint32_t sub_line)
{
    nytp_writer_room(writer);
    uint8_t *at = writer->at;
    *at++ = '*';
    at = nytp_encode_u32(at, (uint32_t)ticks);
    at = nytp_encode_u32(at, fid);
    at = nytp_encode_u32(at, line);
    at = nytp_encode_u32(at, block_line);
    writer->at = nytp_encode_u32(at, sub_line);
}

static inline void nytp_write_discount(struct nytp_writer *writer)
{
    nytp_writer_room(writer);
    *writer->at++ = '-';
}

/* Inlined, as every call runs it. */
static inline __attribute__((always_inline)) void
nytp_write_sub_entry(struct nytp_writer *writer, uint32_t caller_fid, uint32_t caller_line)
{
    nytp_writer_room(writer);
    uint8_t *at = writer->at;
    *at++ = '>';
    at = nytp_encode_u32(at, caller_fid);
    writer->at = nytp_encode_u32(at, caller_line);
}

/* Copy in whole steps of NYTP_COPY_STEP, which is faster than a call for names; both sides
 * have room for the last step. */
#define NYTP_COPY_STEP 32

static inline void nytp_copy_padded(uint8_t *to, const uint8_t *from, size_t len)
{
    for (size_t i = 0; i < len; i += NYTP_COPY_STEP)
        memcpy(to + i, from + i, NYTP_COPY_STEP);
}

/* A call at `depth` (1 = the outermost) has returned. `name` is a whole encoded string, tag and
 * length included, see nytp_encode_str(), in memory that is readable up to the next multiple of
 * NYTP_COPY_STEP. */
static inline void nytp_write_sub_return(struct nytp_writer *writer, uint32_t depth,
                                         int64_t incl_ticks, int64_t excl_ticks,
                                         const uint8_t *name, size_t name_len)
{
    if ((size_t)(writer->end - writer->at) < NYTP_WRITER_RECORD + NYTP_COPY_STEP + name_len)
        nytp_writer_make_room(writer);
    uint8_t *at = writer->at;
    *at++ = '<';
    at = nytp_encode_u32(at, depth);
    at = nytp_encode_nv(at, (double)incl_ticks);
    writer->at = nytp_encode_nv(at, (double)excl_ticks);
    if (name_len + NYTP_COPY_STEP <= (size_t)(writer->end - writer->at)) {
        nytp_copy_padded(writer->at, name, name_len);
        writer->at += name_len;
    } else {
        nytp_writer_put_bytes(writer, name, name_len);
    }
}

/* ---- calls in comments (formats/stream/call_records.h) ----
 *
 * `since` is where the last statement's record ended, `now` where the entry or return lies. */

/* An entry from a site, as it is written. */
struct nytp_encoded_entry {
    uint8_t bytes[8], len; /* 0: not told yet */
};

static inline uint8_t *nytp_encode_count(uint8_t *at, uint64_t value)
{
    while (value >= NYTP_CALL_LASTS) {
        value -= NYTP_CALL_LASTS;
        *at++ = (uint8_t)(0x80 | value);
        value >>= 7;
    }
    *at++ = (uint8_t)(NYTP_CALL_LAST_BYTE + value);
    return at;
}

/* Tell where the last record lies, if that is held back: before any record but the one that
 * tells it. */
void nytp_writer_settle_call(struct nytp_writer *writer) __attribute__((cold));

static inline void nytp_writer_settle(struct nytp_writer *writer)
{
    if (__builtin_expect(writer->calls.is_held, 0))
        nytp_writer_settle_call(writer);
}

/* A statement's record of so many ticks comes next, which ends at `now`. */
static inline void nytp_writer_meet(struct nytp_writer *writer, int64_t now, int64_t ticks)
{
    if (!writer->calls.is_held)
        return;
    if (writer->calls.held_point != now || ticks != (int32_t)ticks)
        nytp_writer_settle_call(writer);
    writer->calls.is_held = false;
}

static inline int64_t nytp_call_ticks(const struct nytp_call_axis *calls, int64_t since,
                                      int64_t now)
{
    return now - (since > calls->point ? since : calls->point);
}

static inline void nytp_writer_hold(struct nytp_call_axis *calls, int64_t since, int64_t now)
{
    calls->is_held = true;
    calls->held_point = now;
    calls->held_since = since;
}

/* An entry or return where, most likely, the next statement's record ends. */
static inline void nytp_write_call_entry(struct nytp_writer *writer,
                                         const struct nytp_encoded_entry *entry, int64_t since,
                                         int64_t now)
{
    nytp_writer_settle(writer);
    nytp_writer_room(writer);
    memcpy(writer->at, entry->bytes, sizeof entry->bytes);
    writer->at += entry->len;
    nytp_writer_hold(&writer->calls, since, now);
}

static inline void nytp_write_call_return(struct nytp_writer *writer, int64_t since,
                                          int64_t now)
{
    static const uint8_t bytes[4] = {'#', NYTP_CALL_RETURN, '\n'};
    nytp_writer_settle(writer);
    nytp_writer_room(writer);
    memcpy(writer->at, bytes, sizeof bytes);
    writer->at += 3;
    nytp_writer_hold(&writer->calls, since, now);
}

/* Anywhere else. */
static inline void nytp_write_call_entry_at(struct nytp_writer *writer,
                                            const struct nytp_encoded_entry *entry,
                                            int64_t since, int64_t now)
{
    nytp_writer_settle(writer);
    nytp_writer_room(writer);
    uint8_t *at = writer->at;
    memcpy(at, entry->bytes, sizeof entry->bytes);
    at[1] = NYTP_CALL_ENTRY_AT;
    at = nytp_encode_count(at + entry->len - 1,
                           (uint64_t)nytp_call_ticks(&writer->calls, since, now));
    *at++ = '\n';
    writer->at = writer->calls.entry_end = at;
    writer->calls.point = now;
}

static inline void nytp_write_call_return_at(struct nytp_writer *writer, int64_t since,
                                             int64_t now)
{
    nytp_writer_settle(writer);
    nytp_writer_room(writer);
    uint8_t *at = writer->at;
    if (at == writer->calls.entry_end) {
        at--; /* the entry's newline */
    } else {
        *at++ = '#';
        *at++ = NYTP_CALL_RETURN_AT;
    }
    at = nytp_encode_count(at, (uint64_t)nytp_call_ticks(&writer->calls, since, now));
    *at++ = '\n';
    writer->at = at;
    writer->calls.point = now;
}

/* Calls are told so from here on, before the process has any. */
void nytp_write_calls_head(struct nytp_writer *writer);

/* What is called from where, before its first entry. `name` is an encoded string, of which the
 * tag counts, and the `len` bytes of the name itself. */
struct nytp_encoded_entry nytp_write_call_site(struct nytp_writer *writer, uint32_t fid,
                                               uint32_t line, uint8_t tag, const char *name,
                                               size_t len);

/* Another of the records that are one number: NYTP_CALL_SHIFT, _WAIT, ... */
void nytp_write_call_change(struct nytp_writer *writer, enum nytp_call_code code,
                            int64_t value);

/* The number of the site. */
void nytp_write_call_site_change(struct nytp_writer *writer, enum nytp_call_code code,
                                 const struct nytp_encoded_entry *entry);

/* Room for the tag and length of an encoded string. */
#define NYTP_ENCODED_STR_EXTRA 6

/* Store tag, length and bytes at `to`, which has room for len + NYTP_ENCODED_STR_EXTRA bytes.
 * The tag says UTF-8 when the bytes are not all ASCII but valid UTF-8. Returns the encoded
 * length. */
size_t nytp_encode_str(uint8_t *to, const char *bytes, size_t len);

/* The other records. A newline in text lines, which have no escape of their own, becomes the
 * two characters `\n`. Strings are encoded as by nytp_encode_str(), but for source lines: these
 * are bytes, which no reader decodes. What a string of a struct claims of itself in `utf8` does
 * not matter. */

void nytp_write_version(struct nytp_writer *writer, uint32_t major, uint32_t minor);
void nytp_write_comment(struct nytp_writer *writer, const char *text); /* without newline */
void nytp_write_attribute(struct nytp_writer *writer, const char *key, const char *value,
                          size_t value_len);
void nytp_write_text_attribute(struct nytp_writer *writer, const char *key, const char *value);
void nytp_write_number_attribute(struct nytp_writer *writer, const char *key, int64_t value);
/* The same as a comment (comments/attribute_records.h), for what other recorders do not tell.
 */
void nytp_write_attribute_record(struct nytp_writer *writer, const char *key, const char *value,
                                 size_t value_len);
void nytp_write_option(struct nytp_writer *writer, const char *key, int64_t value);

/* What follows is compressed; level 1 to 9. Writes the comment that says so. False, and
 * nothing is written, when the compressor cannot be had. */
bool nytp_write_start_deflate(struct nytp_writer *writer, int level);

void nytp_write_pid_start(struct nytp_writer *writer, uint32_t pid, uint32_t ppid,
                          double time_s);
void nytp_write_pid_end(struct nytp_writer *writer, uint32_t pid, double time_s);
void nytp_write_new_fid(struct nytp_writer *writer, const struct nytp_new_fid *file);
void nytp_write_src_line(struct nytp_writer *writer, uint32_t fid, uint32_t line,
                         const char *text, size_t len);
void nytp_write_sub_info(struct nytp_writer *writer, const struct nytp_sub_info *info);
void nytp_write_sub_callers(struct nytp_writer *writer, const struct nytp_sub_callers *calls);

#endif
