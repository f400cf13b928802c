/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Passes on what happened under some labels; see label_selection.h.
 *
 * The trick: an entry outside of a stretch waits until a stretch begins while its call is open.
 * So calls that lie outside leave nothing behind, and those around a stretch are entered in
 * their order.
 */
#include "label_selection.h"

#include "formats/model/returns.h"
#include "formats/base/arena.h"
#include "formats/stream/comments/bytes_records.h"
#include "formats/stream/comments/hang_records.h"
#include "formats/stream/comments/label_records.h"
#include "formats/stream/comments/open_calls.h"
#include "formats/stream/comments/svs_records.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 1000000u

enum wanted {
    NOTHING,
    STRETCHES,
    ALL
};

/* A call that is open, by its depth. */
struct open_call {
    uint32_t file, line; /* of its entry */
    bool is_entered;
    bool is_passed;      /* its entry or something within it was passed on */
    bool is_counted;     /* entered under the label */
    uint64_t n_returned; /* when it began */
    double recorded;     /* of its own time before it returns */
    double inside;       /* of that, in stretches; and of the calls from it */
    double own_inside;
};

/* A label that was set or ended outside of the stretches: its comment from the key on. */
struct missed_label {
    char *text;
    size_t len, key_len;
};

struct nytp_label_selection {
    struct nytp_sink scan, sink;
    struct nytp_sink *next;
    nytp_label_match_fn *match;
    void *context;
    uint32_t all;                     /* the conditions */
    uint32_t of_profile, now;         /* conditions: of the process, at this point */
    NYTP_LIST(enum wanted) processes; /* as the scan found */
    uint32_t at;                      /* processes begun in this reading */
    bool is_met;
    bool has_passed;
    bool is_all; /* all of every process is wanted */

    enum wanted wanted;      /* of the process that is being read */
    struct open_call *calls; /* by depth; [0]: code outside of all */
    uint32_t calls_capacity;
    uint32_t deepest;   /* of those that are open */
    bool is_discounted; /* the next statement */
    struct nytp_returns returns;
    NYTP_LIST(uint32_t) waiting; /* depths of calls whose entry was not passed on, rising */
    NYTP_LIST(struct missed_label) missed; /* each key once */
    int64_t label_ticks;                   /* when a label changed last */
};

struct nytp_label_selection *nytp_label_selection_new(unsigned n, nytp_label_match_fn *match,
                                                      void *context)
{
    struct nytp_label_selection *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->match = match;
    s->context = context;
    s->all = (uint32_t)((UINT64_C(1) << n) - 1);
    return s;
}

static void forget_missed(struct nytp_label_selection *s)
{
    while (s->missed.n > 0)
        free(s->missed.at[--s->missed.n].text);
}

void nytp_label_selection_free(struct nytp_label_selection *s)
{
    if (s == NULL)
        return;
    forget_missed(s);
    free(s->missed.at);
    free(s->processes.at);
    free(s->calls);
    free(s->waiting.at);
    nytp_returns_free(&s->returns);
    free(s);
}

static void note_label(struct nytp_label_selection *s, const struct nytp_label_record *record)
{
    uint32_t of_key = 0;
    uint32_t hold = s->match(s->context, record->key, record->value, &of_key);
    if (record->kind == NYTP_LABEL_PROFILE) {
        s->of_profile = (s->of_profile & ~of_key) | hold;
    } else {
        hold = record->kind == NYTP_LABEL_SET ? hold : 0;
        s->now = (s->now & ~of_key) | hold;
    }
}

/* ---- the first reading ---- */

static bool scan_event(struct nytp_sink *sink, const struct nytp_event *e)
{
    struct nytp_label_selection *const s =
        (struct nytp_label_selection *)((char *)sink -
                                        offsetof(struct nytp_label_selection, scan));
    if (e->tag == NYTP_TAG_PID_START) {
        if (!NYTP_GROW(&s->processes))
            return false;
        s->processes.at[s->processes.n++] = NOTHING;
        s->now = s->of_profile = 0;
    }
    if (e->tag != NYTP_TAG_COMMENT || s->processes.n == 0)
        return true;
    const struct nytp_label_record record = nytp_label_record_read(&e->u.comment.text);
    if (record.kind == NYTP_LABEL_NONE || record.kind == NYTP_LABEL_OWN)
        return true;
    note_label(s, &record);
    enum wanted *const process = &s->processes.at[s->processes.n - 1];
    /* a label of the profile that changes its value counts as it is in the end */
    if (s->of_profile == s->all)
        *process = ALL;
    else if (*process == ALL || (s->now | s->of_profile) == s->all)
        *process = STRETCHES;
    s->is_met |= *process != NOTHING;
    return true;
}

