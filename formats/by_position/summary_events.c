/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Sums up a profile by file id and line, and by sub and call site; see summary.h. Nearly all
 * events of a stream are time records.
 *
 * The arrays by file id and by line are dense, because the Perl structures built from them are
 * arrays, too. The limits in summary.h bound the memory that a damaged file can take.
 */
#include "summary.h"

#include "formats/base/arena.h"
#include "formats/model/model.h"
#include "formats/stream/comments/attribute_records.h"

#include <stdlib.h>
#include <string.h>

#define NONE NYTP_SUMMARY_NONE

/* Returns the file of a record that needs one, or NONE with the error set. */
static uint32_t need_file(struct nytp_summary *summary, const struct nytp_event *event,
                          uint32_t fid)
{
    const uint32_t file = nytp_summary_file_of(summary, fid);
    if (file == NONE)
        nytp_error_at(&summary->error, NYTP_ERR_FORMAT, event->offset, summary->inflated,
                      "%s names file id %u, which is not defined", nytp_tag_name(event->tag),
                      (unsigned)fid);
    return file;
}

/* Most recordings have some twenty attributes and twenty options. */
#define MOST_PAIRS 1000

/* Sets an attribute or option. The search is linear, as there are few. */
static bool set_pair(struct nytp_summary *summary, struct nytp_summary_pairs *pairs,
                     struct nytp_str key, struct nytp_str value)
{
    struct nytp_summary_pair pair;
    if (!nytp_summary_intern(summary, key, &pair.key) ||
        !nytp_summary_intern(summary, value, &pair.value))
        return false;
    for (uint32_t i = 0; i < pairs->n; i++)
        if (pairs->at[i].key.id == pair.key.id) {
            pairs->at[i].value = pair.value;
            return true;
        }
    if (pairs->n >= MOST_PAIRS)
        return true;
    if (!nytp_grow(&pairs->at, &pairs->capacity, pairs->n, sizeof *pairs->at))
        return nytp_out_of_memory(&summary->error);
    pairs->at[pairs->n++] = pair;
    return true;
}

static bool add_attribute(struct nytp_summary *summary, const struct nytp_event *event)
{
    const struct nytp_str key = event->u.setting.key, value = event->u.setting.value;
    if (nytp_str_is(key, "ticks_per_sec")) {
        char digits[32] = "";
        memcpy(digits, value.ptr,
               value.len < sizeof digits - 1 ? value.len : sizeof digits - 1);
        summary->ticks_per_sec = strtod(digits, NULL);
    }
    return set_pair(summary, &summary->attributes, key, value);
}

static bool add_pid_start(struct nytp_summary *summary, const struct nytp_event *event)
{
    if (!NYTP_GROW(&summary->open))
        return nytp_out_of_memory(&summary->error);
    summary->open.at[summary->open.n++] =
        (struct nytp_summary_process){event->u.process.pid, event->u.process.time_s};
    summary->start_s = event->u.process.time_s;
    summary->has_processes = true;
    summary->discount = false; /* the process before may have left one */
    return true;
}

static bool add_pid_end(struct nytp_summary *summary, const struct nytp_event *event)
{
    summary->end_s = event->u.process.time_s;
    for (uint32_t i = summary->open.n; i-- > 0;)
        if (summary->open.at[i].pid == event->u.process.pid) {
            summary->duration_s += event->u.process.time_s - summary->open.at[i].start_s;
            summary->open.at[i] = summary->open.at[--summary->open.n];
            break;
        }
    return true;
}

static bool reserve_fid(struct nytp_summary *summary, uint32_t fid)
{
    if (fid < summary->files.n_fids)
        return true;
    uint32_t n = summary->files.n_fids == 0 ? 64 : summary->files.n_fids;
    while (n <= fid)
        n *= 2;
    uint32_t *grown = realloc(summary->files.by_fid, n * sizeof *grown);
    if (grown == NULL)
        return nytp_out_of_memory(&summary->error);
    for (uint32_t i = summary->files.n_fids; i < n; i++)
        grown[i] = NONE;
    summary->files.by_fid = grown;
    summary->files.n_fids = n;
    return true;
}

