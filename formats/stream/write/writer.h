/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Writes the native stream: one typed function for each record of the format, with the names
 * of tags.def. Records are collected in a block. A full block is passed on, compressed after
 * nytp_write_start_deflate().
 *
 * The trick: a function checks once that its record fits into the block, then stores bytes
 * without further checks. Only making room is a call.
 */
#ifndef NYTP_WRITER_H
#define NYTP_WRITER_H

#include "formats/deflate/deflate.h"
#include "formats/stream/call_records.h"
#include "formats/stream/event.h"

#include <string.h>

/* Points of call records on the writer's time axis. The reader's differs by a constant. */
struct nytp_call_axis {
    bool is_held;       /* the next record determines the last one's point */
    int64_t held_point; /* the last record's point */
    int64_t held_since; /* end of the statement's record before it */
    int64_t point;      /* of the last record with ticks */
    uint8_t *entry_end; /* of an entry with ticks, which may get its return */
    uint32_t n_sites;
};

struct nytp_writer {
    uint8_t *at, *end;   /* free space of the block */
    uint8_t *record_end; /* a record without strings fits up to here */
    uint8_t *block;      /* NYTP_WRITER_MOST bytes: `plain` or the compressor's room */
    uint8_t *plain;      /* owned */
    size_t n_plain; /* bytes of header in `plain` that wait for the first compressed ones: a
                     * program killed early leaves both or neither */
    bool failed;    /* sticky: `put` or the compressor refused; all else is dropped */
    /* Called when the block is full, to flush it. NULL: flush without sync. */
    void (*on_full)(struct nytp_writer *writer);
    struct nytp_call_axis calls;
    uint64_t n_raw;     /* bytes passed on, before compression */
    nytp_bytes_fn *put;
    void *context;
    struct nytp_deflate *deflate; /* owned; NULL until nytp_write_start_deflate() */
    uint64_t n_inflated;          /* bytes into the compressor */
    uint64_t n_deflated;          /* bytes out of it */
};

/* The initial length of a block. Records are shorter, except for their strings. */
#define NYTP_WRITER_BLOCK 16384
#define NYTP_WRITER_MOST  NYTP_DEFLATE_ROOM

/* The most that one record needs without its strings. */
#define NYTP_WRITER_RECORD 64

/* Returns a writer that passes bytes to `put` with `context`, or NULL if memory is out. */
struct nytp_writer *nytp_writer_new(nytp_bytes_fn *put, void *context);

/* Does not flush. Accepts NULL. */
void nytp_writer_free(struct nytp_writer *writer);

/* Passes the block on. With NYTP_FLUSH_SYNC a reader of the output sees every record put
 * before. NYTP_FLUSH_FINISH ends the stream. Allocates nothing. Returns false if the writer
 * has failed. */
bool nytp_writer_flush(struct nytp_writer *writer, enum nytp_flush flush);

/* Sets the length of blocks, NYTP_WRITER_BLOCK to NYTP_WRITER_MOST. The present one must not
 * hold more; on_full may call this after a flush. The compressor and the program evict each
 * other from the processor's caches; long blocks make that rarer. */
void nytp_writer_set_block(struct nytp_writer *writer, size_t len);

/* Continues with another compressor, or without one (NULL) in a block of the shortest length.
 * Frees the old one and discards its block. */
void nytp_writer_set_deflate(struct nytp_writer *writer, struct nytp_deflate *deflate);

/* After NYTP_FLUSH_FINISH: writes a line on the compression ratio behind the stream. Readers
 * of the format do not read it. */
bool nytp_writer_put_trailer(struct nytp_writer *writer);

/* Discards the block and the compressor. The next record starts a new stream. */
void nytp_writer_reset(struct nytp_writer *writer);

/* The slow parts of the functions below. */
void nytp_writer_make_room(struct nytp_writer *writer) __attribute__((cold));
void nytp_writer_put_bytes(struct nytp_writer *writer, const void *bytes, size_t len);

/* Makes sure that a record fits into the block, which may flush it. */
static inline void nytp_writer_room(struct nytp_writer *writer)
{
    if (__builtin_expect(writer->at > writer->record_end, 0))
        nytp_writer_make_room(writer);
}

/* Stores a packed integer (one to five bytes) or a double (eight bytes, native byte order; see
 * nytprof-v5.md). There must be room. Both return the place of the next field. */
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

/* Records that a running program pays for. The attribute ticks_per_sec defines ticks. */

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

/* A fid and a line, encoded. */
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

/* nytp_write_time_line() for a place that recurs. */
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

/* The same without ticks, n times: executions that were counted. */
void nytp_write_times(struct nytp_writer *writer, const struct nytp_encoded_place *place,
                      uint32_t n);

/* nytp_write_time_at() for the usual case, with or without a DISCOUNT behind it. Returns false, with
 * nothing written, if there is no room, the ticks need more than two bytes, or a call is held
 * whose point is not `now`, the end of this record. */
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
    memcpy(at, place->bytes, 8);
    if (place->len > 8)
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

/* Inlined, since every call runs it. */
static inline __attribute__((always_inline)) void
nytp_write_sub_entry(struct nytp_writer *writer, uint32_t caller_fid, uint32_t caller_line)
{
    nytp_writer_room(writer);
    uint8_t *at = writer->at;
    *at++ = '>';
    at = nytp_encode_u32(at, caller_fid);
    writer->at = nytp_encode_u32(at, caller_line);
}

