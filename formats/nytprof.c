/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reads NYTProf streams, versions 1.0 to 5.x; the format is described in nytprof-v5.md.
 *
 * The trick: a record is decoded from contiguous bytes and nothing else. When they do not
 * reach, the decoder says how many the record has at least, the window is refilled, and the
 * record is decoded again from its start. Only a record larger than the window is gathered in
 * a buffer of its own, which grows with the bytes that were really there. Records of a few
 * small integers, nearly all of a stream, are decoded without any check while the window
 * holds more than the longest of them.
 */
#include "core/format.h"
#include "core/nv.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC                 "NYTProf"
#define MAX_LINE              60000u /* bytes of a text line; less than the window */
#define MAX_RECORD            (64u * 1024 * 1024) /* bytes of any record */
#define MAX_EXTRA             1000u               /* spare numbers in a SUB_INFO of version 3 */
#define QUICK_BYTES           32 /* more than a TIME_BLOCK of largest numbers */
#define VERSION(major, minor) ((major)*100u + (minor))

enum outcome {
    DECODED,
    SHORT,  /* cursor.need tells how many bytes the record has at least */
    FAILED, /* the reader's error is set */
};

struct cursor {
    const uint8_t *start, *at, *end;
    size_t need;         /* from start */
    uint32_t string_len; /* when SHORT inside a string */
    size_t string_at;    /* its first byte, from start */
};

struct reader {
    struct nytp_source *source;
    struct nytp_sink *sink;
    struct nytp_error *error;
    uint32_t version; /* VERSION(major, minor), minor at most 99 */
    uint32_t nv_size;
    const struct nytp_nv_layout *nv; /* NULL until the first number */
    uint8_t *large;                  /* gathers a record larger than the window */
    size_t large_size;
};

/* Errors and delivery */

static enum outcome fail(struct reader *r, const struct nytp_event *event,
                         enum nytp_status status, const char *what, uint32_t value)
{
    nytp_error_at(r->error, status, event->offset, nytp_source_inflating(r->source), what,
                  value);
    return FAILED;
}

static bool deliver(struct reader *r, const struct nytp_event *event)
{
    if (r->sink->event(r->sink, event))
        return true;
    return nytp_error_at(r->error, NYTP_ERR_STOPPED, event->offset,
                         nytp_source_inflating(r->source), "stopped");
}

/* Fields */

static const uint8_t *take(struct cursor *c, size_t n)
{
    if ((size_t)(c->end - c->at) < n) {
        c->need = (size_t)(c->at - c->start) + (n < MAX_RECORD ? n : MAX_RECORD + 1);
        return NULL;
    }
    const uint8_t *bytes = c->at;
    c->at += n;
    return bytes;
}

static size_t u32_size(uint8_t first)
{
    return first < 0x80 ? 1 : first < 0xc0 ? 2 : first < 0xe0 ? 3 : first < 0xff ? 4 : 5;
}

/* The caller has seen to it that all bytes are there. */
static inline const uint8_t *u32_unchecked(const uint8_t *at, uint32_t *value)
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

static bool get_u32(struct cursor *c, uint32_t *value)
{
    if (c->at == c->end || (size_t)(c->end - c->at) < u32_size(*c->at)) {
        c->need = (size_t)(c->at - c->start) + (c->at == c->end ? 1 : u32_size(*c->at));
        return false;
    }
    c->at = u32_unchecked(c->at, value);
    return true;
}

/* The layout of numbers is decided by the first one: a time of day, if the version has it. */
static const struct nytp_nv_layout *decide_nv(struct reader *r, const uint8_t *bytes,
                                              bool is_time)
{
    if (r->nv == NULL)
        r->nv = is_time ? nytp_nv_guess(r->nv_size, bytes) : nytp_nv_default(r->nv_size);
    return r->nv;
}

static bool get_number(struct reader *r, struct cursor *c, double *value)
{
    const uint8_t *bytes = take(c, r->nv_size);
    if (bytes == NULL)
        return false;
    *value = decide_nv(r, bytes, false)->decode(bytes);
    return true;
}

static bool get_time(struct reader *r, struct cursor *c, double *value)
{
    *value = 0;
    if (r->version < VERSION(2, 1))
        return true;
    const uint8_t *bytes = take(c, r->nv_size);
    if (bytes == NULL)
        return false;
    *value = decide_nv(r, bytes, true)->decode(bytes);
    return true;
}

