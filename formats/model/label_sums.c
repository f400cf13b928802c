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
 */
#include "label_sums.h"
#include "returns.h"

#include "formats/base/arena.h"
#include "formats/stream/comments/attribute_records.h"
#include "formats/stream/comments/label_records.h"
#include "formats/stream/comments/sample_records.h"
#include "formats/stream/comments/svs_records.h"
#include "formats/base/strings.h"
#include "formats/base/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_TICKS_PER_SEC 1000000
#define MAX_DEPTH             1000000u

struct label {
    uint32_t key; /* string id */
    /* Its lengths and its slowest sub are found in the end. */
    struct nytp_label_row row;
    bool lacks_subs; /* no room for the times of some subs */
};

/* A label whose key has no other value yet. */
struct in_force {
    uint32_t label;
    int64_t since_ticks; /* on the process's axis */
    int64_t since_clock; /* statements' ticks */
    int64_t since_memory, since_svs;
};

struct in_force_list {
    NYTP_LIST(struct in_force);
};

struct cell {
    uint32_t label, sub;
    double seconds;
    uint64_t calls; /* calls that returned under the label */
};

struct sub {
    uint32_t file, first_line; /* string id of its name; 0, 0: unknown */
    /* in the current process: */
    double seconds; /* exclusive */
    uint64_t calls;
    bool is_listed; /* among those that have some time */
};

/* The current process. */
struct process {
    double ticks_per_sec;
    int64_t clock;  /* sum of its statements so far */
    int64_t memory; /* last known bytes in core; 0: unknown */
    int64_t svs;    /* made minus freed so far */
    bool has_svs;
    double calls_s; /* exclusive time of all its calls */
    struct in_force_list active;
    struct in_force_list of_profile; /* of the whole profile, without a beginning */
    NYTP_LIST(uint32_t) timed; /* subs that have exclusive time */
    struct recorded {
        double ticks;
        uint64_t n_returned; /* returns so far when it was first recorded */
    } * recorded;            /* by depth: recorded exclusive time of the open call */
    uint32_t recorded_capacity;
    struct nytp_returns returns; /* since the first such record */
};

struct nytp_label_sums {
    struct nytp_sink sink;
    bool failed; /* memory is out */
    struct nytp_strings *strings;
    uint32_t name_more;

    NYTP_LIST(struct label) labels;
    struct nytp_table by_pair; /* (key, value) -> label */
    struct nytp_label_lengths lengths;
    NYTP_LIST(struct cell) cells;
    struct nytp_table by_sub; /* (label, sub) -> cell */
    struct sub *subs;         /* by string id of the name */
    uint32_t subs_capacity;
    nytp_label_time_fn *time_of;
    nytp_label_group_fn *group;
    void *group_context;

    /* the current input */
    uint32_t input;
    struct nytp_table name_of_fid;        /* (fid) -> string id */
    struct nytp_label_input attributes;
    int64_t most_ticks_per_sec;           /* of all inputs so far; 0: unknown */

    struct process now;
};

struct nytp_label_sums *nytp_label_sums_new(void)
{
    struct nytp_label_sums *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
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
    return add_length(s, ended.label, (ticks > 0 ? ticks : 0) / s->now.ticks_per_sec);
}