/* Copies in steps of NYTP_COPY_STEP, which is faster than a call of memcpy() for names. Both
 * sides have room for the last step. */
#define NYTP_COPY_STEP 32

static inline void nytp_copy_padded(uint8_t *to, const uint8_t *from, size_t len)
{
    for (size_t i = 0; i < len; i += NYTP_COPY_STEP)
        memcpy(to + i, from + i, NYTP_COPY_STEP);
}

/* Writes the return of a call at `depth` (1 = outermost). `name` is an encoded string (see
 * nytp_encode_str()), readable up to the next multiple of NYTP_COPY_STEP. */
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

/* ---- calls in comments (formats/stream/call_records.h) ---- `since` is the end of the last
 * statement's record, `now` the point of the entry or return. */

/* An encoded entry from a site. */
struct nytp_encoded_entry {
    uint8_t bytes[8], len; /* 0: the site is not recorded yet */
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

/* Writes the point of the last record if it is held back. Call this before any record other
 * than the one that determines it. */
void nytp_writer_settle_call(struct nytp_writer *writer) __attribute__((cold));

static inline void nytp_writer_settle(struct nytp_writer *writer)
{
    if (__builtin_expect(writer->calls.is_held, 0))
        nytp_writer_settle_call(writer);
}

/* Call before a statement's record of `ticks`, which ends at `now`. */
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

/* Returns whether a record can be put: there is room and no call is held. */
static inline bool nytp_writer_is_ready(const struct nytp_writer *writer)
{
    return writer->at <= writer->record_end && !writer->calls.is_held;
}

/* An entry or return whose point is probably the end of the next statement's record. The two
 * that begin with nytp_put need a writer that is ready; they call nothing. */
static inline void nytp_put_call_entry(struct nytp_writer *writer,
                                       const struct nytp_encoded_entry *entry, int64_t since,
                                       int64_t now)
{
    memcpy(writer->at, entry->bytes, sizeof entry->bytes);
    writer->at += entry->len;
    nytp_writer_hold(&writer->calls, since, now);
}

static inline void nytp_put_call_return(struct nytp_writer *writer, int64_t since, int64_t now)
{
    static const uint8_t bytes[4] = {'#', NYTP_CALL_RETURN, '\n'};
    memcpy(writer->at, bytes, sizeof bytes);
    writer->at += 3;
    nytp_writer_hold(&writer->calls, since, now);
}

static inline void nytp_write_call_entry(struct nytp_writer *writer,
                                         const struct nytp_encoded_entry *entry, int64_t since,
                                         int64_t now)
{
    nytp_writer_settle(writer);
    nytp_writer_room(writer);
    nytp_put_call_entry(writer, entry, since, now);
}

static inline void nytp_write_call_return(struct nytp_writer *writer, int64_t since,
                                          int64_t now)
{
    nytp_writer_settle(writer);
    nytp_writer_room(writer);
    nytp_put_call_return(writer, since, now);
}

/* An entry or return at any other point. */
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

/* Announces that calls are recorded in comments. Call before the process has any. */
void nytp_write_calls_head(struct nytp_writer *writer);

/* Records a site before its first entry: the caller's place and the callee. `tag` is the tag
 * of the encoded name; `name` has `len` bytes without it. */
struct nytp_encoded_entry nytp_write_call_site(struct nytp_writer *writer, uint32_t fid,
                                               uint32_t line, uint8_t tag, const char *name,
                                               size_t len);

/* Writes a record that is one number: NYTP_CALL_SHIFT or NYTP_CALL_WAIT. */
void nytp_write_call_change(struct nytp_writer *writer, enum nytp_call_code code,
                            int64_t value);

/* The same for a record whose number is a site. */
void nytp_write_call_site_change(struct nytp_writer *writer, enum nytp_call_code code,
                                 const struct nytp_encoded_entry *entry);

/* Room for the tag and length of an encoded string. */
#define NYTP_ENCODED_STR_EXTRA 6

/* Stores tag, length and bytes at `to`, which has room for len + NYTP_ENCODED_STR_EXTRA bytes.
 * The tag says UTF-8 if the bytes are valid UTF-8 and not all ASCII. Returns the encoded
 * length. */
size_t nytp_encode_str(uint8_t *to, const char *bytes, size_t len);

/* The other records. A newline in a text line becomes the two characters `\n`. Strings are
 * encoded by nytp_encode_str(), except for source lines, which are plain bytes. The strings'
 * `utf8` members are ignored. */

void nytp_write_version(struct nytp_writer *writer, uint32_t major, uint32_t minor);
void nytp_write_comment(struct nytp_writer *writer, const char *text); /* without newline */
void nytp_write_attribute(struct nytp_writer *writer, const char *key, const char *value,
                          size_t value_len);
void nytp_write_text_attribute(struct nytp_writer *writer, const char *key, const char *value);
void nytp_write_number_attribute(struct nytp_writer *writer, const char *key, int64_t value);
/* The same as a comment (comments/attribute_records.h): others lack such attributes. */
void nytp_write_attribute_record(struct nytp_writer *writer, const char *key, const char *value,
                                 size_t value_len);
void nytp_write_option(struct nytp_writer *writer, const char *key, int64_t value);

/* Compresses all that follows, after a comment that tells the level asked for. Returns false,
 * with nothing written, if the compressor cannot be made. */
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
