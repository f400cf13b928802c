/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reads NYTProf streams, versions 1.0 to 5.x; the format is described in nytprof-v5.md.
 *
 * The trick: a record is decoded from contiguous bytes and nothing else (stream/record.h). When
 * they do not reach, the window is refilled, and the record is decoded again from its start.
 * Only a record larger than the window is gathered in a buffer of its own, which grows with the
 * bytes that were really there. Records of a few small integers, nearly all of a stream, are
 * decoded without any check while the window holds more than the longest of them.
 */
#include "formats/stream/call_records.h"
#include "formats/stream/comments/hang_records.h"
#include "formats/stream/format.h"
#include "formats/stream/nv.h"
#include "formats/stream/record.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC "NYTProf" /* the first line is this and the version */
/* More than a TIME_BLOCK of largest numbers, a discounted TIME_LINE, or a SUB_RETURN of two
 * doubles up to its name. */
#define QUICK_BYTES 32

/* How the next statement of a file mostly begins: with ticks of one byte. The bits of its first
 * eight bytes that the mask leaves tell it at once. */
struct beginning {
    uint64_t mask, bits;
    uint32_t fid, line_at; /* the line's number begins at this byte */
};

struct reader {
    struct nytp_decoder decoder;
    struct nytp_call_reader calls;
    uint8_t *large; /* gathers a record larger than the window */
    size_t large_size;
    bool in_process;
    struct beginning next; /* of the file of the last statement */
    uint32_t hang_len;     /* of hang[]; 0: there is no note */
    char hang[NYTP_HANG_ROOM];
};

/* Supplying the decoder with bytes */

/* The input ended (or broke) inside a record of which `have` bytes are there. */
static bool fail_short(struct reader *r, const struct nytp_cursor *c,
                       const struct nytp_event *e, size_t have)
{
    const struct nytp_error *source_error = nytp_source_error(r->decoder.source);
    if (source_error->status != NYTP_OK) {
        *r->decoder.error = *source_error;
        return false;
    }
    const bool inflated = nytp_source_inflating(r->decoder.source);
    if (c->string_at > 0)
        return nytp_error_at(r->decoder.error, NYTP_ERR_TRUNCATED, e->offset, inflated,
                             "%s: string of %u bytes, only %zu left", nytp_tag_name(e->tag),
                             c->string_len, have - c->string_at);
    return nytp_error_at(r->decoder.error, NYTP_ERR_TRUNCATED, e->offset, inflated,
                         "%s: the input ends inside the record", nytp_tag_name(e->tag));
}

/* Room for `need` bytes in the buffer of a large record. */
static bool grow_large(struct reader *r, size_t need)
{
    if (need <= r->large_size)
        return true;
    size_t size = r->large_size > 0 ? r->large_size : 2 * NYTP_SOURCE_MAX_NEED;
    while (size < need)
        size *= 2;
    uint8_t *large = realloc(r->large, size);
    if (large == NULL)
        return nytp_error_set(r->decoder.error, NYTP_ERR_MEMORY,
                              "out of memory: record of %zu bytes", need);
    r->large = large;
    r->large_size = size;
    return true;
}

/* Move bytes from the source to the end of the `have` bytes gathered, until there are `need`
 * or no more. Returns how many there are; 0 when memory is short. */