struct nytp_sink *nytp_label_selection_scan(struct nytp_label_selection *s)
{
    s->processes.n = s->at = 0;
    s->is_met = false;
    s->scan = (struct nytp_sink){.event = scan_event};
    return &s->scan;
}

bool nytp_label_selection_is_met(const struct nytp_label_selection *s)
{
    return s->is_met;
}

/* ---- the second ---- */

static bool is_inside(const struct nytp_label_selection *s)
{
    return s->wanted == ALL || (s->wanted == STRETCHES && (s->now | s->of_profile) == s->all);
}

static bool pass(struct nytp_label_selection *s, const struct nytp_event *e)
{
    return s->next->event(s->next, e);
}

/* The call at this depth, made if there is none. */
static struct open_call *call_at(struct nytp_label_selection *s, uint32_t depth)
{
    if (depth > MAX_DEPTH || !nytp_reserve_zeroed(&s->calls, &s->calls_capacity,
                                                  (uint64_t)depth + 1, sizeof *s->calls))
        return NULL;
    struct open_call *const call = &s->calls[depth];
    if (nytp_returns_since(&s->returns, depth, call->n_returned))
        *call = (struct open_call){.n_returned = s->returns.n};
    if (depth > s->deepest)
        s->deepest = depth;
    return call;
}

/* The call at this depth is over, and so are those within it. */
static bool end_calls(struct nytp_label_selection *s, uint32_t depth)
{
    s->deepest = depth > 0 ? depth - 1 : 0;
    while (s->waiting.n > 0 && s->waiting.at[s->waiting.n - 1] >= depth)
        s->waiting.n--;
    return nytp_returns_note(&s->returns, depth);
}

/* ---- labels outside ---- */

static bool is_of_key(const struct missed_label *missed, const struct nytp_str *key)
{
    return missed->key_len == key->len && memcmp(missed->text, key->ptr, key->len) == 0;
}

static bool miss_label(struct nytp_label_selection *s, const struct nytp_label_record *record,
                       const struct nytp_str *comment)
{
    const size_t len = (size_t)(comment->ptr + comment->len - record->key.ptr);
    uint32_t i = 0;
    while (i < s->missed.n && !is_of_key(&s->missed.at[i], &record->key))
        i++;
    if (i == NYTP_MOST_IN_FORCE)
        return true;
    char *const text = malloc(len + 1);
    if (text == NULL || (i == s->missed.n && !NYTP_GROW(&s->missed))) {
        free(text);
        return false;
    }
    memcpy(text, record->key.ptr, len);
    if (i < s->missed.n)
        free(s->missed.at[i].text);
    else
        s->missed.n++;
    s->missed.at[i] = (struct missed_label){text, len, record->key.len};
    return true;
}

static void forget_label(struct nytp_label_selection *s, const struct nytp_str *key)
{
    for (uint32_t i = 0; i < s->missed.n; i++)
        if (is_of_key(&s->missed.at[i], key)) {
            free(s->missed.at[i].text);
            s->missed.at[i] = s->missed.at[--s->missed.n];
            return;
        }
}

/* A stretch begins: labels that changed before are told as of now. */
static bool tell_missed(struct nytp_label_selection *s, uint64_t offset)
{
    char line[NYTP_LABEL_LONGEST];
    bool ok = true;
    for (uint32_t i = 0; ok && i < s->missed.n; i++) {
        const int len =
            snprintf(line, sizeof line, NYTP_LABEL_HEAD " %lld %.*s", (long long)s->label_ticks,
                     (int)s->missed.at[i].len, s->missed.at[i].text);
        struct nytp_event event = {.tag = NYTP_TAG_COMMENT, .offset = offset};
        event.u.comment.text = (struct nytp_str){.ptr = line, .len = (uint32_t)len};
        ok = len >= (int)sizeof line || pass(s, &event);
    }
    forget_missed(s);
    return ok;
}

