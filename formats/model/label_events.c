/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Times of labels; see label_sums.h.
 *
 * The two label comments around a stretch give its length. A stretch without an end lasts as
 * long as the following statements of its process.
 *
 * A sub's exclusive time under a label is summed when calls return. Before a label changes,
 * each open call records its time so far (nytp-own comments), so that each label gets its
 * part.
 *
 * From each stretch the recording cost of its events is subtracted (event_costs.h).
 */
#include "label_state.h"
#include "profile.h"

#include "formats/base/arena.h"
#include "formats/stream/comments/attribute_records.h"
#include "formats/stream/comments/label_records.h"
#include "formats/stream/comments/sample_records.h"
#include "formats/stream/comments/svs_records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_TICKS_PER_SEC 1000000
#define MAX_DEPTH             1000000u
#define MOST_ENDED            4096u

struct nytp_label_sums *nytp_label_sums_new(bool as_recorded)
{
    struct nytp_label_sums *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->as_recorded = as_recorded;
    s->strings = nytp_strings_new();
    if (s->strings == NULL) {
        free(s);
        return NULL;
    }
    s->now.ticks_per_sec = DEFAULT_TICKS_PER_SEC;
    s->name_more = nytp_strings_intern(s->strings, "(more)", 6);
    const struct nytp_name none = nytp_strings_get(s->strings, 0);
    s->attributes = (struct nytp_label_input){none, none, none};
    return s;
}

void nytp_label_sums_free(struct nytp_label_sums *s)
{
    if (s == NULL)
        return;
    nytp_strings_free(s->strings);
    nytp_table_free(&s->by_pair);
    nytp_table_free(&s->by_sub);
    nytp_table_free(&s->name_of_fid);
    free(s->labels.at);
    nytp_label_lengths_free(&s->lengths);
    free(s->cells.at);
    free(s->now.active.at);
    free(s->now.of_profile.at);
    free(s->subs);
    free(s->now.timed.at);
    free(s->now.recorded);
    free(s->now.ended.at);
    nytp_returns_free(&s->now.returns);
    free(s);
}

static bool failed(struct nytp_label_sums *s)
{
    s->failed = true;
    return false;
}

/* ---- labels ---- */

static bool label_of(struct nytp_label_sums *s, uint32_t key, uint32_t value, uint32_t *label)
{
    const struct nytp_key pair = {key, value, 0, 0};
    *label = nytp_table_get(&s->by_pair, pair);
    if (*label != NYTP_TABLE_NONE)
        return true;
    if (s->labels.n >= NYTP_MOST_LABELS && value != s->name_more)
        return label_of(s, key, s->name_more, label);
    if (!NYTP_GROW(&s->labels) || !nytp_table_put(&s->by_pair, pair, s->labels.n))
        return failed(s);
    *label = s->labels.n++;
    s->labels.at[*label] =
        (struct label){.key = key,
                       .row = {.key = nytp_strings_get(s->strings, key),
                               .value = nytp_strings_get(s->strings, value),
                               .slowest_file = nytp_strings_get(s->strings, 0)}};
    return true;
}

static bool label_of_record(struct nytp_label_sums *s, const struct nytp_label_record *record,
                            uint32_t key, uint32_t *label)
{
    struct nytp_str text = record->value;
    if (s->group != NULL)
        text = s->group(s->group_context, text);
    const uint32_t value = nytp_strings_intern(s->strings, text.ptr, text.len);
    if (key == UINT32_MAX || value == UINT32_MAX)
        return failed(s);
    return label_of(s, key, value, label);
}

static bool add_length(struct nytp_label_sums *s, uint32_t label, double seconds)
{
    struct nytp_label_row *const row = &s->labels.at[label].row;
    row->n++;
    row->total_s += seconds;
    if (row->n == 1 || seconds > row->max_s) {
        row->max_s = seconds;
        row->max_input = s->input;
    }
    return nytp_label_lengths_add(&s->lengths, label, seconds) || failed(s);
}

