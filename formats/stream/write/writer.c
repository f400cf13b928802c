/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Writes the native stream; see writer.h and nytprof-v5.md. The records that are written while
 * a program runs are inline functions of the header. Here are the others, the block, and its
 * way through the compressor.
 */
#include "writer.h"

#include "formats/base/strings.h"
#include "formats/stream/comments/attribute_records.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct nytp_writer *nytp_writer_new(nytp_bytes_fn *put, void *context)
{
    struct nytp_writer *const writer = calloc(1, sizeof *writer);
    if (writer == NULL)
        return NULL;
    writer->plain = malloc(NYTP_WRITER_MOST);
    if (writer->plain == NULL) {
        free(writer);
        return NULL;
    }
    writer->put = put;
    writer->context = context;
    nytp_writer_reset(writer);
    return writer;
}

void nytp_writer_free(struct nytp_writer *writer)
{
    if (writer == NULL)
        return;
    nytp_deflate_free(writer->deflate);
    free(writer->plain);
    free(writer);
}

void nytp_writer_set_block(struct nytp_writer *writer, size_t len)
{
    writer->end = writer->block + len;
    writer->record_end = writer->end - NYTP_WRITER_RECORD;
}

void nytp_writer_set_deflate(struct nytp_writer *writer, struct nytp_deflate *deflate)
{
    nytp_deflate_free(writer->deflate);
    writer->deflate = deflate;
    writer->n_plain = 0;
    writer->block = deflate != NULL ? nytp_deflate_room(deflate) : writer->plain;
    writer->at = writer->block;
    nytp_writer_set_block(writer, NYTP_WRITER_BLOCK);
}

void nytp_writer_reset(struct nytp_writer *writer)
{
    writer->calls = (struct nytp_call_axis){.point = INT64_MIN};
    nytp_writer_set_deflate(writer, NULL);
    writer->failed = false;
    writer->n_raw = 0;
    writer->n_inflated = writer->n_deflated = 0;
}

/* The header goes out with the first compressed bytes: a killed process leaves both or none. */
static bool put_counted(void *context, const uint8_t *bytes, size_t len)
{
    struct nytp_writer *const writer = context;
    const size_t n_plain = writer->n_plain, room = NYTP_WRITER_MOST - n_plain;
    const size_t n = n_plain == 0 ? 0 : len < room ? len : room;
    if (writer->deflate != NULL)
        writer->n_deflated += len;
    if (n > 0)
        memcpy(writer->plain + n_plain, bytes, n);
    writer->n_plain = 0;
    return (n_plain == 0 || writer->put(writer->context, writer->plain, n_plain + n)) &&
           (n == len || writer->put(writer->context, bytes + n, len - n));
}

static bool put_buffered(struct nytp_writer *writer, enum nytp_flush flush)
{
    const size_t len = (size_t)(writer->at - writer->block);
    writer->at = writer->block;
    writer->calls.entry_end = NULL;
    writer->n_raw += len;
    if (writer->failed)
        return false;
    if (writer->deflate == NULL) {
        writer->failed = len > 0 && !put_counted(writer, writer->block, len);
        return !writer->failed;
    }
    writer->n_inflated += len;
    writer->failed = !nytp_deflate_run(writer->deflate, len, flush, put_counted, writer);
    return !writer->failed;
}

bool nytp_writer_flush(struct nytp_writer *writer, enum nytp_flush flush)
{
    nytp_writer_settle(writer);
    return put_buffered(writer, flush);
}

bool nytp_writer_put_trailer(struct nytp_writer *writer)
{
    if (writer->deflate == NULL || writer->n_deflated == 0)
        return !writer->failed;
    nytp_writer_set_deflate(writer, NULL);
    char text[160];
    const double ratio = (double)writer->n_inflated / (double)writer->n_deflated;
    snprintf(text, sizeof text,
             "#\n# Compressed %" PRIu64 " bytes to %" PRIu64
             ", ratio %f:1, data shrunk by %.2f%%\n",
             writer->n_inflated, writer->n_deflated, ratio, 100 - 100 / ratio);
    nytp_writer_put_bytes(writer, text, strlen(text));
    return put_buffered(writer, NYTP_FLUSH_NONE);
}

void nytp_writer_make_room(struct nytp_writer *writer)
{
    if (writer->on_full != NULL)
        writer->on_full(writer);
    else
        put_buffered(writer, NYTP_FLUSH_NONE);
}

void nytp_writer_put_bytes(struct nytp_writer *writer, const void *bytes, size_t len)
{
    const uint8_t *from = bytes;
    while (len > 0) {
        if (writer->at == writer->end)
            nytp_writer_make_room(writer);
        const size_t room = (size_t)(writer->end - writer->at);
        const size_t n = len < room ? len : room;
        memcpy(writer->at, from, n);
        writer->at += n;
        from += n;
        len -= n;
    }
}

static bool is_ascii(const char *bytes, size_t len)
{
    uint64_t all = 0;
    for (; len >= sizeof all; bytes += sizeof all, len -= sizeof all) {
        uint64_t part;
        memcpy(&part, bytes, sizeof part);
        all |= part;
    }
    for (size_t i = 0; i < len; i++)
        all |= (unsigned char)bytes[i];
    return (all & 0x8080808080808080u) == 0;
}