static bool add_file(struct nytp_summary *summary, const struct nytp_event *event)
{
    const uint32_t fid = event->u.new_fid.fid;
    if (fid == 0 || fid > NYTP_SUMMARY_MAX_FID)
        return nytp_error_at(&summary->error, fid == 0 ? NYTP_ERR_FORMAT : NYTP_ERR_LIMIT,
                             event->offset, summary->inflated, "file id %u is not in 1..%u",
                             (unsigned)fid, NYTP_SUMMARY_MAX_FID);
    if (!reserve_fid(summary, fid))
        return false;
    uint32_t at = summary->files.by_fid[fid];
    if (at == NONE) {
        if (!NYTP_GROW(&summary->files))
            return nytp_out_of_memory(&summary->error);
        at = summary->files.n++;
        summary->files.at[at] = (struct nytp_summary_file){0};
        summary->files.by_fid[fid] = at;
    }
    struct nytp_summary_file *file = &summary->files.at[at];
    file->fid = fid;
    file->eval_fid = event->u.new_fid.eval_fid;
    file->eval_line = event->u.new_fid.eval_line;
    file->flags = event->u.new_fid.flags;
    file->size = event->u.new_fid.size;
    file->mtime_s = event->u.new_fid.mtime_s;
    file->eval_file = file->merged_into = NONE;
    return nytp_summary_intern(summary, event->u.new_fid.name, &file->name);
}

/* Adds the time of a statement to a line, at one of the levels. */
static bool charge_time(struct nytp_summary *summary, uint32_t file, enum nytp_level level,
                        uint32_t line, int64_t ticks, uint32_t count)
{
    struct nytp_summary_time *time = nytp_summary_time_at(summary, file, level, line);
    if (time == NULL)
        return false;
    time->ticks += ticks;
    time->count += count;
    time->seen = true;
    return true;
}

static bool book_time(struct nytp_summary *summary, uint32_t file,
                      const struct nytp_event *event)
{
    const int64_t ticks = event->u.time.ticks;
    const uint32_t count = !summary->discount;
    summary->n_discounts += summary->discount;
    summary->discount = false;
    summary->n_times++;
    summary->total_ticks += ticks;
    if (!charge_time(summary, file, NYTP_LEVEL_LINE, event->u.time.line, ticks, count))
        return false;
    if (event->tag == NYTP_TAG_TIME_LINE)
        return true;
    summary->has_blocks = true;
    return charge_time(summary, file, NYTP_LEVEL_BLOCK, event->u.time.block_line, ticks,
                       count) &&
           charge_time(summary, file, NYTP_LEVEL_SUB, event->u.time.sub_line, ticks, count);
}

/* Adds a statement. Its file must be known. */
static bool add_time(struct nytp_summary *summary, const struct nytp_event *event)
{
    const uint32_t fid = event->u.time.fid;
    const uint32_t file = fid < summary->files.n_fids ? summary->files.by_fid[fid] : NONE;
    if (file == NONE)
        return need_file(summary, event, fid) != NONE;
    return book_time(summary, file, event);
}

/* Adds one statement of a run as the events that it stands for. */
static bool add_statement_event(struct nytp_summary *summary,
                                const struct nytp_statement *statement, uint64_t offset)
{
    const struct nytp_event event = {
        .tag = NYTP_TAG_TIME_LINE,
        .offset = offset,
        .u.time = {.ticks = statement->ticks, .fid = statement->fid, .line = statement->line}};
    summary->discount = summary->discount || statement->what == NYTP_STATEMENT_DISCOUNTED;
    return summary->sink.event(&summary->sink, &event);
}

/* Adds statements up to the first that is invalid or on a new line. Returns how many. */
static size_t add_known(struct nytp_summary *summary, const struct nytp_statement *run,
                        size_t n)
{
    const uint32_t fid = run->fid;
    const uint32_t file = fid < summary->files.n_fids ? summary->files.by_fid[fid] : NONE;
    if (file == NONE || summary->discount)
        return 0;
    const struct nytp_summary_lines lines = summary->files.at[file].times[NYTP_LEVEL_LINE];
    uint64_t discounts = 0;
    int64_t ticks = 0;
    const struct nytp_statement *s = run, *const end = run + n;
    for (; s < end && s->line < lines.n; s++) {
        struct nytp_summary_time *const time = &lines.at[s->line];
        time->ticks += s->ticks;
        time->count += s->what == NYTP_STATEMENT_COUNTS;
        time->seen = true;
        discounts += s->what == NYTP_STATEMENT_DISCOUNTED;
        ticks += s->ticks;
    }
    const size_t added = (size_t)(s - run);
    summary->n_discounts += discounts;
    summary->n_times += added;
    summary->total_ticks += ticks;
    return added;
}

/* Adds consecutive TIME_LINE records. An invalid record, or one of a new line, is added as a
 * single event. */
static bool add_statements(struct nytp_sink *sink, const struct nytp_run *run, uint64_t offset)
{
    struct nytp_summary *summary = (struct nytp_summary *)sink;
    for (size_t i = 0; i < run->n;) {
        i += add_known(summary, &run->at[i], run->n - i);
        if (i < run->n && !add_statement_event(summary, &run->at[i++], offset))
            return false;
    }
    return true;
}