/* Entries that wait are passed on: a stretch begins. */
static bool enter_open_calls(struct nytp_label_selection *s, uint64_t offset)
{
    for (uint32_t i = 0; i < s->waiting.n; i++) {
        struct open_call *const call = &s->calls[s->waiting.at[i]];
        struct nytp_event entry = {.tag = NYTP_TAG_SUB_ENTRY, .offset = offset};
        entry.u.sub_entry.caller_fid = call->file;
        entry.u.sub_entry.caller_line = call->line;
        call->is_passed = true;
        if (!pass(s, &entry))
            return false;
    }
    s->waiting.n = 0;
    return tell_missed(s, offset);
}

static bool entry_event(struct nytp_label_selection *s, const struct nytp_event *e)
{
    const uint32_t depth = s->deepest + 1;
    struct open_call *const call = call_at(s, depth);
    if (call == NULL)
        return false;
    *call = (struct open_call){.file = e->u.sub_entry.caller_fid,
                               .line = e->u.sub_entry.caller_line,
                               .is_entered = true,
                               .n_returned = s->returns.n};
    call->is_passed = call->is_counted = is_inside(s);
    if (call->is_passed)
        return pass(s, e);
    if (!NYTP_GROW(&s->waiting))
        return false;
    s->waiting.at[s->waiting.n++] = depth;
    return true;
}

static bool pass_part_of_call(struct nytp_label_selection *s, const struct nytp_event *e)
{
    struct nytp_event resumed = {.tag = NYTP_TAG_COMMENT, .offset = e->offset};
    resumed.u.comment.text = (struct nytp_str){.ptr = NYTP_RESUMED_CALL "\n",
                                               .len = sizeof NYTP_RESUMED_CALL "\n" - 1};
    return pass(s, &resumed) && pass(s, e);
}

static bool return_event(struct nytp_label_selection *s, const struct nytp_event *e)
{
    const uint32_t depth = e->u.sub_return.depth;
    if (depth == 0 || depth > MAX_DEPTH || !isfinite(e->u.sub_return.excl_ticks))
        return true;
    const struct open_call *const found = call_at(s, depth);
    if (found == NULL)
        return false;
    struct open_call call = *found;
    if (!end_calls(s, depth))
        return false;
    if (is_inside(s)) {
        const double rest = e->u.sub_return.excl_ticks - call.recorded;
        call.inside += rest;
        call.own_inside += rest;
        call.is_counted |= !call.is_entered;
        call.is_passed = true;
    }
    if (!call.is_passed && call.inside == 0)
        return true;
    struct open_call *const caller = call_at(s, depth - 1);
    caller->inside += call.inside;
    /* without entries, a call within says that there is one around it */
    caller->is_passed |= !caller->is_entered;
    struct nytp_event part = *e;
    part.u.sub_return.incl_ticks = call.inside;
    part.u.sub_return.excl_ticks = call.own_inside;
    return call.is_counted ? pass(s, &part) : pass_part_of_call(s, &part);
}

/* A label changed: it begins or ends a stretch, or is another one within. It is passed on
 * behind the entries that wait, so that it stands inside them. */
static bool change_event(struct nytp_label_selection *s, const struct nytp_event *e,
                         const struct nytp_label_record *record, bool was_inside)
{
    s->label_ticks = record->ticks;
    if (!was_inside && !is_inside(s))
        return miss_label(s, record, &e->u.comment.text);
    forget_label(s, &record->key);
    return (was_inside || enter_open_calls(s, e->offset)) && pass(s, e);
}

