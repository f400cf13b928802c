/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * One record of the native stream; see record.h.
 */
#include "record.h"

#include "nv.h"

#include <string.h>

#define MAX_EXTRA 1000u /* spare numbers in a SUB_INFO of version 3 */

static enum nytp_decoded fail(struct nytp_decoder *d, const struct nytp_event *event,
                              enum nytp_status status, const char *what, uint32_t value)
{
    nytp_error_at(d->error, status, event->offset, nytp_source_inflating(d->source), what,
                  value);
    return NYTP_FAILED;
}

bool nytp_fail_stopped(struct nytp_decoder *d, uint64_t offset)
{
    return nytp_error_at(d->error, NYTP_ERR_STOPPED, offset, nytp_source_inflating(d->source),
                         "stopped");
}

bool nytp_deliver(struct nytp_decoder *d, const struct nytp_event *event)
{
    return d->sink->event(d->sink, event) || nytp_fail_stopped(d, event->offset);
}

static const uint8_t *take_bytes(struct nytp_cursor *c, size_t n)
{
    if ((size_t)(c->end - c->at) < n) {
        c->need = (size_t)(c->at - c->start) + (n < NYTP_MAX_RECORD ? n : NYTP_MAX_RECORD + 1);
        return NULL;
    }
    const uint8_t *bytes = c->at;
    c->at += n;
    return bytes;
}

/* The first number determines the layout. */
static bool get_number(struct nytp_decoder *d, struct nytp_cursor *c, bool is_time,
                       double *value)
{
    const uint8_t *bytes = take_bytes(c, d->nv_size);
    if (bytes == NULL)
        return false;
    if (d->nv == NULL)
        d->nv = is_time ? nytp_nv_guess(d->nv_size, bytes) : nytp_nv_default(d->nv_size);
    *value = d->nv->decode(bytes);
    return true;
}

/* A time of day, if the version records one. */
static bool get_time(struct nytp_decoder *d, struct nytp_cursor *c, double *value)
{
    *value = 0;
    return d->version < NYTP_STREAM_VERSION(2, 1) || get_number(d, c, true, value);
}

enum nytp_decoded nytp_decode_line(struct nytp_cursor *c, struct nytp_str *line)
{
    const size_t left = (size_t)(c->end - c->at);
    const uint8_t *newline = left > 0 ? memchr(c->at, '\n', left) : NULL;
    if (newline == NULL) {
        c->need = (size_t)(c->end - c->start) + 1;
        c->to_newline = true;
        return NYTP_SHORT;
    }
    line->ptr = (const char *)c->at;
    line->len = (uint32_t)(newline + 1 - c->at);
    line->utf8 = false;
    c->at = newline + 1;
    return NYTP_DECODED;
}

/* Before version 2.0 a string is a line; since then it has a tag (UTF-8 or not) and length. */
static enum nytp_decoded get_string(struct nytp_decoder *d, struct nytp_cursor *c,
                                    const struct nytp_event *event, struct nytp_str *string)
{
    if (d->version < NYTP_STREAM_VERSION(2, 0)) {
        const enum nytp_decoded outcome = nytp_decode_line(c, string);
        if (outcome == NYTP_DECODED)
            string->len--;
        return outcome;
    }
    const uint8_t *tag = take_bytes(c, 1);
    if (tag == NULL)
        return NYTP_SHORT;
    if (*tag != '\'' && *tag != '"')
        return fail(d, event, NYTP_ERR_FORMAT, "byte 0x%02x where a string must begin", *tag);
    if (!nytp_cursor_u32(c, &string->len))
        return NYTP_SHORT;
    c->string_len = string->len;
    c->string_at = (size_t)(c->at - c->start);
    string->ptr = (const char *)take_bytes(c, string->len);
    string->utf8 = *tag == '"';
    if (string->ptr == NULL)
        return NYTP_SHORT;
    c->string_at = 0;
    return NYTP_DECODED;
}

#define GET_U32(field)                                                                         \
    do {                                                                                       \
        if (!nytp_cursor_u32(c, &(field)))                                                     \
            return NYTP_SHORT;                                                                 \
    } while (0)
#define GET_NUMBER(field)                                                                      \
    do {                                                                                       \
        if (!get_number(d, c, false, &(field)))                                                \
            return NYTP_SHORT;                                                                 \
    } while (0)
#define GET_STRING(field)                                                                      \
    do {                                                                                       \
        const enum nytp_decoded outcome_ = get_string(d, c, e, &(field));                      \
        if (outcome_ != NYTP_DECODED)                                                          \
            return outcome_;                                                                   \
    } while (0)