/* Returns the index of the sub of this name, added if absent, or NONE if memory is out. */
static uint32_t sub_named(struct nytp_summary *summary, struct nytp_str text)
{
    struct nytp_summary_name name;
    if (!nytp_summary_intern(summary, text, &name))
        return NONE;
    const struct nytp_key key = {.a = name.id, .b = name.utf8};
    const uint32_t known = nytp_table_get(&summary->subs.by_name, key);
    if (known != NYTP_TABLE_NONE)
        return known;
    if (!NYTP_GROW(&summary->subs) ||
        !nytp_table_put(&summary->subs.by_name, key, summary->subs.n)) {
        nytp_out_of_memory(&summary->error);
        return NONE;
    }
    summary->subs.at[summary->subs.n] = (struct nytp_summary_sub){
        .name = name,
        .first_call = NONE,
        .last_call = NONE,
        .merged_into = NONE,
        .first_merged = NONE,
        .last_merged = NONE,
        .next_merged = NONE,
    };
    return summary->subs.n++;
}

/* A sub may be defined in several files, mostly evals. The lowest file id stays. */
static bool add_sub_info(struct nytp_summary *summary, const struct nytp_event *event)
{
    const uint32_t fid = event->u.sub_info.fid;
    if (fid != 0 && need_file(summary, event, fid) == NONE)
        return false;
    const uint32_t at = sub_named(summary, event->u.sub_info.name);
    if (at == NONE)
        return false;
    struct nytp_summary_sub *sub = &summary->subs.at[at];
    if (sub->fid != 0 && sub->fid <= fid)
        return true;
    sub->fid = fid;
    sub->first_line = event->u.sub_info.first_line;
    sub->last_line = event->u.sub_info.last_line;
    sub->has_range = true;
    return true;
}

static bool add_sub_callers(struct nytp_summary *summary, const struct nytp_event *event)
{
    const uint32_t fid = event->u.sub_callers.fid;
    if (fid != 0 && need_file(summary, event, fid) == NONE)
        return false;
    const uint32_t sub = sub_named(summary, event->u.sub_callers.callee);
    if (sub == NONE)
        return false;
    if (fid == 0 &&
        event->u.sub_callers.count == 0) { /* such a record only marks the kind of sub */
        summary->subs.at[sub].is_foreign = true;
        return true;
    }
    const uint32_t at = nytp_summary_call_at(summary, sub, fid, event->u.sub_callers.line);
    struct nytp_summary_name caller;
    if (at == NONE || !nytp_summary_intern(summary, event->u.sub_callers.caller, &caller))
        return false;
    struct nytp_summary_call *call = &summary->calls.at[at];
    call->count += event->u.sub_callers.count;
    call->incl_s += event->u.sub_callers.incl_s;
    call->excl_s += event->u.sub_callers.excl_s;
    call->reci_s += event->u.sub_callers.reci_s;
    if (event->u.sub_callers.rec_depth > call->rec_depth)
        call->rec_depth = event->u.sub_callers.rec_depth;
    summary->n_sub_calls += event->u.sub_callers.count;
    return caller.id == 0 || nytp_summary_add_caller(summary, at, caller);
}

static bool add_source_line(struct nytp_summary *summary, const struct nytp_event *event)
{
    const uint32_t at = nytp_summary_file_of(summary, event->u.src_line.fid);
    if (at == NONE) /* stock readers accept source of an undefined file */
        return true;
    struct nytp_summary_file *file = &summary->files.at[at];
    const uint32_t line = event->u.src_line.line;
    const struct nytp_str text = event->u.src_line.text;
    if (!nytp_summary_reserve_line(summary, &file->source, &file->n_source, line,
                                   sizeof *file->source))
        return false;
    char *copy = nytp_arena_alloc(summary->arena, text.len == 0 ? 1 : text.len);
    if (copy == NULL)
        return nytp_out_of_memory(&summary->error);
    memcpy(copy, text.ptr, text.len);
    file->source[line] = (struct nytp_summary_text){
        .ptr = copy, .len = text.len, .utf8 = nytp_summary_keep_utf8(text)};
    return true;
}

/* A recording of counts only says so; no other comment is needed. */
static bool add_comment(struct nytp_summary *summary, const struct nytp_event *event)
{
    struct nytp_event attribute;
    if (!nytp_attribute_record_read(event, &attribute) ||
        !nytp_str_is(attribute.u.setting.key, "counts"))
        return true;
    summary->has_no_times = true;
    return set_pair(summary, &summary->attributes, attribute.u.setting.key,
                    attribute.u.setting.value);
}