static bool add_own(struct nytp_label_sums *s, uint32_t label, uint32_t sub, double seconds,
                    uint64_t calls)
{
    const struct nytp_key key = {label, sub, 0, 0};
    uint32_t at = nytp_table_get(&s->by_sub, key);
    if (at == NYTP_TABLE_NONE) {
        if (s->cells.n >= NYTP_MOST_LABEL_SUBS) {
            s->labels.at[label].lacks_subs = true;
            return true;
        }
        if (!NYTP_GROW(&s->cells) || !nytp_table_put(&s->by_sub, key, s->cells.n))
            return failed(s);
        at = s->cells.n++;
        s->cells.at[at] = (struct cell){.label = label, .sub = sub};
    }
    s->cells.at[at].seconds += seconds;
    s->cells.at[at].calls += calls;
    return true;
}

/* ---- the current process ---- */

/* Sizes in a damaged file may be absurd. */
static bool can_add(int64_t sum, int64_t more)
{
    const int64_t most = NYTP_MAX_TOTAL_TICKS;
    return sum < most && sum > -most && more < most && more > -most;
}

/* Adds the stretches that have ended, without what recording them cost. */
static bool settle_ended(struct nytp_label_sums *s)
{
    for (uint32_t i = 0; i < s->now.ended.n; i++) {
        const struct ended e = s->now.ended.at[i];
        const double around = nytp_cost_around(&s->now.costs, &e.n);
        const double cost = around + nytp_cost_of_calls_in(&s->now.costs, &e.n);
        const double part = cost > e.seconds ? e.seconds / cost : 1;
        s->recording_s += cost * part;
        s->labels.at[e.label].around_s += around * part;
        if (!add_length(s, e.label, e.seconds - cost * part))
            return false;
    }
    s->now.ended.n = 0;
    return true;
}

static bool note_ended(struct nytp_label_sums *s, struct ended ended)
{
    if (s->now.ended.n >= MOST_ENDED && !settle_ended(s))
        return false;
    if (!NYTP_GROW(&s->now.ended))
        return failed(s);
    s->now.ended.at[s->now.ended.n++] = ended;
    return true;
}

static bool end_active(struct nytp_label_sums *s, uint32_t at, double ticks)
{
    const struct in_force ended = s->now.active.at[at];
    struct nytp_label_row *const sums = &s->labels.at[ended.label].row;
    const int64_t grown = s->now.memory - ended.since_memory;
    if (ended.since_memory > 0 && s->now.memory > 0 && can_add(sums->memory_bytes, grown)) {
        sums->knows_memory = true;
        sums->memory_bytes += grown;
    }
    sums->knows_svs |= s->now.has_svs;
    sums->svs += s->now.svs - ended.since_svs;
    s->now.active.at[at] = s->now.active.at[--s->now.active.n];
    return note_ended(
        s, (struct ended){ended.label, (ticks > 0 ? ticks : 0) / s->now.ticks_per_sec,
                          nytp_event_counts_since(&s->now.counter.n, &ended.since)});
}

static bool end_profile_labels(struct nytp_label_sums *s)
{
    const double clock_s = (double)s->now.clock / s->now.ticks_per_sec;
    for (uint32_t i = 0; i < s->now.of_profile.n; i++) {
        const uint32_t label = s->now.of_profile.at[i].label;
        if (!note_ended(s, (struct ended){label, clock_s > 0 ? clock_s : s->now.calls_s,
                                          s->now.counter.n}))
            return false;
        for (uint32_t o = 0; o < s->now.timed.n; o++) {
            const uint32_t sub = s->now.timed.at[o];
            if (!add_own(s, label, sub, s->subs[sub].seconds, s->subs[sub].calls))
                return false;
        }
    }
    return true;
}

/* Ends a process: its labels end here, and labels of the whole process get all of it. */
static bool end_process(struct nytp_label_sums *s)
{
    while (s->now.active.n > 0)
        if (!end_active(s, 0, (double)(s->now.clock - s->now.active.at[0].since_clock)))
            return false;
    if (!end_profile_labels(s) || !settle_ended(s))
        return false;
    for (uint32_t o = 0; o < s->now.timed.n; o++) {
        struct sub *const sub = &s->subs[s->now.timed.at[o]];
        sub->seconds = 0;
        sub->calls = 0;
        sub->is_listed = false;
    }
    s->now.timed.n = s->now.of_profile.n = 0;
    s->now.clock = s->now.memory = s->now.svs = 0;
    s->now.has_svs = false;
    s->now.calls_s = 0;
    s->now.costs = (struct nytp_costs){0};
    s->now.counter = (struct nytp_event_counter){0};
    return nytp_returns_note(&s->now.returns, 0) || failed(s);
}