/* Text up to and including a newline. */
static enum outcome get_line(struct reader *r, struct cursor *c, const struct nytp_event *event,
                             struct nytp_str *line)
{
    const size_t left = (size_t)(c->end - c->at);
    const size_t most = left < MAX_LINE ? left : MAX_LINE;
    const uint8_t *newline = most > 0 ? memchr(c->at, '\n', most) : NULL;
    if (newline == NULL) {
        if (left >= MAX_LINE)
            return fail(r, event, NYTP_ERR_LIMIT, "text line is longer than %u bytes",
                        MAX_LINE);
        c->need = (size_t)(c->end - c->start) + 1;
        return SHORT;
    }
    line->ptr = (const char *)c->at;
    line->len = (uint32_t)(newline + 1 - c->at);
    line->utf8 = false;
    c->at = newline + 1;
    return DECODED;
}

static enum outcome get_string(struct reader *r, struct cursor *c,
                               const struct nytp_event *event, struct nytp_str *string)
{
    if (r->version < VERSION(2, 0)) {
        const enum outcome outcome = get_line(r, c, event, string);
        if (outcome == DECODED)
            string->len--;
        return outcome;
    }
    const uint8_t *tag = take(c, 1);
    if (tag == NULL)
        return SHORT;
    if (*tag != '\'' && *tag != '"')
        return fail(r, event, NYTP_ERR_FORMAT, "byte 0x%02x where a string must begin", *tag);
    if (!get_u32(c, &string->len))
        return SHORT;
    c->string_len = string->len;
    c->string_at = (size_t)(c->at - c->start);
    string->ptr = (const char *)take(c, string->len);
    string->utf8 = *tag == '"';
    if (string->ptr == NULL)
        return SHORT;
    c->string_at = 0;
    return DECODED;
}

/* Records: the fields after the tag byte. */

#define GET_U32(field)                                                                         \
    do {                                                                                       \
        if (!get_u32(c, &(field)))                                                             \
            return SHORT;                                                                      \
    } while (0)
#define GET_NUMBER(field)                                                                      \
    do {                                                                                       \
        if (!get_number(r, c, &(field)))                                                       \
            return SHORT;                                                                      \
    } while (0)
#define GET_STRING(field)                                                                      \
    do {                                                                                       \
        const enum outcome outcome_ = get_string(r, c, e, &(field));                           \
        if (outcome_ != DECODED)                                                               \
            return outcome_;                                                                   \
    } while (0)

static enum outcome decode_comment(struct reader *r, struct cursor *c, struct nytp_event *e)
{
    return get_line(r, c, e, &e->u.comment.text);
}

static enum outcome note_nv_size(struct reader *r, const struct nytp_event *e)
{
    const struct nytp_str *value = &e->u.pair.value;
    uint32_t size = 0;
    for (uint32_t i = 0; i < value->len && size < 1000; i++)
        if (value->ptr[i] >= '0' && value->ptr[i] <= '9')
            size = size * 10 + (uint32_t)(value->ptr[i] - '0');
    if (nytp_nv_default(size) == NULL)
        return fail(r, e, NYTP_ERR_FORMAT, "nv_size=%u is no size of a number", size);
    if (size != r->nv_size)
        r->nv = NULL;
    r->nv_size = size;
    return DECODED;
}

/* "key=value\n"; a line without "=" is a key without value. */
static enum outcome decode_pair(struct reader *r, struct cursor *c, struct nytp_event *e)
{
    struct nytp_str line;
    const enum outcome outcome = get_line(r, c, e, &line);
    if (outcome != DECODED)
        return outcome;
    line.len--;
    const char *equals = memchr(line.ptr, '=', line.len);
    const char *end = line.ptr + line.len;
    e->u.pair.key = line;
    e->u.pair.value = (struct nytp_str){.ptr = end};
    if (equals != NULL) {
        e->u.pair.key.len = (uint32_t)(equals - line.ptr);
        e->u.pair.value.ptr = equals + 1;
        e->u.pair.value.len = (uint32_t)(end - equals - 1);
    }
    if (e->tag == NYTP_TAG_ATTRIBUTE && e->u.pair.key.len == strlen("nv_size") &&
        memcmp(line.ptr, "nv_size", strlen("nv_size")) == 0)
        return note_nv_size(r, e);
    return DECODED;
}

