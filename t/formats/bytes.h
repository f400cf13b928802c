/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * For the tests of the readers: streams made by hand, events written as text, TAP.
 */
#ifndef NYTP_TEST_BYTES_H
#define NYTP_TEST_BYTES_H

#include "formats/stream/format.h"
#include "t/tap.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <zlib.h>

/* Growing bytes */

struct bytes {
    uint8_t *data;
    size_t len, size;
};

static inline void put(struct bytes *b, const void *data, size_t len)
{
    if (b->len + len > b->size) {
        b->size = (b->len + len) * 2 + 64;
        b->data = realloc(b->data, b->size);
        assert(b->data != NULL);
    }
    if (len > 0)
        memcpy(b->data + b->len, data, len);
    b->len += len;
}

static inline void put_byte(struct bytes *b, int byte)
{
    const uint8_t value = (uint8_t)byte;
    put(b, &value, 1);
}

static inline void put_text(struct bytes *b, const char *text)
{
    put(b, text, strlen(text));
}

static inline void put_u32(struct bytes *b, uint32_t v)
{
    const int extra = v < 0x80 ? 0 : v < 0x4000 ? 1 : v < 0x200000 ? 2 : v < 0x10000000 ? 3 : 4;
    static const uint8_t marks[] = {0, 0x80, 0xc0, 0xe0, 0xff};
    put_byte(b, extra == 4 ? 0xff : marks[extra] | (int)(v >> (8 * extra)));
    for (int i = extra - 1; i >= 0; i--)
        put_byte(b, (int)(v >> (8 * i)));
}

/* put_record(&b, '+', 3, ticks, fid, line): a tag and that many integers */
static inline void put_record(struct bytes *b, int tag, int n, ...)
{
    put_byte(b, tag);
    va_list args;
    va_start(args, n);
    while (n-- > 0)
        put_u32(b, va_arg(args, uint32_t));
    va_end(args);
}

/* Little-endian, whatever machine the test runs on. */
static inline void put_le(struct bytes *b, uint64_t bits, int n_bytes)
{
    for (int i = 0; i < n_bytes; i++)
        put_byte(b, (int)(bits >> 8 * i & 0xff));
}

static inline void put_double(struct bytes *b, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_le(b, bits, sizeof bits);
}

static inline void put_counted(struct bytes *b, int tag, const void *data, size_t len)
{
    put_byte(b, tag);
    put_u32(b, (uint32_t)len);
    put(b, data, len);
}

static inline void put_string(struct bytes *b, const char *text)
{
    put_counted(b, '\'', text, strlen(text));
}

static inline void put_packed(struct bytes *b, const void *data, size_t len, int window_bits)
{
    z_stream z = {.next_in = (uint8_t *)(uintptr_t)data, .avail_in = (uInt)len};
    const int init = deflateInit2(&z, 6, Z_DEFLATED, window_bits, 9, Z_DEFAULT_STRATEGY);
    assert(init == Z_OK);
    (void)init;
    const size_t bound = deflateBound(&z, (uLong)len) + 64;
    uint8_t *out = malloc(bound);
    assert(out != NULL);
    z.next_out = out;
    z.avail_out = (uInt)bound;
    const int end = deflate(&z, Z_FINISH);
    assert(end == Z_STREAM_END);
    (void)end;
    put(b, out, z.total_out);
    deflateEnd(&z);
    free(out);
}

static inline void put_zlib(struct bytes *b, const void *data, size_t len)
{
    put_packed(b, data, len, 15);
}

static inline void put_gzip(struct bytes *b, const void *data, size_t len)
{
    put_packed(b, data, len, 15 + 16);
}

/* Events as text */

struct log {
    struct nytp_sink sink;
    struct bytes text;
    uint64_t n_events, stop_after; /* 0: never */
    uint64_t last_offset;
    bool offsets_grow;
    bool with_offsets; /* in the text */
};

static inline void log_printf(struct log *log, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    put_text(&log->text, line);
}

static inline void log_string(struct log *log, const char *field, struct nytp_str s)
{
    log_printf(log, " %s=%s", field, s.utf8 ? "u\"" : "\"");
    for (uint32_t i = 0; i < s.len && i < 100; i++)
        log_printf(log, s.ptr[i] >= ' ' && s.ptr[i] < 127 ? "%c" : "\\x%02x",
                   (unsigned char)s.ptr[i]);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < s.len; i++)
        sum = sum * 31 + (unsigned char)s.ptr[i];
    if (s.len > 100)
        log_printf(log, "... %u bytes, sum %08x", s.len, sum);
    put_text(&log->text, "\"");
}