/* The tag says UTF-8 only if it matters and is true. */
static uint8_t str_tag(const char *bytes, size_t len)
{
    return !is_ascii(bytes, len) && nytp_utf8_valid(bytes, len) ? '"' : '\'';
}

size_t nytp_encode_str(uint8_t *to, const char *bytes, size_t len)
{
    to[0] = str_tag(bytes, len);
    uint8_t *const at = nytp_encode_u32(to + 1, (uint32_t)len);
    memcpy(at, bytes, len);
    return (size_t)(at - to) + len;
}

static void put_tagged(struct nytp_writer *writer, uint8_t tag, const char *bytes, size_t len)
{
    nytp_writer_room(writer);
    *writer->at++ = tag;
    writer->at = nytp_encode_u32(writer->at, (uint32_t)len);
    nytp_writer_put_bytes(writer, bytes, len);
}

static void put_str(struct nytp_writer *writer, struct nytp_str text)
{
    put_tagged(writer, str_tag(text.ptr, text.len), text.ptr, text.len);
}

static void put_u32s(struct nytp_writer *writer, char tag, size_t n, const uint32_t *values)
{
    nytp_writer_settle(writer);
    nytp_writer_room(writer);
    if (tag != '\0')
        *writer->at++ = (uint8_t)tag;
    for (size_t i = 0; i < n; i++)
        writer->at = nytp_encode_u32(writer->at, values[i]);
}

static void put_nv(struct nytp_writer *writer, double value)
{
    nytp_writer_room(writer);
    writer->at = nytp_encode_nv(writer->at, value);
}

static void put_line_text(struct nytp_writer *writer, const char *text, size_t len)
{
    const char *newline;
    while ((newline = memchr(text, '\n', len)) != NULL) {
        const size_t n = (size_t)(newline - text);
        nytp_writer_put_bytes(writer, text, n);
        nytp_writer_put_bytes(writer, "\\n", 2);
        text += n + 1;
        len -= n + 1;
    }
    nytp_writer_put_bytes(writer, text, len);
}

/* Writes an attribute, an option or a comment. A comment has no key (NULL). */
static void put_text_line(struct nytp_writer *writer, const char *opening, const char *key,
                          const char *value, size_t value_len)
{
    nytp_writer_settle(writer);
    nytp_writer_put_bytes(writer, opening, strlen(opening));
    if (key != NULL) {
        put_line_text(writer, key, strlen(key));
        nytp_writer_put_bytes(writer, "=", 1);
    }
    put_line_text(writer, value, value_len);
    nytp_writer_put_bytes(writer, "\n", 1);
}

void nytp_write_version(struct nytp_writer *writer, uint32_t major, uint32_t minor)
{
    char text[40];
    snprintf(text, sizeof text, "NYTProf %" PRIu32 " %" PRIu32 "\n", major, minor);
    nytp_writer_put_bytes(writer, text, strlen(text));
}

void nytp_write_comment(struct nytp_writer *writer, const char *text)
{
    put_text_line(writer, "#", NULL, text, strlen(text));
}

void nytp_write_attribute(struct nytp_writer *writer, const char *key, const char *value,
                          size_t value_len)
{
    put_text_line(writer, ":", key, value, value_len);
}

void nytp_write_text_attribute(struct nytp_writer *writer, const char *key, const char *value)
{
    nytp_write_attribute(writer, key, value, strlen(value));
}

void nytp_write_number_attribute(struct nytp_writer *writer, const char *key, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    nytp_write_text_attribute(writer, key, text);
}

void nytp_write_attribute_record(struct nytp_writer *writer, const char *key, const char *value,
                                 size_t value_len)
{
    put_text_line(writer, "#" NYTP_ATTRIBUTE_HEAD " ", key, value, value_len);
}

void nytp_write_option(struct nytp_writer *writer, const char *key, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    put_text_line(writer, "!", key, text, strlen(text));
}

bool nytp_write_start_deflate(struct nytp_writer *writer, int level)
{
    struct nytp_deflate *const deflate = nytp_deflate_new(NYTP_ZLIB);
    if (deflate == NULL)
        return false;
    char text[80];
    snprintf(text, sizeof text, "Compressed at level %d with nytp", level);
    nytp_write_comment(writer, text);
    nytp_writer_put_bytes(writer, "z", 1);
    const size_t n_plain = (size_t)(writer->at - writer->plain);
    writer->n_raw += n_plain;
    nytp_writer_set_deflate(writer, deflate);
    writer->n_plain = n_plain;
    return true;
}

void nytp_write_pid_start(struct nytp_writer *writer, uint32_t pid, uint32_t ppid,
                          double time_s)
{
    put_u32s(writer, 'P', 2, (const uint32_t[]){pid, ppid});
    put_nv(writer, time_s);
}

void nytp_write_pid_end(struct nytp_writer *writer, uint32_t pid, double time_s)
{
    put_u32s(writer, 'p', 1, &pid);
    put_nv(writer, time_s);
}