static enum outcome decode_pid_start(struct reader *r, struct cursor *c, struct nytp_event *e)
{
    GET_U32(e->u.pid_start.pid);
    GET_U32(e->u.pid_start.ppid);
    return get_time(r, c, &e->u.pid_start.time_s) ? DECODED : SHORT;
}

static enum outcome decode_pid_end(struct reader *r, struct cursor *c, struct nytp_event *e)
{
    GET_U32(e->u.pid_end.pid);
    return get_time(r, c, &e->u.pid_end.time_s) ? DECODED : SHORT;
}

static enum outcome decode_new_fid(struct reader *r, struct cursor *c, struct nytp_event *e)
{
    GET_U32(e->u.new_fid.fid);
    GET_U32(e->u.new_fid.eval_fid);
    GET_U32(e->u.new_fid.eval_line);
    e->u.new_fid.flags = e->u.new_fid.size = e->u.new_fid.mtime_s = 0;
    if (r->version >= VERSION(1, 1)) {
        GET_U32(e->u.new_fid.flags);
        GET_U32(e->u.new_fid.size);
        GET_U32(e->u.new_fid.mtime_s);
    }
    GET_STRING(e->u.new_fid.name);
    return DECODED;
}

/* Ticks were unsigned before version 4.0. What does not fit the event is delivered ahead, in
 * pieces that count as one statement. */
static bool deliver_excess_ticks(struct reader *r, struct nytp_event *e, uint32_t ticks)
{
    if (!deliver(r, e))
        return false;
    e->u.time.ticks = (int32_t)(ticks - INT32_MAX);
    const struct nytp_event discount = {.tag = NYTP_TAG_DISCOUNT, .offset = e->offset};
    return deliver(r, &discount);
}

static enum outcome decode_time(struct reader *r, struct cursor *c, struct nytp_event *e)
{
    uint32_t ticks;
    GET_U32(ticks);
    GET_U32(e->u.time.fid);
    GET_U32(e->u.time.line);
    e->u.time.block_line = e->u.time.sub_line = 0;
    if (e->tag == NYTP_TAG_TIME_BLOCK) {
        GET_U32(e->u.time.block_line);
        GET_U32(e->u.time.sub_line);
    }
    e->u.time.ticks = (int32_t)ticks;
    if (r->version >= VERSION(4, 0) || ticks <= INT32_MAX)
        return DECODED;
    e->u.time.ticks = INT32_MAX;
    while (ticks > INT32_MAX) {
        if (!deliver_excess_ticks(r, e, ticks))
            return FAILED;
        ticks -= INT32_MAX;
        e->u.time.ticks = (int32_t)(ticks < INT32_MAX ? ticks : INT32_MAX);
    }
    return DECODED;
}

static enum outcome decode_sub_entry(struct cursor *c, struct nytp_event *e)
{
    GET_U32(e->u.sub_entry.caller_fid);
    GET_U32(e->u.sub_entry.caller_line);
    return DECODED;
}

static enum outcome decode_sub_return(struct reader *r, struct cursor *c, struct nytp_event *e)
{
    GET_U32(e->u.sub_return.depth);
    GET_NUMBER(e->u.sub_return.incl_ticks);
    GET_NUMBER(e->u.sub_return.excl_ticks);
    GET_STRING(e->u.sub_return.name);
    return DECODED;
}

static enum outcome decode_src_line(struct reader *r, struct cursor *c, struct nytp_event *e)
{
    GET_U32(e->u.src_line.fid);
    GET_U32(e->u.src_line.line);
    GET_STRING(e->u.src_line.text);
    return DECODED;
}

static enum outcome skip_extra_numbers(struct reader *r, struct cursor *c,
                                       const struct nytp_event *e)
{
    uint32_t n, ignored;
    GET_U32(n);
    if (n > MAX_EXTRA)
        return fail(r, e, NYTP_ERR_LIMIT, "SUB_INFO with %u extra numbers", n);
    while (n-- > 0)
        GET_U32(ignored);
    return DECODED;
}

static enum outcome decode_sub_info(struct reader *r, struct cursor *c, struct nytp_event *e)
{
    const bool name_first = r->version >= VERSION(3, 0);
    GET_U32(e->u.sub_info.fid);
    if (name_first)
        GET_STRING(e->u.sub_info.name);
    GET_U32(e->u.sub_info.first_line);
    GET_U32(e->u.sub_info.last_line);
    if (!name_first)
        GET_STRING(e->u.sub_info.name);
    if (r->version >= VERSION(3, 0) && r->version < VERSION(4, 0))
        return skip_extra_numbers(r, c, e);
    return DECODED;
}