static inline void log_fields(struct log *log, const struct nytp_event *e)
{
    switch (e->tag) {
    case NYTP_TAG_VERSION:
        log_printf(log, " %u.%u", e->u.version.major, e->u.version.minor);
        break;
    case NYTP_TAG_ATTRIBUTE:
    case NYTP_TAG_OPTION:
        log_string(log, "key", e->u.pair.key);
        log_string(log, "value", e->u.pair.value);
        break;
    case NYTP_TAG_COMMENT:
        log_string(log, "text", e->u.comment.text);
        break;
    case NYTP_TAG_PID_START:
        log_printf(log, " pid=%u ppid=%u time=%.6f", e->u.pid_start.pid, e->u.pid_start.ppid,
                   e->u.pid_start.time_s);
        break;
    case NYTP_TAG_PID_END:
        log_printf(log, " pid=%u time=%.6f", e->u.pid_end.pid, e->u.pid_end.time_s);
        break;
    case NYTP_TAG_NEW_FID:
        log_printf(log, " fid=%u eval=%u:%u flags=0x%x size=%u mtime=%u", e->u.new_fid.fid,
                   e->u.new_fid.eval_fid, e->u.new_fid.eval_line, e->u.new_fid.flags,
                   e->u.new_fid.size, e->u.new_fid.mtime_s);
        log_string(log, "name", e->u.new_fid.name);
        break;
    case NYTP_TAG_TIME_LINE:
    case NYTP_TAG_TIME_BLOCK:
        log_printf(log, " ticks=%d at=%u:%u block=%u sub=%u", e->u.time.ticks, e->u.time.fid,
                   e->u.time.line, e->u.time.block_line, e->u.time.sub_line);
        break;
    case NYTP_TAG_SUB_ENTRY:
        log_printf(log, " from=%u:%u", e->u.sub_entry.caller_fid, e->u.sub_entry.caller_line);
        break;
    case NYTP_TAG_SUB_RETURN:
        log_printf(log, " depth=%u incl=%g excl=%g", e->u.sub_return.depth,
                   e->u.sub_return.incl_ticks, e->u.sub_return.excl_ticks);
        log_string(log, "name", e->u.sub_return.name);
        break;
    case NYTP_TAG_SRC_LINE:
        log_printf(log, " at=%u:%u", e->u.src_line.fid, e->u.src_line.line);
        log_string(log, "text", e->u.src_line.text);
        break;
    case NYTP_TAG_SUB_INFO:
        log_printf(log, " fid=%u lines=%u-%u", e->u.sub_info.fid, e->u.sub_info.first_line,
                   e->u.sub_info.last_line);
        log_string(log, "name", e->u.sub_info.name);
        break;
    case NYTP_TAG_SUB_CALLERS:
        log_printf(log, " at=%u:%u count=%u incl=%g excl=%g reci=%g depth=%u",
                   e->u.sub_callers.fid, e->u.sub_callers.line, e->u.sub_callers.count,
                   e->u.sub_callers.incl_s, e->u.sub_callers.excl_s, e->u.sub_callers.reci_s,
                   e->u.sub_callers.rec_depth);
        log_string(log, "caller", e->u.sub_callers.caller);
        log_string(log, "callee", e->u.sub_callers.callee);
        break;
    default:
        break;
    }
}

static inline bool log_event(struct nytp_sink *sink, const struct nytp_event *e)
{
    struct log *log = (struct log *)sink;
    log->n_events++;
    log->offsets_grow = log->offsets_grow && (e->offset == 0 || e->offset >= log->last_offset);
    log->last_offset = e->offset;
    if (log->with_offsets)
        log_printf(log, "@%" PRIu64 " ", e->offset);
    put_text(&log->text, nytp_tag_name(e->tag));
    log_fields(log, e);
    put_text(&log->text, "\n");
    return log->stop_after == 0 || log->n_events < log->stop_after;
}

static inline struct log log_new(void)
{
    return (struct log){.sink = {.event = log_event}, .offsets_grow = true};
}

/* The text so far; the log's own. */
static inline const char *log_text(struct log *log)
{
    put_byte(&log->text, '\0');
    log->text.len--;
    return (const char *)log->text.data;
}

#endif