/* Returns NULL if memory is out. */
static struct sub *sub_of(struct nytp_label_sums *s, const struct nytp_str *name, uint32_t *id)
{
    *id = nytp_strings_intern_mixed(s->strings, name->ptr, name->len);
    if (*id == UINT32_MAX ||
        !nytp_reserve_zeroed(&s->subs, &s->subs_capacity, (uint64_t)*id + 1, sizeof *s->subs))
        return NULL;
    struct sub *const sub = &s->subs[*id];
    if (!sub->is_met && nytp_is_opcode_name(nytp_strings_get(s->strings, *id)))
        sub->kind = NYTP_SUB_OPCODE;
    sub->is_met = true;
    return sub;
}

/* Books exclusive time of a sub, and calls of it that end, under the labels in force. */
static bool book_time(struct nytp_label_sums *s, const struct nytp_str *name, double ticks,
                      uint64_t calls)
{
    uint32_t id;
    struct sub *const sub = sub_of(s, name, &id);
    if (sub == NULL || !NYTP_GROW(&s->now.timed))
        return failed(s);
    const double seconds =
        ticks / s->now.ticks_per_sec - (double)calls * nytp_cost_in(&s->now.costs, sub->kind);
    if (calls > 0)
        nytp_count_return(&s->now.counter, sub->kind);
    if (!sub->is_listed)
        s->now.timed.at[s->now.timed.n++] = id;
    sub->is_listed = true;
    sub->seconds += seconds;
    sub->calls += calls;
    s->now.calls_s += seconds;
    for (uint32_t i = 0; i < s->now.active.n; i++)
        if (!add_own(s, s->now.active.at[i].label, id, seconds, calls))
            return false;
    return true;
}

/* Ends a recording. Another one may follow in the same input. */
static bool end_recording(struct nytp_label_sums *s)
{
    const bool ok = !s->failed && end_process(s);
    s->now.ticks_per_sec = DEFAULT_TICKS_PER_SEC;
    nytp_table_free(&s->name_of_fid);
    return ok;
}

/* ---- events ---- */

static double recorded_before(const struct nytp_label_sums *s, uint32_t depth)
{
    return depth < s->now.recorded_capacity &&
                   !nytp_returns_since(&s->now.returns, depth,
                                       s->now.recorded[depth].n_returned)
               ? s->now.recorded[depth].ticks
               : 0;
}

static bool note_own(struct nytp_label_sums *s, const struct nytp_label_record *record)
{
    if (record->depth > MAX_DEPTH)
        return true;
    if (!nytp_reserve_zeroed(&s->now.recorded, &s->now.recorded_capacity,
                             (uint64_t)record->depth + 1, sizeof *s->now.recorded))
        return failed(s);
    struct recorded *const recorded = &s->now.recorded[record->depth];
    if (nytp_returns_since(&s->now.returns, record->depth, recorded->n_returned))
        *recorded = (struct recorded){.n_returned = s->now.returns.n};
    recorded->ticks += (double)record->ticks;
    return book_time(s, &record->value, (double)record->ticks, 0);
}

/* Returns where the label of a key is in a list, or the list's end. */
static uint32_t find_in_force(const struct nytp_label_sums *s, const struct in_force_list *list,
                              uint32_t key)
{
    uint32_t i = 0;
    while (i < list->n && s->labels.at[list->at[i].label].key != key)
        i++;
    return i;
}