static enum outcome decode_sub_callers(struct reader *r, struct cursor *c, struct nytp_event *e)
{
    double spare;
    e->u.sub_callers.caller = (struct nytp_str){.ptr = ""};
    e->u.sub_callers.incl_s = e->u.sub_callers.excl_s = e->u.sub_callers.reci_s = 0;
    e->u.sub_callers.rec_depth = 0;
    GET_U32(e->u.sub_callers.fid);
    GET_U32(e->u.sub_callers.line);
    if (r->version >= VERSION(3, 0))
        GET_STRING(e->u.sub_callers.caller);
    GET_U32(e->u.sub_callers.count);
    if (r->version >= VERSION(1, 2)) {
        GET_NUMBER(e->u.sub_callers.incl_s);
        GET_NUMBER(e->u.sub_callers.excl_s);
    }
    if (r->version >= VERSION(1, 2) && r->version < VERSION(4, 0)) {
        GET_NUMBER(spare);
        GET_NUMBER(spare);
    }
    if (r->version >= VERSION(2, 1)) {
        GET_NUMBER(e->u.sub_callers.reci_s);
        GET_U32(e->u.sub_callers.rec_depth);
    }
    GET_STRING(e->u.sub_callers.callee);
    return DECODED;
}

static enum outcome decode_fields(struct reader *r, struct cursor *c, struct nytp_event *e)
{
    switch (e->tag) {
    case NYTP_TAG_ATTRIBUTE:
    case NYTP_TAG_OPTION:
        return decode_pair(r, c, e);
    case NYTP_TAG_COMMENT:
        return decode_comment(r, c, e);
    case NYTP_TAG_PID_START:
        return decode_pid_start(r, c, e);
    case NYTP_TAG_PID_END:
        return decode_pid_end(r, c, e);
    case NYTP_TAG_NEW_FID:
        return decode_new_fid(r, c, e);
    case NYTP_TAG_TIME_LINE:
    case NYTP_TAG_TIME_BLOCK:
        return decode_time(r, c, e);
    case NYTP_TAG_SUB_ENTRY:
        return decode_sub_entry(c, e);
    case NYTP_TAG_SUB_RETURN:
        return decode_sub_return(r, c, e);
    case NYTP_TAG_SRC_LINE:
        return decode_src_line(r, c, e);
    case NYTP_TAG_SUB_INFO:
        return decode_sub_info(r, c, e);
    case NYTP_TAG_SUB_CALLERS:
        return decode_sub_callers(r, c, e);
    default: /* DISCOUNT and START_DEFLATE have none */
        return DECODED;
    }
}

/* Tag bytes; 0 (VERSION) stands for all that are none. */
static const uint8_t tag_of_byte[256] = {
#define NYTP_TAG(name, byte) [byte] = NYTP_TAG_##name,
#include "core/tags.def"
#undef NYTP_TAG
};

static enum outcome decode_record(struct reader *r, struct cursor *c, struct nytp_event *e)
{
    c->at = c->start;
    c->string_at = 0;
    const uint8_t *tag = take(c, 1);
    if (tag == NULL)
        return SHORT;
    e->tag = (enum nytp_tag)tag_of_byte[*tag];
    if (e->tag == NYTP_TAG_VERSION)
        return fail(r, e, NYTP_ERR_FORMAT, "unknown record tag 0x%02x", *tag);
    return decode_fields(r, c, e);
}

/* Supplying the decoder with bytes */

/* The input ended (or broke) inside a record of which `have` bytes are there. */
static bool fail_short(struct reader *r, const struct cursor *c, const struct nytp_event *e,
                       size_t have)
{
    const struct nytp_error *source_error = nytp_source_error(r->source);
    if (source_error->status != NYTP_OK) {
        *r->error = *source_error;
        return false;
    }
    const bool inflated = nytp_source_inflating(r->source);
    if (c->string_at > 0)
        return nytp_error_at(r->error, NYTP_ERR_TRUNCATED, e->offset, inflated,
                             "%s: string of %u bytes, only %zu left", nytp_tag_name(e->tag),
                             c->string_len, have - c->string_at);
    return nytp_error_at(r->error, NYTP_ERR_TRUNCATED, e->offset, inflated,
                         "%s: the input ends inside the record", nytp_tag_name(e->tag));
}