static bool comment_event(struct nytp_label_selection *s, const struct nytp_event *e)
{
    const struct nytp_label_record record = nytp_label_record_read(&e->u.comment.text);
    const bool was_inside = is_inside(s);
    struct nytp_open_call open;
    struct nytp_bytes_record bytes;
    struct nytp_svs_record svs;
    struct nytp_hang hang;
    if (record.kind == NYTP_LABEL_OWN) {
        struct open_call *const call = call_at(s, record.depth);
        if (call == NULL)
            return record.depth > MAX_DEPTH;
        call->recorded += (double)record.ticks;
        if (was_inside) {
            call->inside += (double)record.ticks;
            call->own_inside += (double)record.ticks;
        }
        return true;
    }
    if (record.kind != NYTP_LABEL_NONE)
        note_label(s, &record);
    if (record.kind == NYTP_LABEL_SET || record.kind == NYTP_LABEL_END)
        return change_event(s, e, &record, was_inside);
    if (record.kind == NYTP_LABEL_PROFILE)
        return pass(s, e) && (was_inside || !is_inside(s) || enter_open_calls(s, e->offset));
    const bool is_of_calls = nytp_is_resumed_call(&e->u.comment.text) ||
                             nytp_open_call_read(&e->u.comment.text, &open) ||
                             nytp_hang_read(&e->u.comment.text, &hang) ||
                             nytp_svs_record_read(&e->u.comment.text, &svs);
    const bool is_of_bytes = nytp_bytes_record_read(&e->u.comment.text, &bytes);
    const bool is_outside = !was_inside && (is_of_calls || (is_of_bytes && !bytes.is_free));
    return (is_of_bytes && bytes.is_from_before) || is_outside || pass(s, e);
}

/* A discount is passed on with its statement: a stretch may begin or end between the two. */
static bool statement_event(struct nytp_label_selection *s, const struct nytp_event *e)
{
    const struct nytp_event discount = {.tag = NYTP_TAG_DISCOUNT, .offset = e->offset};
    const bool is_discounted = s->is_discounted;
    s->is_discounted = false;
    return !is_inside(s) || ((!is_discounted || pass(s, &discount)) && pass(s, e));
}

static bool begin_process(struct nytp_label_selection *s)
{
    s->wanted = s->at < s->processes.n ? s->processes.at[s->at] : NOTHING;
    s->at++;
    s->now = s->of_profile = 0;
    forget_missed(s);
    s->label_ticks = 0;
    s->is_discounted = false;
    s->has_passed |= s->wanted != NOTHING;
    return end_calls(s, 0);
}

static bool selection_event(struct nytp_sink *sink, const struct nytp_event *e)
{
    struct nytp_label_selection *const s =
        (struct nytp_label_selection *)((char *)sink -
                                        offsetof(struct nytp_label_selection, sink));
    if (e->tag == NYTP_TAG_PID_START && !begin_process(s))
        return false;
    switch (e->tag) {
    case NYTP_TAG_SUB_CALLERS: /* sums over all; those of no call tell what is an xsub */
        return (!s->is_all && (e->u.sub_callers.count > 0 || e->u.sub_callers.fid > 0)) ||
               pass(s, e);
    case NYTP_TAG_PID_START:
    case NYTP_TAG_PID_END:
        return s->wanted == NOTHING || pass(s, e);
    case NYTP_TAG_DISCOUNT:
        s->is_discounted = true;
        return true;
    case NYTP_TAG_TIME_LINE:
    case NYTP_TAG_TIME_BLOCK:
        return statement_event(s, e);
    case NYTP_TAG_COMMENT:
        return s->wanted == NOTHING || (s->wanted == ALL ? pass(s, e) : comment_event(s, e));
    case NYTP_TAG_SUB_ENTRY:
        return s->wanted == NOTHING || (s->wanted == ALL ? pass(s, e) : entry_event(s, e));
    case NYTP_TAG_SUB_RETURN:
        return s->wanted == NOTHING || (s->wanted == ALL ? pass(s, e) : return_event(s, e));
    default:
        return pass(s, e);
    }
}

struct nytp_sink *nytp_label_selection_sink(struct nytp_label_selection *s,
                                            struct nytp_sink *next)
{
    s->next = next;
    s->has_passed = false;
    s->wanted = NOTHING;
    s->is_all = s->processes.n > 0;
    for (uint32_t i = 0; i < s->processes.n; i++)
        s->is_all &= s->processes.at[i] == ALL;
    s->sink = (struct nytp_sink){.event = selection_event};
    return &s->sink;
}

bool nytp_label_selection_has_passed(const struct nytp_label_selection *s)
{
    return s->has_passed;
}

bool nytp_label_selection_takes_parts(const struct nytp_label_selection *s)
{
    bool parts = false;
    for (uint32_t i = 0; i < s->processes.n; i++)
        parts |= s->processes.at[i] == STRETCHES;
    return parts;
}