/* A key that has no value yet and would be one too many counts as "(more)". */
static bool note_label(struct nytp_label_sums *s, struct nytp_label_record *record)
{
    const bool is_of_profile = record->kind == NYTP_LABEL_PROFILE;
    struct in_force_list *const list = is_of_profile ? &s->now.of_profile : &s->now.active;
    uint32_t key = nytp_strings_intern(s->strings, record->key.ptr, record->key.len);
    uint32_t at = find_in_force(s, list, key);
    uint32_t label;
    if (at == list->n && list->n >= NYTP_MOST_IN_FORCE) {
        record->value = (struct nytp_str){.ptr = "(more)", .len = 6};
        key = s->name_more;
        at = find_in_force(s, list, key);
    }
    if (at < list->n && !is_of_profile &&
        !end_active(s, at, (double)(record->ticks - list->at[at].since_ticks)))
        return false;
    if (record->kind == NYTP_LABEL_END)
        return true;
    if (!label_of_record(s, record, key, &label))
        return false;
    if (at < list->n && is_of_profile) { /* the last value of a key counts */
        list->at[at].label = label;
        return true;
    }
    if (!NYTP_GROW(list))
        return failed(s);
    list->at[list->n++] = (struct in_force){.label = label,
                                            .since_ticks = record->ticks,
                                            .since_clock = s->now.clock,
                                            .since_memory = s->now.memory,
                                            .since_svs = s->now.svs,
                                            .since = s->now.counter.n};
    return true;
}

static void note_memory(struct nytp_label_sums *s, const struct nytp_str *comment)
{
    struct nytp_svs_record svs;
    const int64_t memory = nytp_comment_number(comment, NYTP_MEMORY_NOW_HEAD);
    if (memory > 0)
        s->now.memory = memory;
    if (!nytp_svs_record_read(comment, &svs))
        return;
    s->now.has_svs = true;
    s->now.svs += svs.n;
}

static bool comment_event(struct nytp_label_sums *s, const struct nytp_event *e)
{
    note_memory(s, &e->u.comment.text);
    if (!s->as_recorded)
        nytp_costs_note(&s->now.costs, &e->u.comment.text);
    struct nytp_label_record record = nytp_label_record_read(&e->u.comment.text);
    if (record.kind == NYTP_LABEL_OWN)
        return note_own(s, &record);
    return record.kind == NYTP_LABEL_NONE || note_label(s, &record);
}

static bool return_event(struct nytp_label_sums *s, const struct nytp_event *e)
{
    const double recorded = recorded_before(s, e->u.sub_return.depth);
    if (s->now.recorded_capacity > 0 &&
        !nytp_returns_note(&s->now.returns, e->u.sub_return.depth))
        return failed(s);
    const double excl = e->u.sub_return.excl_ticks;
    return !isfinite(excl) || book_time(s, &e->u.sub_return.name, excl - recorded, 1);
}

static bool time_event(struct nytp_label_sums *s, const struct nytp_event *e)
{
    int64_t sum;
    nytp_count_statement(&s->now.counter);
    if (!__builtin_add_overflow(s->now.clock, e->u.time.ticks, &sum))
        s->now.clock = sum;
    return true;
}

static void note_ticks_per_sec(struct nytp_label_sums *s, struct nytp_str value)
{
    const uint64_t ticks = nytp_str_number(value);
    if (ticks == 0 || ticks > INT32_MAX)
        return;
    s->now.ticks_per_sec = (double)ticks;
    if ((int64_t)ticks > s->most_ticks_per_sec)
        s->most_ticks_per_sec = (int64_t)ticks;
}

static bool attribute_event(struct nytp_label_sums *s, const struct nytp_event *e)
{
    if (nytp_str_is(e->u.setting.key, "ticks_per_sec"))
        note_ticks_per_sec(s, e->u.setting.value);
    const struct nytp_str key = e->u.setting.key, value = e->u.setting.value;
    struct nytp_name *const to = nytp_str_is(key, "host")          ? &s->attributes.host
                                 : nytp_str_is(key, "application") ? &s->attributes.application
                                 : nytp_str_is(key, "basetime")    ? &s->attributes.basetime
                                                                   : NULL;
    if (to == NULL)
        return true;
    *to = nytp_label_sums_keep(s, value.ptr, value.len);
    return to->ptr != NULL || failed(s);
}

