/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reads calls in comments; see call_records.h.
 */
#include "call_records.h"

#include "formats/base/arena.h"

#include <stdlib.h>
#include <string.h>

struct nytp_call_site_record {
    uint32_t fid, line;
    struct nytp_str name;
};

struct nytp_call_frame {
    uint32_t site;
    int64_t enter_ticks;  /* minus the time excluded before the entry */
    int64_t callee_ticks; /* inclusive time of its callees */
};

void nytp_call_reader_free(struct nytp_call_reader *calls)
{
    free(calls->frames);
    free(calls->sites);
    nytp_arena_free(calls->names);
}

void nytp_calls_note(struct nytp_call_reader *calls, const struct nytp_event *event)
{
    switch (event->tag) {
    case NYTP_TAG_ATTRIBUTE:
        calls->is_recorded |= nytp_str_is(event->u.setting.key, "basetime");
        break;
    case NYTP_TAG_PID_START:
        calls->is_on = false;
        calls->axis = calls->waited = 0;
        calls->point = 0;
        calls->n_frames = calls->n_sites = 0;
        nytp_arena_free(calls->names);
        calls->names = NULL;
        break;
    case NYTP_TAG_COMMENT:
        if (calls->is_recorded && nytp_str_is(event->u.comment.text, NYTP_CALLS_HEAD "\n"))
            calls->is_on = true;
        break;
    default:
        break;
    }
}

/* ---- fields ---- */

static enum nytp_decoded damaged(struct nytp_decoder *d, const struct nytp_event *e,
                                 const char *what)
{
    nytp_error_at(d->error, NYTP_ERR_FORMAT, e->offset, nytp_source_inflating(d->source),
                  "call in a comment: %s", what);
    return NYTP_FAILED;
}

static enum nytp_decoded no_memory(struct nytp_decoder *d)
{
    nytp_out_of_memory(d->error);
    return NYTP_FAILED;
}

static enum nytp_decoded is_short(struct nytp_cursor *c)
{
    c->need = (size_t)(c->at - c->start) + 1;
    return NYTP_SHORT;
}

static enum nytp_decoded get_long_count(struct nytp_decoder *d, const struct nytp_event *e,
                                        struct nytp_cursor *c, uint64_t *value)
{
    uint64_t sum = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (c->at == c->end)
            return is_short(c);
        const uint8_t byte = *c->at++;
        if (byte < NYTP_CALL_LAST_BYTE)
            break;
        if (byte < 0x80) {
            *value = sum + ((uint64_t)(byte - NYTP_CALL_LAST_BYTE) << shift);
            return NYTP_DECODED;
        }
        sum += ((uint64_t)(byte & 0x7f) + NYTP_CALL_LASTS) << shift;
    }
    return damaged(d, e, "a byte that is part of no number");
}

/* Most numbers have one or two bytes. */
static inline enum nytp_decoded get_count(struct nytp_decoder *d, const struct nytp_event *e,
                                          struct nytp_cursor *c, uint64_t *value)
{
    const uint8_t *const at = c->at;
    if (c->end - at < 2)
        return get_long_count(d, e, c, value);
    if (at[0] - NYTP_CALL_LAST_BYTE < NYTP_CALL_LASTS) {
        *value = at[0] - NYTP_CALL_LAST_BYTE;
        c->at = at + 1;
        return NYTP_DECODED;
    }
    if (at[0] < 0x80 || at[1] - NYTP_CALL_LAST_BYTE >= NYTP_CALL_LASTS)
        return get_long_count(d, e, c, value);
    *value = (at[0] & 0x7f) + NYTP_CALL_LASTS + ((at[1] - NYTP_CALL_LAST_BYTE) << 7);
    c->at = at + 2;
    return NYTP_DECODED;
}

static inline enum nytp_decoded get_newline(struct nytp_decoder *d, const struct nytp_event *e,
                                            struct nytp_cursor *c)
{
    if (c->at == c->end)
        return is_short(c);
    return *c->at++ == '\n' ? NYTP_DECODED : damaged(d, e, "no newline where it should end");
}

#define GET(decoded)                                                                           \
    do {                                                                                       \
        const enum nytp_decoded outcome_ = (decoded);                                          \
        if (outcome_ != NYTP_DECODED)                                                          \
            return outcome_;                                                                   \
    } while (0)

static enum nytp_decoded get_site(struct nytp_decoder *d, const struct nytp_event *e,
                                  struct nytp_cursor *c, const struct nytp_call_reader *calls,
                                  uint32_t *site)
{
    uint64_t number;
    GET(get_count(d, e, c, &number));
    *site = (uint32_t)number;
    return number < calls->n_sites ? NYTP_DECODED : damaged(d, e, "no such place of a call");
}

/* ---- points of the axis ---- */

static int64_t add(int64_t a, uint64_t b)
{
    return (int64_t)((uint64_t)a + b); /* damaged input may overflow */
}