static bool grow_large(struct reader *r, size_t need)
{
    if (need <= r->large_size)
        return true;
    size_t size = r->large_size > 0 ? r->large_size : 2 * NYTP_SOURCE_MAX_NEED;
    while (size < need)
        size *= 2;
    uint8_t *large = realloc(r->large, size);
    if (large == NULL)
        return nytp_error_set(r->error, NYTP_ERR_MEMORY, "out of memory: record of %zu bytes",
                              need);
    r->large = large;
    r->large_size = size;
    return true;
}

/* Move bytes from the source to the end of the `have` bytes gathered, until there are `need`
 * or no more. Returns how many there are; 0 when memory is short. */
static size_t gather(struct reader *r, size_t have, size_t need)
{
    struct nytp_source *source = r->source;
    while (have < need && nytp_source_fill(source, 1) > 0) {
        const size_t left = (size_t)(source->end - source->at);
        const size_t n = left < need - have ? left : need - have;
        if (!grow_large(r, have + n))
            return 0;
        memcpy(r->large + have, source->at, n);
        source->at += n;
        have += n;
    }
    return have;
}

static bool fail_too_large(struct reader *r, const struct cursor *c, const struct nytp_event *e)
{
    /* A claim beyond the end of a small input is better called just that. */
    const size_t have = nytp_source_fill(r->source, NYTP_SOURCE_MAX_NEED);
    if (have < NYTP_SOURCE_MAX_NEED)
        return fail_short(r, c, e, have);
    return nytp_error_at(r->error, NYTP_ERR_LIMIT, e->offset, nytp_source_inflating(r->source),
                         "%s: string of %u bytes, the limit of a record is %u",
                         nytp_tag_name(e->tag), c->string_len, MAX_RECORD);
}

static bool read_large_record(struct reader *r, struct cursor *c, struct nytp_event *e)
{
    size_t have = 0;
    enum outcome outcome;
    do {
        if (c->need > MAX_RECORD)
            return nytp_error_at(r->error, NYTP_ERR_LIMIT, e->offset,
                                 nytp_source_inflating(r->source),
                                 "%s: %zu bytes, the limit of a record is %u",
                                 nytp_tag_name(e->tag), c->need, MAX_RECORD);
        have = gather(r, have, c->need);
        if (have == 0 && r->error->status != NYTP_OK)
            return false;
        if (have < c->need)
            return fail_short(r, c, e, have);
        *c = (struct cursor){.start = r->large, .end = r->large + have};
        outcome = decode_record(r, c, e);
    } while (outcome == SHORT);
    return outcome == DECODED && deliver(r, e);
}

static bool read_record(struct reader *r)
{
    struct nytp_source *source = r->source;
    struct nytp_event event = {.offset = nytp_source_offset(source)};
    for (;;) {
        struct cursor c = {.start = source->at, .end = source->end};
        const enum outcome outcome = decode_record(r, &c, &event);
        if (outcome == FAILED)
            return false;
        if (outcome == DECODED) {
            source->at = c.at;
            if (!deliver(r, &event))
                return false;
            break;
        }
        if (c.need > MAX_RECORD)
            return fail_too_large(r, &c, &event);
        if (c.need > NYTP_SOURCE_MAX_NEED)
            return read_large_record(r, &c, &event);
        const size_t have = nytp_source_fill(source, c.need);
        if (have < c.need)
            return fail_short(r, &c, &event, have);
    }
    if (event.tag != NYTP_TAG_START_DEFLATE || nytp_source_start_inflate(source))
        return true;
    *r->error = *nytp_source_error(source);
    return false;
}

/* The common records, while the window holds any of them whole. Stops before the first that
 * is of another kind. */