static enum nytp_decoded note_nv_size(struct nytp_decoder *d, const struct nytp_event *e)
{
    const struct nytp_str *value = &e->u.setting.value;
    uint32_t size = 0;
    for (uint32_t i = 0; i < value->len && size < 1000; i++)
        if (value->ptr[i] >= '0' && value->ptr[i] <= '9')
            size = size * 10 + (uint32_t)(value->ptr[i] - '0');
    if (nytp_nv_default(size) == NULL)
        return fail(d, e, NYTP_ERR_FORMAT, "nv_size=%u is no size of a number", size);
    if (size != d->nv_size)
        d->nv = NULL;
    d->nv_size = size;
    return NYTP_DECODED;
}

/* "key=value\n"; without "=", the line is a key. */
static enum nytp_decoded decode_pair(struct nytp_decoder *d, struct nytp_cursor *c,
                                     struct nytp_event *e)
{
    struct nytp_str line;
    const enum nytp_decoded outcome = nytp_decode_line(c, &line);
    if (outcome != NYTP_DECODED)
        return outcome;
    line.len--;
    const char *equals = memchr(line.ptr, '=', line.len);
    const char *end = line.ptr + line.len;
    e->u.setting.key = line;
    e->u.setting.value = (struct nytp_str){.ptr = end};
    if (equals != NULL) {
        e->u.setting.key.len = (uint32_t)(equals - line.ptr);
        e->u.setting.value.ptr = equals + 1;
        e->u.setting.value.len = (uint32_t)(end - equals - 1);
    }
    if (e->tag == NYTP_TAG_ATTRIBUTE && nytp_str_is(e->u.setting.key, "nv_size"))
        return note_nv_size(d, e);
    return NYTP_DECODED;
}

static enum nytp_decoded decode_process(struct nytp_decoder *d, struct nytp_cursor *c,
                                        struct nytp_event *e)
{
    GET_U32(e->u.process.pid);
    if (e->tag == NYTP_TAG_PID_START)
        GET_U32(e->u.process.ppid);
    return get_time(d, c, &e->u.process.time_s) ? NYTP_DECODED : NYTP_SHORT;
}

static enum nytp_decoded decode_new_fid(struct nytp_decoder *d, struct nytp_cursor *c,
                                        struct nytp_event *e)
{
    GET_U32(e->u.new_fid.fid);
    GET_U32(e->u.new_fid.eval_fid);
    GET_U32(e->u.new_fid.eval_line);
    e->u.new_fid.flags = e->u.new_fid.size = e->u.new_fid.mtime_s = 0;
    if (d->version >= NYTP_STREAM_VERSION(1, 1)) {
        GET_U32(e->u.new_fid.flags);
        GET_U32(e->u.new_fid.size);
        GET_U32(e->u.new_fid.mtime_s);
    }
    GET_STRING(e->u.new_fid.name);
    return NYTP_DECODED;
}

/* Ticks were unsigned before version 4.0. Ticks above INT32_MAX are delivered in pieces. Each
 * but the last is followed by a DISCOUNT, so that all count as one statement. */
static bool deliver_excess_ticks(struct nytp_decoder *d, struct nytp_event *e, uint32_t ticks)
{
    if (!nytp_deliver(d, e))
        return false;
    e->u.time.ticks = (int32_t)(ticks - INT32_MAX);
    const struct nytp_event discount = {.tag = NYTP_TAG_DISCOUNT, .offset = e->offset};
    return nytp_deliver(d, &discount);
}

static enum nytp_decoded decode_time(struct nytp_decoder *d, struct nytp_cursor *c,
                                     struct nytp_event *e)
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
    if (d->version >= NYTP_STREAM_VERSION(4, 0) || ticks <= INT32_MAX)
        return NYTP_DECODED;
    e->u.time.ticks = INT32_MAX;
    while (ticks > INT32_MAX) {
        if (!deliver_excess_ticks(d, e, ticks))
            return NYTP_FAILED;
        ticks -= INT32_MAX;
        e->u.time.ticks = (int32_t)(ticks < INT32_MAX ? ticks : INT32_MAX);
    }
    return NYTP_DECODED;
}

static enum nytp_decoded decode_sub_entry(struct nytp_cursor *c, struct nytp_event *e)
{
    GET_U32(e->u.sub_entry.caller_fid);
    GET_U32(e->u.sub_entry.caller_line);
    return NYTP_DECODED;
}

static enum nytp_decoded decode_sub_return(struct nytp_decoder *d, struct nytp_cursor *c,
                                           struct nytp_event *e)
{
    GET_U32(e->u.sub_return.depth);
    GET_NUMBER(e->u.sub_return.incl_ticks);
    GET_NUMBER(e->u.sub_return.excl_ticks);
    GET_STRING(e->u.sub_return.name);
    e->u.sub_return.name_number = 0;
    return NYTP_DECODED;
}

static enum nytp_decoded decode_src_line(struct nytp_decoder *d, struct nytp_cursor *c,
                                         struct nytp_event *e)
{
    GET_U32(e->u.src_line.fid);
    GET_U32(e->u.src_line.line);
    GET_STRING(e->u.src_line.text);
    return NYTP_DECODED;
}