/* Ticks count from the last statement's record or call record with ticks. */
static int64_t point_after(const struct nytp_call_reader *calls, uint64_t ticks)
{
    const int64_t axis = (int64_t)calls->axis;
    return add(axis > calls->point ? axis : calls->point, ticks);
}

/* Reads the point of an entry or return from the POINT record behind it. */
static enum nytp_decoded get_recorded_point(struct nytp_decoder *d, const struct nytp_event *e,
                                            struct nytp_cursor *c,
                                            struct nytp_call_reader *calls, int64_t *point)
{
    uint64_t ticks;
    if (*c->at++ != '#')
        return damaged(d, e, "nothing tells when it was");
    if (c->at == c->end)
        return is_short(c);
    if (*c->at++ != NYTP_CALL_POINT)
        return damaged(d, e, "nothing tells when it was");
    GET(get_count(d, e, c, &ticks));
    GET(get_newline(d, e, c));
    *point = calls->point = point_after(calls, ticks);
    return NYTP_DECODED;
}

/* Finds the point of an entry or return whose record ends at c->at. A POINT record behind it
 * is consumed; a statement's record is only looked at. */
static inline enum nytp_decoded get_point(struct nytp_decoder *d, const struct nytp_event *e,
                                          struct nytp_cursor *c, struct nytp_call_reader *calls,
                                          int64_t *point)
{
    if (c->at == c->end)
        return is_short(c);
    if (*c->at != '+' && *c->at != '*')
        return get_recorded_point(d, e, c, calls, point);
    uint32_t time;
    const uint8_t *const at = c->at++;
    if (!nytp_cursor_u32(c, &time))
        return NYTP_SHORT;
    c->at = at;
    *point = (int64_t)(calls->axis + (uint64_t)(int64_t)(int32_t)time);
    return NYTP_DECODED;
}

/* ---- records ---- */

static enum nytp_decoded decode_site(struct nytp_decoder *d, struct nytp_call_reader *calls,
                                     struct nytp_cursor *c, const struct nytp_event *e)
{
    struct nytp_str text;
    GET(nytp_decode_line(c, &text));
    struct nytp_cursor fields = {.start = (const uint8_t *)text.ptr};
    fields.at = fields.start;
    fields.end = fields.start + text.len - 1; /* without the newline */
    uint64_t fid = 0, line = 0;
    if (get_count(d, e, &fields, &fid) != NYTP_DECODED ||
        get_count(d, e, &fields, &line) != NYTP_DECODED || fid > UINT32_MAX ||
        line > UINT32_MAX || fields.at == fields.end ||
        (*fields.at != '\'' && *fields.at != '"'))
        return damaged(d, e, "no place and name");
    const bool utf8 = *fields.at++ == '"';
    if (calls->names == NULL)
        calls->names = nytp_arena_new();
    const size_t most = (size_t)(fields.end - fields.at) + 1;
    char *const name = calls->names == NULL ? NULL : nytp_arena_alloc(calls->names, most);
    if (name == NULL ||
        !nytp_grow(&calls->sites, &calls->sites_capacity, calls->n_sites, sizeof *calls->sites))
        return no_memory(d);
    uint32_t len = 0;
    while (fields.at < fields.end) {
        const bool escaped = *fields.at == '\\' && fields.end - fields.at >= 2;
        fields.at += escaped;
        name[len++] = (char)(escaped && *fields.at == 'n' ? '\n' : *fields.at);
        fields.at++;
    }
    calls->sites[calls->n_sites++] = (struct nytp_call_site_record){
        .fid = (uint32_t)fid, .line = (uint32_t)line, .name = {name, len, utf8}};
    return NYTP_SILENT;
}

static enum nytp_decoded open_frame(struct nytp_decoder *d, struct nytp_call_reader *calls,
                                    const struct nytp_event *e, uint32_t site, int64_t point)
{
    if (calls->n_frames >= NYTP_MAX_DEPTH)
        return damaged(d, e, "more calls are open than a program can have");
    if (!nytp_grow(&calls->frames, &calls->frames_capacity, calls->n_frames,
                   sizeof *calls->frames))
        return no_memory(d);
    calls->frames[calls->n_frames++] =
        (struct nytp_call_frame){.site = site, .enter_ticks = add(point, -calls->waited)};
    return NYTP_DECODED;
}

static enum nytp_decoded enter(struct nytp_decoder *d, struct nytp_call_reader *calls,
                               struct nytp_event *e, uint32_t site, int64_t point)
{
    e->tag = NYTP_TAG_SUB_ENTRY;
    e->u.sub_entry.caller_fid = calls->sites[site].fid;
    e->u.sub_entry.caller_line = calls->sites[site].line;
    return open_frame(d, calls, e, site, point);
}