static bool end_profile_labels(struct nytp_label_sums *s)
{
    const double clock_s = (double)s->now.clock / s->now.ticks_per_sec;
    for (uint32_t i = 0; i < s->now.of_profile.n; i++) {
        const uint32_t label = s->now.of_profile.at[i].label;
        if (!add_length(s, label, clock_s > 0 ? clock_s : s->now.calls_s))
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
    if (!end_profile_labels(s))
        return false;
    for (uint32_t o = 0; o < s->now.timed.n; o++) {
        struct sub *const sub = &s->subs[s->now.timed.at[o]];
        *sub = (struct sub){.file = sub->file, .first_line = sub->first_line};
    }
    s->now.timed.n = s->now.of_profile.n = 0;
    s->now.clock = s->now.memory = s->now.svs = 0;
    s->now.has_svs = false;
    s->now.calls_s = 0;
    return nytp_returns_note(&s->now.returns, 0) || failed(s);
}

/* Returns NULL if memory is out. */
static struct sub *sub_of(struct nytp_label_sums *s, const struct nytp_str *name, uint32_t *id)
{
    *id = nytp_strings_intern_mixed(s->strings, name->ptr, name->len);
    return *id != UINT32_MAX && nytp_reserve_zeroed(&s->subs, &s->subs_capacity,
                                                    (uint64_t)*id + 1, sizeof *s->subs)
               ? &s->subs[*id]
               : NULL;
}

/* Books exclusive time of a sub, and calls of it that end, under the labels in force. */
static bool book_time(struct nytp_label_sums *s, const struct nytp_str *name, double ticks,
                      uint64_t calls)
{
    const double seconds = ticks / s->now.ticks_per_sec;
    uint32_t id;
    struct sub *const sub = sub_of(s, name, &id);
    if (sub == NULL || !NYTP_GROW(&s->now.timed))
        return failed(s);
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
                                            .since_svs = s->now.svs};
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
    case NYTP_TAG_SUB_RETURN:
        return return_event(s, e);
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

struct nytp_label_input nytp_label_sums_input(const struct nytp_label_sums *s)
{
    return s->attributes;
}

int64_t nytp_label_sums_ticks_per_sec(const struct nytp_label_sums *s)
{
    return s->most_ticks_per_sec > 0 ? s->most_ticks_per_sec : DEFAULT_TICKS_PER_SEC;
}

/* ---- rows ---- */

static int by_key_and_total(const void *x, const void *y)
{
    const struct nytp_label_row *a = x, *b = y;
    const int keys = nytp_compare_names(a->key, b->key);
    if (keys != 0)
        return keys;
    NYTP_RETURN_ORDER(b->total_s, a->total_s);
    return nytp_compare_names(a->value, b->value);
}

/* The profiler's modules are subs like others, but nobody asks for them. */
static bool is_profilers(struct nytp_name sub)
{
    static const char *const packages[] = {
        "Devel::NYTProf::", "Plack::Middleware::NYTP::", "Mojolicious::Plugin::NYTP::", "DB::"};
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
        if (strncmp(sub.ptr, packages[i], strlen(packages[i])) == 0)
            return true;
    return false;
}

static void add_time(struct nytp_label_row *row, enum nytp_label_time time, double seconds)
{
    row->database_s += time == NYTP_LABEL_DATABASE ? seconds : 0;
    row->waiting_s += time == NYTP_LABEL_WAITING ? seconds : 0;
}

/* Finds the sub with the most exclusive time under each label; code outside of subs has the
 * rest. A label with missing subs gets none, since a missing one may be the slowest. */
static void find_slowest(const struct nytp_label_sums *s, struct nytp_label_row *rows)
{
    static const struct nytp_name outside = {"main::RUNTIME", 13};
    double *const rest = calloc(s->labels.n + 1, sizeof *rest);
    for (uint32_t i = 0; i < s->cells.n; i++) {
        const struct cell *cell = &s->cells.at[i];
        struct nytp_label_row *row = &rows[cell->label];
        const struct nytp_name sub = nytp_strings_get(s->strings, cell->sub);
        if (rest != NULL)
            rest[cell->label] += cell->seconds;
        if (s->time_of != NULL)
            add_time(row, s->time_of(sub, cell->seconds, cell->calls), cell->seconds);
        if (s->labels.at[cell->label].lacks_subs || is_profilers(sub))
            continue;
        if (row->slowest.len > 0 &&
            (row->slowest_s > cell->seconds ||
             (row->slowest_s == cell->seconds && nytp_compare_names(row->slowest, sub) < 0)))
            continue;
        row->slowest = sub;
        row->slowest_s = cell->seconds;
        row->slowest_file = nytp_strings_get(s->strings, s->subs[cell->sub].file);
        row->slowest_line = s->subs[cell->sub].first_line;
    }
    for (uint32_t i = 0; rest != NULL && i < s->labels.n; i++) {
        const double outside_s = rows[i].total_s - rest[i];
        if (rows[i].slowest.len == 0 || outside_s <= rows[i].slowest_s)
            continue;
        rows[i].slowest = outside;
        rows[i].slowest_s = outside_s;
        rows[i].slowest_file = nytp_strings_get(s->strings, 0);
        rows[i].slowest_line = 0;
    }
    free(rest);
}

struct nytp_label_row *nytp_label_sums_rows(struct nytp_label_sums *s, uint32_t *n_rows)
{
    struct nytp_label_row *rows = calloc((size_t)s->labels.n + 1, sizeof *rows);
    if (rows == NULL || s->failed) {
        free(rows);
        return NULL;
    }
    for (uint32_t i = 0; i < s->labels.n; i++)
        rows[i] = s->labels.at[i].row;
    nytp_label_lengths_sort(&s->lengths);
    for (uint32_t i = 0, end; i < s->lengths.n; i = end) {
        const struct nytp_label_length *const first = &s->lengths.all[i];
        struct nytp_label_row *const row = &rows[first->label];
        for (end = i + 1; end < s->lengths.n && s->lengths.all[end].label == first->label;)
            end++;
        row->lengths = first;
        row->n_lengths = end - i;
        row->median_s = nytp_label_median(first, row->n);
        row->p95_s = nytp_label_p95(first, row->n);
    }
    find_slowest(s, rows);
    *n_rows = 0;
    for (uint32_t i = 0; i < s->labels.n; i++)
        if (rows[i].n > 0)
            rows[(*n_rows)++] = rows[i];
    qsort(rows, *n_rows, sizeof *rows, by_key_and_total);
    return rows;
}

struct nytp_name nytp_label_sums_keep(struct nytp_label_sums *s, const char *text, size_t len)
{
    const uint32_t id = nytp_strings_intern_mixed(s->strings, text, len);
    return id == UINT32_MAX ? (struct nytp_name){NULL, 0} : nytp_strings_get(s->strings, id);
}