static bool add_event(struct nytp_summary *summary, const struct nytp_event *event)
{
    switch (event->tag) {
    case NYTP_TAG_TIME_LINE:
    case NYTP_TAG_TIME_BLOCK:
        return add_time(summary, event);
    case NYTP_TAG_DISCOUNT:
        summary->discount = true;
        return true;
    case NYTP_TAG_SRC_LINE:
        return add_source_line(summary, event);
    case NYTP_TAG_SUB_INFO:
        return add_sub_info(summary, event);
    case NYTP_TAG_SUB_CALLERS:
        return add_sub_callers(summary, event);
    case NYTP_TAG_NEW_FID:
        return add_file(summary, event);
    case NYTP_TAG_ATTRIBUTE:
        return add_attribute(summary, event);
    case NYTP_TAG_OPTION:
        return set_pair(summary, &summary->options, event->u.setting.key,
                        event->u.setting.value);
    case NYTP_TAG_PID_START:
        return add_pid_start(summary, event);
    case NYTP_TAG_PID_END:
        return add_pid_end(summary, event);
    case NYTP_TAG_START_DEFLATE:
        summary->inflated = true;
        return true;
    case NYTP_TAG_COMMENT:
        return add_comment(summary, event);
    default: /* calls one by one: the records of sums suffice */
        return true;
    }
}

static bool add_event_to_summary(struct nytp_sink *sink, const struct nytp_event *event)
{
    struct nytp_summary *summary = (struct nytp_summary *)sink;
    if (add_event(summary, event))
        return true;
    if (!summary->error.has_offset) {
        summary->error.has_offset = true;
        summary->error.offset = event->offset;
        summary->error.inflated = summary->inflated;
    }
    return false;
}

struct nytp_summary *nytp_summary_new(void)
{
    struct nytp_summary *summary = calloc(1, sizeof *summary);
    if (summary == NULL)
        return NULL;
    summary->strings = nytp_strings_new();
    summary->arena = nytp_arena_new();
    if (summary->strings == NULL || summary->arena == NULL) {
        nytp_summary_free(summary);
        return NULL;
    }
    summary->sink = (struct nytp_sink){add_event_to_summary, add_statements, summary->run};
    return summary;
}

static int by_fid(const void *a, const void *b)
{
    const struct nytp_summary_file *x = a, *y = b;
    return x->fid < y->fid ? -1 : x->fid > y->fid;
}

/* In damaged input a file may be its own ancestor. Cuts the link that closes the ring. */
static bool cut_eval_rings(struct nytp_summary *summary)
{
    uint32_t *walk = calloc(summary->files.n + 1, sizeof *walk);
    if (walk == NULL)
        return nytp_out_of_memory(&summary->error);
    for (uint32_t f = 0; f < summary->files.n; f++) {
        uint32_t at = f;
        for (; walk[at] == 0 && summary->files.at[at].eval_file != NONE;
             at = summary->files.at[at].eval_file)
            walk[at] = f + 1;
        if (walk[at] == f + 1) {
            summary->files.at[at].eval_file = NONE;
            summary->files.at[at].eval_fid = summary->files.at[at].eval_line = 0;
        }
        walk[at] = f + 1;
    }
    free(walk);
    return true;
}

/* Turns the file id of the file that ran each eval into an index. */
static void resolve_eval_parents(struct nytp_summary *summary)
{
    for (uint32_t f = 0; f < summary->files.n; f++) {
        struct nytp_summary_file *file = &summary->files.at[f];
        file->eval_file = file->eval_fid == 0 || file->eval_fid == file->fid
                              ? NONE
                              : nytp_summary_file_of(summary, file->eval_fid);
        if (file->eval_file == NONE) /* the file that ran it is not in the recording */
            file->eval_fid = file->eval_line = 0;
    }
}

bool nytp_summary_finish(struct nytp_summary *summary)
{
    if (summary->files.n > 0)
        qsort(summary->files.at, summary->files.n, sizeof *summary->files.at, by_fid);
    for (uint32_t f = 0; f < summary->files.n; f++)
        summary->files.by_fid[summary->files.at[f].fid] = f;
    resolve_eval_parents(summary);
    if (!cut_eval_rings(summary))
        return false;
    for (uint32_t f = 0; f < summary->files.n; f++)
        if (summary->files.at[f].eval_file != NONE)
            summary->files.at[summary->files.at[f].eval_file].has_evals = true;
    nytp_summary_sum_subs(summary);
    return true;
}