void nytp_write_new_fid(struct nytp_writer *writer, const struct nytp_new_fid *file)
{
    put_u32s(writer, '@', 6,
             (const uint32_t[]){file->fid, file->eval_fid, file->eval_line, file->flags,
                                file->size, file->mtime_s});
    put_str(writer, file->name);
}

void nytp_write_src_line(struct nytp_writer *writer, uint32_t fid, uint32_t line,
                         const char *text, size_t len)
{
    put_u32s(writer, 'S', 2, (const uint32_t[]){fid, line});
    put_tagged(writer, '\'', text, len);
}

void nytp_write_sub_info(struct nytp_writer *writer, const struct nytp_sub_info *info)
{
    put_u32s(writer, 's', 1, &info->fid);
    put_str(writer, info->name);
    put_u32s(writer, '\0', 2, (const uint32_t[]){info->first_line, info->last_line});
}

void nytp_write_sub_callers(struct nytp_writer *writer, const struct nytp_sub_callers *calls)
{
    put_u32s(writer, 'c', 2, (const uint32_t[]){calls->fid, calls->line});
    put_str(writer, calls->caller);
    put_u32s(writer, '\0', 1, &calls->count);
    put_nv(writer, calls->incl_s);
    put_nv(writer, calls->excl_s);
    put_nv(writer, calls->reci_s);
    put_u32s(writer, '\0', 1, &calls->rec_depth);
    put_str(writer, calls->callee);
}

/* Copies the bytes behind themselves, twice as many each time. */
void nytp_write_times(struct nytp_writer *writer, const struct nytp_encoded_place *place,
                      uint32_t n)
{
    const size_t len = place->len + 2u;
    for (; n > 0; n--) {
        nytp_write_time_at(writer, 0, place);
        size_t there = len, room = (size_t)(writer->end - writer->at) / len;
        room = room < n - 1 ? room : n - 1;
        n -= (uint32_t)room;
        for (size_t left = room * len, part; left > 0; left -= part, there += part) {
            part = there < left ? there : left;
            memcpy(writer->at, writer->at - there, part);
            writer->at += part;
        }
    }
}

/* --- calls in comments --- */

void nytp_write_calls_head(struct nytp_writer *writer)
{
    nytp_write_comment(writer, NYTP_CALLS_HEAD);
}

/* The record before has made sure that this one fits. */
void nytp_writer_settle_call(struct nytp_writer *writer)
{
    struct nytp_call_axis *const calls = &writer->calls;
    uint8_t *at = writer->at;
    *at++ = '#';
    *at++ = NYTP_CALL_POINT;
    at = nytp_encode_count(
        at, (uint64_t)nytp_call_ticks(calls, calls->held_since, calls->held_point));
    *at++ = '\n';
    writer->at = at;
    calls->point = calls->held_point;
    calls->is_held = false;
}

/* Returns how many bytes of a name fit into its line, in whole characters. */
static size_t cut_call_name(const char *name, size_t len)
{
    size_t n = 0, written = 0;
    for (; n < len && written < NYTP_MOST_CALL_NAME; n++)
        written += name[n] == '\n' || name[n] == '\\' ? 2 : 1;
    while (n < len && n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80)
        n--;
    return n;
}

struct nytp_encoded_entry nytp_write_call_site(struct nytp_writer *writer, uint32_t fid,
                                               uint32_t line, uint8_t tag, const char *name,
                                               size_t len)
{
    nytp_writer_settle(writer);
    nytp_writer_room(writer);
    uint8_t *at = writer->at;
    *at++ = '#';
    *at++ = NYTP_CALL_SITE;
    at = nytp_encode_count(nytp_encode_count(at, fid), line);
    *at++ = tag;
    writer->at = at;
    for (const char *const end = name + cut_call_name(name, len); name < end; name++) {
        if (*name == '\n' || *name == '\\')
            nytp_writer_put_bytes(writer, "\\", 1);
        nytp_writer_put_bytes(writer, *name == '\n' ? "n" : name, 1);
    }
    nytp_writer_put_bytes(writer, "\n", 1);
    struct nytp_encoded_entry entry = {.bytes = {'#', NYTP_CALL_ENTRY}};
    at = nytp_encode_count(entry.bytes + 2, writer->calls.n_sites++);
    *at++ = '\n';
    entry.len = (uint8_t)(at - entry.bytes);
    return entry;
}

void nytp_write_call_change(struct nytp_writer *writer, enum nytp_call_code code, int64_t value)
{
    nytp_writer_settle(writer);
    nytp_writer_room(writer);
    uint8_t *at = writer->at;
    *at++ = '#';
    *at++ = (uint8_t)code;
    at = nytp_encode_count(at, (uint64_t)value);
    *at++ = '\n';
    writer->at = at;
}

void nytp_write_call_site_change(struct nytp_writer *writer, enum nytp_call_code code,
                                 const struct nytp_encoded_entry *entry)
{
    nytp_writer_settle(writer);
    nytp_writer_room(writer);
    memcpy(writer->at, entry->bytes, sizeof entry->bytes);
    writer->at[1] = (uint8_t)code;
    writer->at += entry->len;
}