static enum nytp_decoded skip_extra_numbers(struct nytp_decoder *d, struct nytp_cursor *c,
                                            const struct nytp_event *e)
{
    uint32_t n, ignored;
    GET_U32(n);
    if (n > MAX_EXTRA)
        return fail(d, e, NYTP_ERR_LIMIT, "SUB_INFO with %u extra numbers", n);
    while (n-- > 0)
        GET_U32(ignored);
    return NYTP_DECODED;
}

static enum nytp_decoded decode_sub_info(struct nytp_decoder *d, struct nytp_cursor *c,
                                         struct nytp_event *e)
{
    const bool name_first = d->version >= NYTP_STREAM_VERSION(3, 0);
    GET_U32(e->u.sub_info.fid);
    if (name_first)
        GET_STRING(e->u.sub_info.name);
    GET_U32(e->u.sub_info.first_line);
    GET_U32(e->u.sub_info.last_line);
    if (!name_first)
        GET_STRING(e->u.sub_info.name);
    if (d->version >= NYTP_STREAM_VERSION(3, 0) && d->version < NYTP_STREAM_VERSION(4, 0))
        return skip_extra_numbers(d, c, e);
    return NYTP_DECODED;
}

static enum nytp_decoded decode_sub_callers(struct nytp_decoder *d, struct nytp_cursor *c,
                                            struct nytp_event *e)
{
    double spare;
    e->u.sub_callers.caller = (struct nytp_str){.ptr = ""};
    e->u.sub_callers.incl_s = e->u.sub_callers.excl_s = e->u.sub_callers.reci_s = 0;
    e->u.sub_callers.rec_depth = 0;
    GET_U32(e->u.sub_callers.fid);
    GET_U32(e->u.sub_callers.line);
    if (d->version >= NYTP_STREAM_VERSION(3, 0))
        GET_STRING(e->u.sub_callers.caller);
    GET_U32(e->u.sub_callers.count);
    if (d->version >= NYTP_STREAM_VERSION(1, 2)) {
        GET_NUMBER(e->u.sub_callers.incl_s);
        GET_NUMBER(e->u.sub_callers.excl_s);
    }
    if (d->version >= NYTP_STREAM_VERSION(1, 2) && d->version < NYTP_STREAM_VERSION(4, 0)) {
        GET_NUMBER(spare);
        GET_NUMBER(spare);
    }
    if (d->version >= NYTP_STREAM_VERSION(2, 1)) {
        GET_NUMBER(e->u.sub_callers.reci_s);
        GET_U32(e->u.sub_callers.rec_depth);
    }
    GET_STRING(e->u.sub_callers.callee);
    return NYTP_DECODED;
}

static enum nytp_decoded decode_fields(struct nytp_decoder *d, struct nytp_cursor *c,
                                       struct nytp_event *e)
{
    switch (e->tag) {
    case NYTP_TAG_ATTRIBUTE:
    case NYTP_TAG_OPTION:
        return decode_pair(d, c, e);
    case NYTP_TAG_COMMENT:
        return nytp_decode_line(c, &e->u.comment.text);
    case NYTP_TAG_PID_START:
    case NYTP_TAG_PID_END:
        return decode_process(d, c, e);
    case NYTP_TAG_NEW_FID:
        return decode_new_fid(d, c, e);
    case NYTP_TAG_TIME_LINE:
    case NYTP_TAG_TIME_BLOCK:
        return decode_time(d, c, e);
    case NYTP_TAG_SUB_ENTRY:
        return decode_sub_entry(c, e);
    case NYTP_TAG_SUB_RETURN:
        return decode_sub_return(d, c, e);
    case NYTP_TAG_SRC_LINE:
        return decode_src_line(d, c, e);
    case NYTP_TAG_SUB_INFO:
        return decode_sub_info(d, c, e);
    case NYTP_TAG_SUB_CALLERS:
        return decode_sub_callers(d, c, e);
    default: /* DISCOUNT and START_DEFLATE have no fields */
        return NYTP_DECODED;
    }
}

/* 0 (VERSION): not a tag byte. */
static const uint8_t tag_of_byte[256] = {
#define NYTP_TAG(name, byte) [byte] = NYTP_TAG_##name,
#include "tags.def"
};

enum nytp_decoded nytp_decode_record(struct nytp_decoder *d, struct nytp_cursor *c,
                                     struct nytp_event *e)
{
    c->at = c->start;
    c->string_at = 0;
    const uint8_t *tag = take_bytes(c, 1);
    if (tag == NULL)
        return NYTP_SHORT;
    e->tag = (enum nytp_tag)tag_of_byte[*tag];
    if (e->tag == NYTP_TAG_VERSION)
        return fail(d, e, NYTP_ERR_FORMAT, "unknown record tag 0x%02x", *tag);
    return decode_fields(d, c, e);
}