static bool read_quick_records(struct reader *r)
{
    struct nytp_source *source = r->source;
    const uint8_t *at = source->at;
    const uint64_t bias = nytp_source_offset(source) - (uintptr_t)at;
    const bool unsigned_ticks = r->version < VERSION(4, 0);
    struct nytp_event event;
    bool going_on = true;
    while (going_on && (size_t)(source->end - at) >= QUICK_BYTES) {
        const uint8_t tag = *at;
        event.offset = bias + (uintptr_t)at;
        if (tag == '+' || tag == '*') {
            uint32_t ticks;
            const uint8_t *next = u32_unchecked(at + 1, &ticks);
            if (unsigned_ticks && ticks > INT32_MAX)
                break;
            event.u.time.ticks = (int32_t)ticks;
            next = u32_unchecked(next, &event.u.time.fid);
            next = u32_unchecked(next, &event.u.time.line);
            event.tag = NYTP_TAG_TIME_LINE;
            event.u.time.block_line = event.u.time.sub_line = 0;
            if (tag == '*') {
                event.tag = NYTP_TAG_TIME_BLOCK;
                next = u32_unchecked(next, &event.u.time.block_line);
                next = u32_unchecked(next, &event.u.time.sub_line);
            }
            at = next;
        } else if (tag == '-') {
            event.tag = NYTP_TAG_DISCOUNT;
            at++;
        } else if (tag == '>') {
            event.tag = NYTP_TAG_SUB_ENTRY;
            at = u32_unchecked(at + 1, &event.u.sub_entry.caller_fid);
            at = u32_unchecked(at, &event.u.sub_entry.caller_line);
        } else {
            break;
        }
        going_on = r->sink->event(r->sink, &event);
    }
    source->at = at;
    return going_on || nytp_error_at(r->error, NYTP_ERR_STOPPED, event.offset,
                                     nytp_source_inflating(source), "stopped");
}

static bool read_records(struct reader *r)
{
    while (nytp_source_fill(r->source, QUICK_BYTES) > 0)
        if (!read_quick_records(r) || (r->source->at < r->source->end && !read_record(r)))
            return false;
    const struct nytp_error *source_error = nytp_source_error(r->source);
    if (source_error->status == NYTP_OK)
        return true;
    *r->error = *source_error;
    return false;
}

/* The first line */

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

static const char *get_decimal(const char *at, const char *end, uint32_t *value)
{
    if (at == end || *at < '0' || *at > '9')
        return NULL;
    for (*value = 0; at < end && *at >= '0' && *at <= '9'; at++)
        if (*value < 100000000)
            *value = *value * 10 + (uint32_t)(*at - '0');
    return at;
}

static bool parse_version(const char *at, const char *end, struct nytp_event *event)
{
    at = get_decimal(skip_blanks(at, end), end, &event->u.version.major);
    if (at == NULL)
        return false;
    return get_decimal(skip_blanks(at, end), end, &event->u.version.minor) != NULL;
}

static bool read_version(struct reader *r)
{
    struct nytp_source *source = r->source;
    struct nytp_event event = {.tag = NYTP_TAG_VERSION, .offset = nytp_source_offset(source)};
    struct nytp_str line;
    struct cursor c;
    enum outcome outcome;
    do {
        c = (struct cursor){.start = source->at, .at = source->at, .end = source->end};
        outcome = get_line(r, &c, &event, &line);
    } while (outcome == SHORT && nytp_source_fill(source, c.need) >= c.need);
    if (outcome == SHORT)
        return fail_short(r, &c, &event, (size_t)(c.end - c.start));
    if (outcome == FAILED)
        return false;
    if (!parse_version(line.ptr + strlen(MAGIC), line.ptr + line.len, &event))
        return nytp_error_at(r->error, NYTP_ERR_FORMAT, event.offset, false,
                             "header line without a version");
    const uint32_t major = event.u.version.major, minor = event.u.version.minor;
    if (major < 1 || major > 5)
        return nytp_error_at(r->error, NYTP_ERR_FORMAT, event.offset, false,
                             "format version %u.%u is not supported", major, minor);
    r->version = VERSION(major, minor < 99 ? minor : 99);
    source->at = c.at;
    return deliver(r, &event);
}

static bool nytprof_detect(const uint8_t *head, size_t len)
{
    return len >= strlen(MAGIC) && memcmp(head, MAGIC, strlen(MAGIC)) == 0;
}

static bool nytprof_read(struct nytp_source *source, const struct nytp_read_options *options,
                         struct nytp_sink *sink, struct nytp_error *error)
{
    (void)options;
    struct reader reader = {.source = source, .sink = sink, .error = error, .nv_size = 8};
    const bool read = read_version(&reader) && read_records(&reader);
    free(reader.large);
    return read;
}

const struct nytp_format nytp_format_nytprof = {
    .name = "nytprof",
    .title = "Devel::NYTProf stream (nytprof.out)",
    .detect = nytprof_detect,
    .read = nytprof_read,
};