static size_t gather_bytes(struct reader *r, size_t have, size_t need)
{
    struct nytp_source *source = r->decoder.source;
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

/* Gather the rest of a text line, too, when no newline is among the first `need` bytes. */
static size_t gather_line(struct reader *r, size_t have, size_t need)
{
    struct nytp_source *source = r->decoder.source;
    have = gather_bytes(r, have, need);
    while (have >= need && have < NYTP_MAX_RECORD && r->large[have - 1] != '\n' &&
           nytp_source_fill(source, 1) > 0) {
        const size_t left = (size_t)(source->end - source->at), most = NYTP_MAX_RECORD - have;
        const uint8_t *newline = memchr(source->at, '\n', left);
        const size_t n = newline != NULL ? (size_t)(newline + 1 - source->at) : left;
        have = gather_bytes(r, have, have + (n < most ? n : most));
    }
    return have;
}

/* The record in the window claims to be larger than any may be. */
static bool fail_too_large(struct reader *r, const struct nytp_cursor *c,
                           const struct nytp_event *e)
{
    /* A claim beyond the end of a small input is better called just that. */
    const size_t have = nytp_source_fill(r->decoder.source, NYTP_SOURCE_MAX_NEED);
    if (have < NYTP_SOURCE_MAX_NEED)
        return fail_short(r, c, e, have);
    return nytp_error_at(r->decoder.error, NYTP_ERR_LIMIT, e->offset,
                         nytp_source_inflating(r->decoder.source),
                         "%s: string of %u bytes, the limit of a record is %u",
                         nytp_tag_name(e->tag), c->string_len, NYTP_MAX_RECORD);
}

/* Decodes a record of any kind, and notes what the comments about calls depend on. */
static enum nytp_decoded decode(struct reader *r, struct nytp_cursor *c, struct nytp_event *e)
{
    if (c->start < c->end && nytp_is_call(&r->calls, c->start, c->end))
        return nytp_decode_call(&r->decoder, &r->calls, c, e);
    const enum nytp_decoded outcome = nytp_decode_record(&r->decoder, c, e);
    if (outcome != NYTP_DECODED)
        return outcome;
    if (e->tag == NYTP_TAG_TIME_LINE || e->tag == NYTP_TAG_TIME_BLOCK)
        r->calls.axis += (uint64_t)(int64_t)e->u.time.ticks;
    else
        nytp_calls_note(&r->calls, e);
    return NYTP_DECODED;
}

/* Read a record that is larger than the window, from the window's start on. */
static bool read_large_record(struct reader *r, struct nytp_cursor *c, struct nytp_event *e)
{
    size_t have = 0;
    enum nytp_decoded outcome;
    do {
        if (c->need > NYTP_MAX_RECORD)
            return nytp_error_at(r->decoder.error, NYTP_ERR_LIMIT, e->offset,
                                 nytp_source_inflating(r->decoder.source),
                                 "%s: %zu bytes, the limit of a record is %u",
                                 nytp_tag_name(e->tag), c->need, NYTP_MAX_RECORD);
        have = c->to_newline ? gather_line(r, have, c->need) : gather_bytes(r, have, c->need);
        if (have == 0 && r->decoder.error->status != NYTP_OK)
            return false;
        if (have < c->need)
            return fail_short(r, c, e, have);
        *c = (struct nytp_cursor){.start = r->large, .end = r->large + have};
        outcome = decode(r, c, e);
    } while (outcome == NYTP_SHORT);
    return outcome == NYTP_SILENT || (outcome == NYTP_DECODED && nytp_deliver(&r->decoder, e));
}

/* Where the program hangs is told in the head, and belongs behind the last record. */

static void keep_hang(struct reader *r, const struct nytp_str *comment)
{
    const size_t head = sizeof NYTP_HANG_HEAD; /* with a blank behind it */
    struct nytp_str body;
    if (!nytp_last_stack_body(comment, &body) || head + body.len + 1 > sizeof r->hang)
        return;
    memcpy(r->hang, NYTP_HANG_HEAD " ", head);
    memcpy(r->hang + head, body.ptr, body.len);
    r->hang[head + body.len] = '\n';
    r->hang_len = (uint32_t)(head + body.len + 1);
}

static void note_event(struct reader *r, const struct nytp_event *event)
{
    if (event->tag == NYTP_TAG_PID_START || event->tag == NYTP_TAG_PID_END)
        r->in_process = event->tag == NYTP_TAG_PID_START;
    else if (event->tag == NYTP_TAG_COMMENT)
        keep_hang(r, &event->u.comment.text);
}

/* The input has ended, whole or not. A note that was written before the file's last bytes is of
 * a time that the records tell of. */
static bool deliver_hang(struct reader *r)
{
    struct nytp_event event = {.tag = NYTP_TAG_COMMENT,
                               .offset = nytp_source_offset(r->decoder.source)};
    struct nytp_hang hang;
    event.u.comment.text = (struct nytp_str){.ptr = r->hang, .len = r->hang_len};
    return r->hang_len == 0 || !r->in_process ||
           !nytp_hang_read(&event.u.comment.text, &hang) ||
           hang.at != nytp_source_file_bytes(r->decoder.source) ||
           nytp_deliver(&r->decoder, &event);
}

/* Read the next record, of whatever kind, and deliver it. */
static bool read_record(struct reader *r)
{
    struct nytp_source *source = r->decoder.source;
    struct nytp_event event = {.offset = nytp_source_offset(source)};
    for (;;) {
        struct nytp_cursor c = {.start = source->at, .end = source->end};
        const enum nytp_decoded outcome = decode(r, &c, &event);
        if (outcome == NYTP_FAILED)
            return false;
        if (outcome != NYTP_SHORT) {
            source->at = c.at;
            if (outcome == NYTP_DECODED)
                note_event(r, &event);
            if (outcome == NYTP_DECODED && !nytp_deliver(&r->decoder, &event))
                return false;
            break;
        }
        if (c.need > NYTP_MAX_RECORD)
            return fail_too_large(r, &c, &event);
        if (c.need > NYTP_SOURCE_MAX_NEED)
            return read_large_record(r, &c, &event);
        const size_t have = nytp_source_fill(source, c.need);
        if (have < c.need)
            return fail_short(r, &c, &event, have);
    }
    if (event.tag != NYTP_TAG_START_DEFLATE || nytp_source_start_inflate(source))
        return true;
    *r->decoder.error = *nytp_source_error(source);
    return false;
}

/* Eight bytes as a number, the first the highest; compilers make one load of it. */
static inline uint64_t eight_bytes(const uint8_t *at)
{
    return (uint64_t)at[0] << 56 | (uint64_t)at[1] << 48 | (uint64_t)at[2] << 40 |
           (uint64_t)at[3] << 32 | (uint64_t)at[4] << 24 | (uint64_t)at[5] << 16 |
           (uint64_t)at[6] << 8 | at[7];
}

/* Decodes a TIME_LINE of any numbers, all of which is there. Returns what stands behind it,
 * NULL if it took less than no time. A function of its own, since it is rare: otherwise the
 * loop that calls it would prepare for it each time. */
__attribute__((noinline)) static const uint8_t *decode_statement(const uint8_t *at,
                                                                 struct nytp_statement *s)
{
    uint32_t ticks;
    at = nytp_u32_unchecked(at + 1, &ticks);
    at = nytp_u32_unchecked(at, &s->fid);
    s->ticks = (int32_t)ticks;
    return ticks > INT32_MAX ? NULL : nytp_u32_unchecked(at, &s->line);
}

static struct beginning beginning_of(uint32_t fid)
{
    const uint64_t tag = (uint64_t)'+' << 56;
    if (fid < 0x80)
        return (struct beginning){0xff80ffull << 40, tag | (uint64_t)fid << 40, fid, 3};
    if (fid < 0x4000)
        return (struct beginning){0xff80ffffull << 32, tag | (uint64_t)(0x8000 | fid) << 32,
                                  fid, 4};
    return (struct beginning){0, 1, fid, 0}; /* no bits are these */
}

/* Statements of one file that follow one another, handed over together. `bias` turns places in
 * the window into offsets. Returns what stands behind them, NULL with the error set when the
 * sink stops. */
static const uint8_t *read_statements(struct reader *r, const uint8_t *at, uint64_t bias)
{
    struct nytp_sink *const sink = r->decoder.sink;
    const uint8_t *const last = r->decoder.source->end - QUICK_BYTES;
    const uint8_t *latest = at;
    struct nytp_statement *s = sink->room, *const end = s + NYTP_MAX_RUN;
    struct beginning next = r->next;
    uint32_t n_discounted = 0;
    uint64_t ticks = 0;
    for (; at <= last && s < end; s++) {
        const uint8_t *tag = at;
        /* Branches, not sums: processors foresee which tags follow one another. */
        s->what = NYTP_STATEMENT_COUNTS;
        if (*tag == '-') {
            tag++;
            s->what = NYTP_STATEMENT_DISCOUNTED;
            n_discounted++;
        }
        const uint64_t bytes = eight_bytes(tag);
        s->ticks = tag[1];
        s->fid = next.fid;
        if ((bytes & next.mask) == next.bits) {
            const uint64_t line = bytes << 8 * next.line_at;
            if (line >> 62 == 2) {
                s->line = line >> 48 & 0x3fff;
                at = tag + next.line_at + 2;
            } else if (line >> 63 == 0) {
                s->line = (uint32_t)(line >> 56);
                at = tag + next.line_at + 1;
            } else {
                at = nytp_u32_unchecked(tag + next.line_at, &s->line);
            }
        } else {
            const uint8_t *const behind = *tag == '+' ? decode_statement(tag, s) : NULL;
            if (behind == NULL || (s > sink->room && s->fid != next.fid)) {
                n_discounted -= tag > at;
                break;
            }
            if (s->fid != next.fid)
                next = r->next = beginning_of(s->fid);
            at = behind;
        }
        latest = tag;
        ticks += (uint64_t)s->ticks; /* no less than 0 */
    }
    r->calls.axis += ticks;
    const uint64_t offset = bias + (uintptr_t)latest;
    const struct nytp_run run = {sink->room, (uint32_t)(s - sink->room), n_discounted,
                                 (int64_t)ticks};
    if (run.n == 0 || sink->statements(sink, &run, offset))
        return at;
    nytp_fail_stopped(&r->decoder, offset);
    return NULL;
}

/* Decodes a TIME_LINE or TIME_BLOCK; see decode_quick_record(). */
static inline const uint8_t *decode_quick_time(const uint8_t *at, bool unsigned_ticks,
                                               struct nytp_event *event)
{
    const uint8_t tag = *at++;
    uint32_t ticks;
    at = nytp_u32_unchecked(at, &ticks);
    if (unsigned_ticks && ticks > INT32_MAX)
        return NULL;
    event->u.time.ticks = (int32_t)ticks;
    at = nytp_u32_unchecked(at, &event->u.time.fid);
    at = nytp_u32_unchecked(at, &event->u.time.line);
    event->tag = NYTP_TAG_TIME_LINE;
    event->u.time.block_line = event->u.time.sub_line = 0;
    if (tag == '+')
        return at;
    event->tag = NYTP_TAG_TIME_BLOCK;
    at = nytp_u32_unchecked(at, &event->u.time.block_line);
    return nytp_u32_unchecked(at, &event->u.time.sub_line);
}

/* Decodes a SUB_RETURN whose numbers are doubles; see decode_quick_record(). The name is all in
 * the window, too, or NULL is returned. */
static inline const uint8_t *decode_quick_return(const struct reader *r, const uint8_t *at,
                                                 struct nytp_event *event)
{
    double (*const decode)(const uint8_t *) = r->decoder.nv->decode;
    struct nytp_str *const name = &event->u.sub_return.name;
    event->tag = NYTP_TAG_SUB_RETURN;
    at = nytp_u32_unchecked(at + 1, &event->u.sub_return.depth);
    event->u.sub_return.incl_ticks = decode(at);
    event->u.sub_return.excl_ticks = decode(at + 8);
    at += 16;
    if (*at != '\'' && *at != '"')
        return NULL;
    name->utf8 = *at == '"';
    at = nytp_u32_unchecked(at + 1, &name->len);
    name->ptr = (const char *)at;
    event->u.sub_return.name_number = 0;
    return name->len <= (size_t)(r->decoder.source->end - at) ? at + name->len : NULL;
}

/* The state of the stream on which decoding common records depends. */
struct quick {
    bool unsigned_ticks;
    bool returns; /* SUB_RETURN is of the form that decode_quick_return() knows */
};

/* Decodes one of the common records, all of which stands in the window. Returns what stands
 * behind it, NULL if it is of another kind, or has more ticks than an event can tell. */
static inline const uint8_t *decode_quick_record(const struct reader *r, struct quick quick,
                                                 const uint8_t *at, struct nytp_event *event)
{
    switch (*at) {
    case '>':
        event->tag = NYTP_TAG_SUB_ENTRY;
        at = nytp_u32_unchecked(at + 1, &event->u.sub_entry.caller_fid);
        return nytp_u32_unchecked(at, &event->u.sub_entry.caller_line);
    case '<':
        return quick.returns ? decode_quick_return(r, at, event) : NULL;
    case '+':
    case '*':
        return decode_quick_time(at, quick.unsigned_ticks, event);
    case '-':
        event->tag = NYTP_TAG_DISCOUNT;
        return at + 1;
    default:
        return NULL;
    }
}

/* The common records, while the window holds any of them whole. Stops before the first that
 * is of another kind. */
static bool read_quick_records(struct reader *r)
{
    struct nytp_source *source = r->decoder.source;
    const uint8_t *at = source->at;
    const uint64_t bias = nytp_source_offset(source) - (uintptr_t)at;
    const struct quick quick = {.unsigned_ticks =
                                    r->decoder.version < NYTP_STREAM_VERSION(4, 0),
                                .returns = r->decoder.version >= NYTP_STREAM_VERSION(2, 0) &&
                                           r->decoder.nv != NULL && r->decoder.nv->size == 8};
    const bool runs = r->decoder.sink->statements != NULL && !quick.unsigned_ticks;
    struct nytp_event event;
    bool going_on = true;
    while (going_on && (size_t)(source->end - at) >= QUICK_BYTES) {
        const bool statement = runs && (*at == '+' || *at == '-');
        const uint8_t *behind = statement ? read_statements(r, at, bias) : at;
        if (behind == NULL)
            return false;
        if (behind != at) {
            at = behind;
            continue;
        }
        event.offset = bias + (uintptr_t)at;
        if (nytp_is_call(&r->calls, at, source->end)) {
            struct nytp_cursor c = {.start = at, .end = source->end};
            const enum nytp_decoded outcome =
                nytp_decode_call(&r->decoder, &r->calls, &c, &event);
            if (outcome == NYTP_FAILED)
                return false;
            if (outcome == NYTP_SHORT)
                break;
            at = c.at;
            going_on =
                outcome == NYTP_SILENT || r->decoder.sink->event(r->decoder.sink, &event);
            continue;
        }
        behind = decode_quick_record(r, quick, at, &event);
        if (behind == NULL)
            break;
        at = behind;
        if (event.tag == NYTP_TAG_TIME_LINE || event.tag == NYTP_TAG_TIME_BLOCK)
            r->calls.axis += (uint64_t)(int64_t)event.u.time.ticks;
        going_on = r->decoder.sink->event(r->decoder.sink, &event);
    }
    source->at = at;
    return going_on || nytp_fail_stopped(&r->decoder, event.offset);
}

/* Returns whether the next bytes are no record but the first line of another recording. */
static bool begins_another(struct nytp_source *source)
{
    return *source->at == *MAGIC && nytp_source_fill(source, strlen(MAGIC)) >= strlen(MAGIC) &&
           memcmp(source->at, MAGIC, strlen(MAGIC)) == 0;
}

static bool read_records(struct reader *r)
{
    struct nytp_source *const source = r->decoder.source;
    while (nytp_source_fill(source, QUICK_BYTES) > 0) {
        if (!read_quick_records(r))
            return false;
        if (source->at == source->end)
            continue;
        if (begins_another(source))
            break;
        if (!read_record(r))
            return false;
    }
    const struct nytp_error *source_error = nytp_source_error(r->decoder.source);
    if (source_error->status == NYTP_OK)
        return true;
    *r->decoder.error = *source_error;
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
    struct nytp_source *source = r->decoder.source;
    struct nytp_event event = {.tag = NYTP_TAG_VERSION, .offset = nytp_source_offset(source)};
    struct nytp_str line;
    struct nytp_cursor c;
    enum nytp_decoded outcome;
    do {
        c = (struct nytp_cursor){.start = source->at, .at = source->at, .end = source->end};
        outcome = nytp_decode_line(&c, &line);
    } while (outcome == NYTP_SHORT && c.need <= NYTP_SOURCE_MAX_NEED &&
             nytp_source_fill(source, c.need) >= c.need);
    if (outcome == NYTP_SHORT && c.need <= NYTP_SOURCE_MAX_NEED)
        return fail_short(r, &c, &event, (size_t)(c.end - c.start));
    if (outcome == NYTP_SHORT || line.len > NYTP_MOST_LINE ||
        !parse_version(line.ptr + strlen(MAGIC), line.ptr + line.len, &event))
        return nytp_error_at(r->decoder.error, NYTP_ERR_FORMAT, event.offset, false,
                             "header line without a version");
    const uint32_t major = event.u.version.major, minor = event.u.version.minor;
    if (major < 1 || major > 5)
        return nytp_error_at(r->decoder.error, NYTP_ERR_FORMAT, event.offset, false,
                             "format version %u.%u is not supported", major, minor);
    r->decoder.version = NYTP_STREAM_VERSION(major, minor < 99 ? minor : 99);
    source->at = c.at;
    return nytp_deliver(&r->decoder, &event);
}

static bool nytprof_detect(const uint8_t *head, size_t len)
{
    return len >= strlen(MAGIC) && memcmp(head, MAGIC, strlen(MAGIC)) == 0;
}

static bool nytprof_read(struct nytp_source *source, const struct nytp_read_options *options,
                         struct nytp_sink *sink, struct nytp_error *error)
{
    (void)options;
    struct reader reader = {
        .next = beginning_of(0),
        .decoder = {.source = source, .sink = sink, .error = error, .nv_size = 8}};
    bool read = read_version(&reader) && read_records(&reader);
    if (read || error->status == NYTP_ERR_TRUNCATED)
        read = deliver_hang(&reader) && read;
    free(reader.large);
    nytp_call_reader_free(&reader.calls);
    return read;
}

const struct nytp_format nytp_format_nytprof = {
    .name = "nytprof",
    .title = "Devel::NYTProf stream (nytprof.out)",
    .detect = nytprof_detect,
    .read = nytprof_read,
};