static enum nytp_decoded leave(struct nytp_decoder *d, struct nytp_call_reader *calls,
                               struct nytp_event *e, int64_t point)
{
    if (calls->n_frames == 0)
        return damaged(d, e, "a return, and no call is open");
    const struct nytp_call_frame *const frame = &calls->frames[--calls->n_frames];
    const int64_t incl = add(point, -calls->waited - (uint64_t)frame->enter_ticks);
    if (calls->n_frames > 0) {
        int64_t *const of_caller = &calls->frames[calls->n_frames - 1].callee_ticks;
        *of_caller = add(*of_caller, (uint64_t)incl);
    }
    e->tag = NYTP_TAG_SUB_RETURN;
    e->u.sub_return.depth = calls->n_frames + 1;
    e->u.sub_return.incl_ticks = (double)incl;
    e->u.sub_return.excl_ticks = (double)add(incl, -(uint64_t)frame->callee_ticks);
    e->u.sub_return.name = calls->sites[frame->site].name;
    e->u.sub_return.name_number = frame->site + 1;
    return NYTP_DECODED;
}

static enum nytp_decoded decode_entry_at(struct nytp_decoder *d, struct nytp_call_reader *calls,
                                         struct nytp_cursor *c, struct nytp_event *e)
{
    uint32_t site;
    uint64_t ticks, to_return = 0;
    GET(get_site(d, e, c, calls, &site));
    GET(get_count(d, e, c, &ticks));
    if (c->at == c->end)
        return is_short(c);
    const bool returns = *c->at != '\n';
    if (returns)
        GET(get_count(d, e, c, &to_return));
    GET(get_newline(d, e, c));
    calls->point = point_after(calls, ticks);
    GET(enter(d, calls, e, site, calls->point));
    if (!returns)
        return NYTP_DECODED;
    if (!nytp_deliver(d, e))
        return NYTP_FAILED;
    calls->point = point_after(calls, to_return);
    return leave(d, calls, e, calls->point);
}

static enum nytp_decoded decode_return(struct nytp_decoder *d, struct nytp_call_reader *calls,
                                       struct nytp_cursor *c, struct nytp_event *e,
                                       bool has_ticks)
{
    uint64_t ticks;
    int64_t point;
    if (has_ticks)
        GET(get_count(d, e, c, &ticks));
    GET(get_newline(d, e, c));
    if (has_ticks)
        point = calls->point = point_after(calls, ticks);
    else
        GET(get_point(d, e, c, calls, &point));
    return leave(d, calls, e, point);
}

static enum nytp_decoded decode_entry(struct nytp_decoder *d, struct nytp_call_reader *calls,
                                      struct nytp_cursor *c, struct nytp_event *e)
{
    uint32_t site;
    int64_t point;
    GET(get_site(d, e, c, calls, &site));
    GET(get_newline(d, e, c));
    GET(get_point(d, e, c, calls, &point));
    return enter(d, calls, e, site, point);
}

/* Records that change the reader's state and have no event. */
static enum nytp_decoded decode_change(struct nytp_decoder *d, struct nytp_call_reader *calls,
                                       struct nytp_cursor *c, const struct nytp_event *e,
                                       enum nytp_call_code code)
{
    uint64_t value;
    GET(get_count(d, e, c, &value));
    GET(get_newline(d, e, c));
    if (code == NYTP_CALL_SHIFT) {
        calls->axis += value;
        return NYTP_SILENT;
    }
    if (code == NYTP_CALL_WAIT) {
        calls->waited += value;
        return NYTP_SILENT;
    }
    if (value >= calls->n_sites || (code == NYTP_CALL_RENAME && calls->n_frames == 0))
        return damaged(d, e, "no such place of a call");
    if (code == NYTP_CALL_RENAME)
        calls->frames[calls->n_frames - 1].site = (uint32_t)value;
    else
        GET(open_frame(d, calls, e, (uint32_t)value, point_after(calls, 0)));
    return NYTP_SILENT;
}

enum nytp_decoded nytp_decode_call(struct nytp_decoder *d, struct nytp_call_reader *calls,
                                   struct nytp_cursor *c, struct nytp_event *e)
{
    const enum nytp_call_code code = c->start[1];
    c->at = c->start + 2;
    c->string_at = 0;
    e->tag = NYTP_TAG_COMMENT; /* for messages, until the tag is known */
    switch (code) {
    case NYTP_CALL_ENTRY:
        return decode_entry(d, calls, c, e);
    case NYTP_CALL_ENTRY_AT:
        return decode_entry_at(d, calls, c, e);
    case NYTP_CALL_RETURN:
    case NYTP_CALL_RETURN_AT:
        return decode_return(d, calls, c, e, code == NYTP_CALL_RETURN_AT);
    case NYTP_CALL_SITE:
        return decode_site(d, calls, c, e);
    case NYTP_CALL_SHIFT:
    case NYTP_CALL_WAIT:
    case NYTP_CALL_OPEN:
    case NYTP_CALL_RENAME:
        return decode_change(d, calls, c, e, code);
    default:
        return damaged(d, e, "its first byte is none that is known");
    }
}