static bool file_event(struct nytp_label_sums *s, const struct nytp_event *e)
{
    const uint32_t name =
        nytp_strings_intern_mixed(s->strings, e->u.new_fid.name.ptr, e->u.new_fid.name.len);
    return (name != UINT32_MAX &&
            nytp_table_put(&s->name_of_fid, (struct nytp_key){.a = e->u.new_fid.fid}, name)) ||
           failed(s);
}

/* Notes the place of a sub. The first of several places counts. */
static bool sub_event(struct nytp_label_sums *s, const struct nytp_event *e)
{
    uint32_t id;
    struct sub *const sub = sub_of(s, &e->u.sub_info.name, &id);
    const uint32_t file =
        nytp_table_get(&s->name_of_fid, (struct nytp_key){.a = e->u.sub_info.fid});
    if (sub == NULL)
        return failed(s);
    if (sub->first_line == 0 && e->u.sub_info.first_line != 0 && file != NYTP_TABLE_NONE) {
        sub->file = file;
        sub->first_line = e->u.sub_info.first_line;
    }
    return true;
}

/* Sums of the recorder that are of no call tell which sub is an xsub. */
static bool callers_event(struct nytp_label_sums *s, const struct nytp_event *e)
{
    uint32_t id;
    if (e->u.sub_callers.count > 0 || e->u.sub_callers.fid > 0)
        return true;
    struct sub *const sub = sub_of(s, &e->u.sub_callers.callee, &id);
    if (sub == NULL)
        return failed(s);
    sub->kind = NYTP_SUB_XSUB;
    return true;
}

static bool label_event(struct nytp_sink *sink, const struct nytp_event *e)
{
    struct nytp_label_sums *s = (struct nytp_label_sums *)sink;
    struct nytp_event attribute;
    switch (e->tag) {
    case NYTP_TAG_COMMENT:
        return nytp_attribute_record_read(e, &attribute) ? attribute_event(s, &attribute)
                                                         : comment_event(s, e);
    case NYTP_TAG_NEW_FID:
        return file_event(s, e);
    case NYTP_TAG_SUB_INFO:
        return sub_event(s, e);
    case NYTP_TAG_SUB_CALLERS:
        return callers_event(s, e);
    case NYTP_TAG_SUB_RETURN:
        return return_event(s, e);
    case NYTP_TAG_DISCOUNT:
        s->now.counter.is_discount = true;
        return true;
    case NYTP_TAG_TIME_LINE:
    case NYTP_TAG_TIME_BLOCK:
        return time_event(s, e);
    case NYTP_TAG_VERSION:
        return end_recording(s);
    case NYTP_TAG_PID_START:
    case NYTP_TAG_PID_END:
        return end_process(s);
    case NYTP_TAG_ATTRIBUTE:
        return attribute_event(s, e);
    default:
        return true;
    }
}

struct nytp_sink *nytp_label_sums_sink(struct nytp_label_sums *s)
{
    s->sink.event = label_event;
    return &s->sink;
}

void nytp_label_sums_group(struct nytp_label_sums *s, nytp_label_group_fn *group, void *context)
{
    s->group = group;
    s->group_context = context;
}

void nytp_label_sums_times(struct nytp_label_sums *s, nytp_label_time_fn *time_of)
{
    s->time_of = time_of;
}

bool nytp_label_sums_end_input(struct nytp_label_sums *s)
{
    const bool ok = end_recording(s);
    s->input++;
    return ok;
}

bool nytp_label_sums_are_corrected(const struct nytp_label_sums *s)
{
    return s->recording_s > 0;
}

struct nytp_label_input nytp_label_sums_input(const struct nytp_label_sums *s)
{
    return s->attributes;
}

int64_t nytp_label_sums_ticks_per_sec(const struct nytp_label_sums *s)
{
    return s->most_ticks_per_sec > 0 ? s->most_ticks_per_sec : DEFAULT_TICKS_PER_SEC;
}

struct nytp_name nytp_label_sums_keep(struct nytp_label_sums *s, const char *text, size_t len)
{
    const uint32_t id = nytp_strings_intern_mixed(s->strings, text, len);
    return id == UINT32_MAX ? (struct nytp_name){NULL, 0} : nytp_strings_get(s->strings, id);
}
