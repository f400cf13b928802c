/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A profile summed up by file id and line, and by sub and call site; see tally.h.
 */
#include "tally.h"

#include "model.h"

#include <stdlib.h>
#include <string.h>

#define NONE NYTP_TALLY_NONE

static bool fold_event(struct nytp_sink *sink, const struct nytp_event *event);

static bool no_memory(struct nytp_tally *tally)
{
    return nytp_error_set(&tally->error, NYTP_ERR_MEMORY, "out of memory");
}

struct nytp_tally *nytp_tally_new(void)
{
    struct nytp_tally *tally = calloc(1, sizeof *tally);
    if (tally == NULL)
        return NULL;
    tally->strings = nytp_strings_new();
    tally->arena = nytp_arena_new();
    if (tally->strings == NULL || tally->arena == NULL) {
        nytp_tally_free(tally);
        return NULL;
    }
    tally->sink.event = fold_event;
    return tally;
}

void nytp_tally_free(struct nytp_tally *tally)
{
    if (tally == NULL)
        return;
    for (uint32_t f = 0; f < tally->n_files; f++) {
        for (int level = 0; level < NYTP_LEVELS; level++)
            free(tally->files[f].times[level].at);
        free(tally->files[f].source);
    }
    free(tally->files);
    free(tally->subs);
    free(tally->calls);
    free(tally->callers);
    free(tally->attributes.at);
    free(tally->options.at);
    free(tally->file_of_fid);
    free(tally->pids);
    free(tally->pid_starts);
    nytp_table_free(&tally->sub_of_name);
    nytp_table_free(&tally->call_of_place);
    nytp_table_free(&tally->caller_of_call);
    nytp_strings_free(tally->strings);
    nytp_arena_free(tally->arena);
    free(tally);
}

static bool is_ascii(const char *bytes, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++)
        if ((unsigned char)bytes[i] >= 0x80)
            return false;
    return true;
}

static bool keep_utf8(struct nytp_str text)
{
    return text.utf8 && !is_ascii(text.ptr, text.len) && nytp_utf8_valid(text.ptr, text.len);
}

bool nytp_tally_intern(struct nytp_tally *tally, struct nytp_str text,
                       struct nytp_tally_name *name)
{
    const uint32_t id = nytp_strings_intern(tally->strings, text.ptr, text.len);
    if (id == UINT32_MAX)
        return no_memory(tally);
    *name = (struct nytp_tally_name){.id = id, .utf8 = keep_utf8(text)};
    return true;
}

struct nytp_str nytp_tally_str(const struct nytp_tally *tally, struct nytp_tally_name name)
{
    const struct nytp_name text = nytp_strings_get(tally->strings, name.id);
    return (struct nytp_str){.ptr = text.ptr, .len = text.len, .utf8 = name.utf8};
}

uint32_t nytp_tally_file_of(const struct nytp_tally *tally, uint32_t fid)
{
    return fid < tally->n_fids ? tally->file_of_fid[fid] : NONE;
}

/* The file of a record that cannot do without one; NONE with the error set. */
static uint32_t need_file(struct nytp_tally *tally, const struct nytp_event *event, uint32_t fid)
{
    const uint32_t file = nytp_tally_file_of(tally, fid);
    if (file == NONE)
        nytp_error_at(&tally->error, NYTP_ERR_FORMAT, event->offset, tally->inflated,
                      "%s names file id %u, which is not defined", nytp_tag_name(event->tag),
                      (unsigned)fid);
    return file;
}

static bool set_pair(struct nytp_tally *tally, struct nytp_tally_pairs *pairs,
                     struct nytp_str key, struct nytp_str value)
{
    struct nytp_tally_pair pair;
    if (!nytp_tally_intern(tally, key, &pair.key) ||
        !nytp_tally_intern(tally, value, &pair.value))
        return false;
    for (uint32_t i = 0; i < pairs->n; i++)
        if (pairs->at[i].key.id == pair.key.id) {
            pairs->at[i].value = pair.value;
            return true;
        }
    if (!nytp_grow(&pairs->at, &pairs->capacity, pairs->n, sizeof *pairs->at))
        return no_memory(tally);
    pairs->at[pairs->n++] = pair;
    return true;
}

static bool add_attribute(struct nytp_tally *tally, const struct nytp_event *event)
{
    const struct nytp_str key = event->u.pair.key, value = event->u.pair.value;
    if (key.len == 13 && memcmp(key.ptr, "ticks_per_sec", 13) == 0) {
        char digits[32] = "";
        memcpy(digits, value.ptr, value.len < sizeof digits - 1 ? value.len : sizeof digits - 1);
        tally->ticks_per_sec = strtod(digits, NULL);
    }
    return set_pair(tally, &tally->attributes, key, value);
}

static bool add_pid_start(struct nytp_tally *tally, const struct nytp_event *event)
{
    if (!nytp_grow(&tally->pids, &tally->pids_capacity, tally->n_pids, sizeof *tally->pids) ||
        !nytp_grow(&tally->pid_starts, &tally->pid_starts_capacity, tally->n_pids,
                   sizeof *tally->pid_starts))
        return no_memory(tally);
    tally->pids[tally->n_pids] = event->u.pid_start.pid;
    tally->pid_starts[tally->n_pids++] = event->u.pid_start.time_s;
    tally->start_s = event->u.pid_start.time_s;
    tally->has_processes = true;
    tally->n_open++;
    tally->discount = false; /* one left over by the process before is not for this one */
    return true;
}

static bool add_pid_end(struct nytp_tally *tally, const struct nytp_event *event)
{
    tally->end_s = event->u.pid_end.time_s;
    for (uint32_t i = tally->n_pids; i-- > 0;)
        if (tally->pids[i] == event->u.pid_end.pid) {
            tally->duration_s += event->u.pid_end.time_s - tally->pid_starts[i];
            tally->pids[i] = tally->pids[--tally->n_pids];
            tally->pid_starts[i] = tally->pid_starts[tally->n_pids];
            tally->n_open--;
            break;
        }
    return true;
}

static bool reserve_fid(struct nytp_tally *tally, uint32_t fid)
{
    if (fid < tally->n_fids)
        return true;
    uint32_t n = tally->n_fids == 0 ? 64 : tally->n_fids;
    while (n <= fid)
        n *= 2;
    uint32_t *grown = realloc(tally->file_of_fid, n * sizeof *grown);
    if (grown == NULL)
        return no_memory(tally);
    for (uint32_t i = tally->n_fids; i < n; i++)
        grown[i] = NONE;
    tally->file_of_fid = grown;
    tally->n_fids = n;
    return true;
}

static bool add_file(struct nytp_tally *tally, const struct nytp_event *event)
{
    const uint32_t fid = event->u.new_fid.fid;
    if (fid == 0 || fid > NYTP_TALLY_MAX_FID)
        return nytp_error_at(&tally->error, fid == 0 ? NYTP_ERR_FORMAT : NYTP_ERR_LIMIT,
                             event->offset, tally->inflated,
                             "file id %u is not in 1..%u", (unsigned)fid, NYTP_TALLY_MAX_FID);
    if (!reserve_fid(tally, fid))
        return false;
    uint32_t at = tally->file_of_fid[fid];
    if (at == NONE) {
        if (!nytp_grow(&tally->files, &tally->files_capacity, tally->n_files,
                       sizeof *tally->files))
            return no_memory(tally);
        at = tally->n_files++;
        tally->files[at] = (struct nytp_tally_file){0};
        tally->file_of_fid[fid] = at;
    }
    struct nytp_tally_file *file = &tally->files[at];
    file->fid = fid;
    file->eval_fid = event->u.new_fid.eval_fid;
    file->eval_line = event->u.new_fid.eval_line;
    file->flags = event->u.new_fid.flags;
    file->size = event->u.new_fid.size;
    file->mtime_s = event->u.new_fid.mtime_s;
    file->eval_file = file->merged_into = NONE;
    file->first_merged = file->last_merged = file->next_merged = NONE;
    if (fid > tally->max_fid)
        tally->max_fid = fid;
    return nytp_tally_intern(tally, event->u.new_fid.name, &file->name);
}

/* Grow a dense array by line to hold `line`; new elements are zero. */
static bool reserve_line(struct nytp_tally *tally, void *array_ptr, uint32_t *n, uint32_t line,
                         size_t element_size)
{
    if (line < *n)
        return true;
    if (line > NYTP_TALLY_MAX_LINE)
        return nytp_error_set(&tally->error, NYTP_ERR_LIMIT, "line %u is above the limit %u",
                              (unsigned)line, NYTP_TALLY_MAX_LINE);
    uint32_t grown_n = line < 16 ? 32 : line + line / 2 + 1;
    if (grown_n > NYTP_TALLY_MAX_LINE + 1)
        grown_n = NYTP_TALLY_MAX_LINE + 1;
    tally->dense_lines += grown_n - *n;
    if (tally->dense_lines > NYTP_TALLY_MAX_LINES)
        return nytp_error_set(&tally->error, NYTP_ERR_LIMIT,
                              "lines of all files together are above the limit %u",
                              NYTP_TALLY_MAX_LINES);
    void **array = array_ptr;
    char *grown = realloc(*array, grown_n * element_size);
    if (grown == NULL)
        return no_memory(tally);
    memset(grown + *n * element_size, 0, (grown_n - *n) * element_size);
    *array = grown;
    *n = grown_n;
    return true;
}

struct nytp_tally_time *nytp_tally_time_at(struct nytp_tally *tally, uint32_t file,
                                           enum nytp_level level, uint32_t line)
{
    struct nytp_tally_lines *lines = &tally->files[file].times[level];
    if (line >= lines->n && !reserve_line(tally, &lines->at, &lines->n, line, sizeof *lines->at))
        return NULL;
    return &lines->at[line];
}

static bool charge(struct nytp_tally *tally, uint32_t file, enum nytp_level level, uint32_t line,
                   int64_t ticks, uint32_t count)
{
    struct nytp_tally_time *time = nytp_tally_time_at(tally, file, level, line);
    if (time == NULL)
        return false;
    time->ticks += ticks;
    time->count += count;
    time->seen = true;
    return true;
}

static bool add_time(struct nytp_tally *tally, const struct nytp_event *event)
{
    const uint32_t fid = event->u.time.fid;
    const uint32_t file = fid < tally->n_fids ? tally->file_of_fid[fid] : NONE;
    if (file == NONE)
        return need_file(tally, event, fid) != NONE;
    const int64_t ticks = event->u.time.ticks;
    const uint32_t count = !tally->discount;
    tally->n_discounts += tally->discount;
    tally->discount = false;
    tally->n_times++;
    tally->n_negative += ticks < 0;
    tally->total_ticks += ticks;
    tally->has_times = true;
    if (!charge(tally, file, NYTP_LEVEL_LINE, event->u.time.line, ticks, count))
        return false;
    if (event->tag == NYTP_TAG_TIME_LINE)
        return true;
    tally->has_blocks = true;
    return charge(tally, file, NYTP_LEVEL_BLOCK, event->u.time.block_line, ticks, count) &&
           charge(tally, file, NYTP_LEVEL_SUB, event->u.time.sub_line, ticks, count);
}

/* Index of the sub of this name, added when absent; NONE when memory is out. */
static uint32_t sub_named(struct nytp_tally *tally, struct nytp_str text)
{
    struct nytp_tally_name name;
    if (!nytp_tally_intern(tally, text, &name))
        return NONE;
    const struct nytp_key key = {.a = name.id, .b = name.utf8};
    const uint32_t known = nytp_table_get(&tally->sub_of_name, key);
    if (known != NYTP_TABLE_NONE)
        return known;
    if (!nytp_grow(&tally->subs, &tally->subs_capacity, tally->n_subs, sizeof *tally->subs) ||
        !nytp_table_put(&tally->sub_of_name, key, tally->n_subs)) {
        no_memory(tally);
        return NONE;
    }
    tally->subs[tally->n_subs] = (struct nytp_tally_sub){
        .name = name,
        .first_call = NONE,
        .last_call = NONE,
        .merged_into = NONE,
        .first_merged = NONE,
        .last_merged = NONE,
        .next_merged = NONE,
    };
    return tally->n_subs++;
}

/* The same sub defined in several files (evals mostly): the lowest file id stays. */
static bool add_sub_info(struct nytp_tally *tally, const struct nytp_event *event)
{
    const uint32_t fid = event->u.sub_info.fid;
    if (fid != 0 && need_file(tally, event, fid) == NONE)
        return false;
    const uint32_t at = sub_named(tally, event->u.sub_info.name);
    if (at == NONE)
        return false;
    struct nytp_tally_sub *sub = &tally->subs[at];
    if (sub->fid != 0 && sub->fid <= fid)
        return true;
    sub->fid = fid;
    sub->first_line = event->u.sub_info.first_line;
    sub->last_line = event->u.sub_info.last_line;
    sub->has_range = true;
    return true;
}

uint32_t nytp_tally_call_at(struct nytp_tally *tally, uint32_t sub, uint32_t fid, uint32_t line)
{
    const struct nytp_key key = {.a = sub, .b = fid, .c = line};
    const uint32_t known = nytp_table_get(&tally->call_of_place, key);
    if (known != NYTP_TABLE_NONE)
        return known;
    if (!nytp_grow(&tally->calls, &tally->calls_capacity, tally->n_calls,
                   sizeof *tally->calls) ||
        !nytp_table_put(&tally->call_of_place, key, tally->n_calls)) {
        no_memory(tally);
        return NONE;
    }
    const uint32_t at = tally->n_calls++;
    tally->calls[at] = (struct nytp_tally_call){
        .sub = sub, .fid = fid, .line = line, .first_caller = NONE, .next = NONE};
    struct nytp_tally_sub *callee = &tally->subs[sub];
    if (callee->last_call == NONE)
        callee->first_call = at;
    else
        tally->calls[callee->last_call].next = at;
    callee->last_call = at;
    return at;
}

bool nytp_tally_add_caller(struct nytp_tally *tally, uint32_t call, struct nytp_tally_name name)
{
    const struct nytp_key key = {.a = call, .b = name.id, .c = name.utf8};
    if (nytp_table_get(&tally->caller_of_call, key) != NYTP_TABLE_NONE)
        return true;
    if (!nytp_grow(&tally->callers, &tally->callers_capacity, tally->n_callers,
                   sizeof *tally->callers) ||
        !nytp_table_put(&tally->caller_of_call, key, tally->n_callers))
        return no_memory(tally);
    const uint32_t at = tally->n_callers++;
    tally->callers[at] =
        (struct nytp_tally_caller){.name = name, .next = tally->calls[call].first_caller};
    tally->calls[call].first_caller = at;
    return true;
}

static bool add_sub_callers(struct nytp_tally *tally, const struct nytp_event *event)
{
    const uint32_t fid = event->u.sub_callers.fid;
    if (fid != 0 && need_file(tally, event, fid) == NONE)
        return false;
    const uint32_t sub = sub_named(tally, event->u.sub_callers.callee);
    if (sub == NONE)
        return false;
    if (fid == 0 && event->u.sub_callers.count == 0) { /* tells only what kind of sub it is */
        tally->subs[sub].is_foreign = true;
        return true;
    }
    const uint32_t at = nytp_tally_call_at(tally, sub, fid, event->u.sub_callers.line);
    struct nytp_tally_name caller;
    if (at == NONE || !nytp_tally_intern(tally, event->u.sub_callers.caller, &caller))
        return false;
    struct nytp_tally_call *call = &tally->calls[at];
    call->count += event->u.sub_callers.count;
    call->incl_s += event->u.sub_callers.incl_s;
    call->excl_s += event->u.sub_callers.excl_s;
    call->reci_s += event->u.sub_callers.reci_s;
    if (event->u.sub_callers.rec_depth > call->rec_depth)
        call->rec_depth = event->u.sub_callers.rec_depth;
    tally->n_sub_calls += event->u.sub_callers.count;
    return caller.id == 0 || nytp_tally_add_caller(tally, at, caller);
}

static bool add_source_line(struct nytp_tally *tally, const struct nytp_event *event)
{
    const uint32_t at = nytp_tally_file_of(tally, event->u.src_line.fid);
    if (at == NONE) /* stock readers accept source of a file that nothing else names */
        return true;
    struct nytp_tally_file *file = &tally->files[at];
    const uint32_t line = event->u.src_line.line;
    const struct nytp_str text = event->u.src_line.text;
    if (!reserve_line(tally, &file->source, &file->n_source, line, sizeof *file->source))
        return false;
    char *copy = nytp_arena_alloc(tally->arena, text.len == 0 ? 1 : text.len);
    if (copy == NULL)
        return no_memory(tally);
    memcpy(copy, text.ptr, text.len);
    file->source[line] =
        (struct nytp_tally_text){.ptr = copy, .len = text.len, .utf8 = keep_utf8(text)};
    return true;
}

static bool fold(struct nytp_tally *tally, const struct nytp_event *event)
{
    switch (event->tag) {
    case NYTP_TAG_TIME_LINE:
    case NYTP_TAG_TIME_BLOCK:
        return add_time(tally, event);
    case NYTP_TAG_DISCOUNT:
        tally->discount = true;
        return true;
    case NYTP_TAG_SRC_LINE:
        return add_source_line(tally, event);
    case NYTP_TAG_SUB_INFO:
        return add_sub_info(tally, event);
    case NYTP_TAG_SUB_CALLERS:
        return add_sub_callers(tally, event);
    case NYTP_TAG_NEW_FID:
        return add_file(tally, event);
    case NYTP_TAG_ATTRIBUTE:
        return add_attribute(tally, event);
    case NYTP_TAG_OPTION:
        return set_pair(tally, &tally->options, event->u.pair.key, event->u.pair.value);
    case NYTP_TAG_PID_START:
        return add_pid_start(tally, event);
    case NYTP_TAG_PID_END:
        return add_pid_end(tally, event);
    case NYTP_TAG_START_DEFLATE:
        tally->inflated = true;
        return true;
    default: /* single calls, comments: the summary records hold what is needed */
        return true;
    }
}

static bool fold_event(struct nytp_sink *sink, const struct nytp_event *event)
{
    struct nytp_tally *tally = (struct nytp_tally *)sink;
    if (fold(tally, event))
        return true;
    if (!tally->error.has_offset) {
        tally->error.has_offset = true;
        tally->error.offset = event->offset;
        tally->error.inflated = tally->inflated;
    }
    return false;
}

static int by_fid(const void *a, const void *b)
{
    const struct nytp_tally_file *x = a, *y = b;
    return x->fid < y->fid ? -1 : x->fid > y->fid;
}

/* No file may be its own ancestor, whatever the input claims: cut the link that closes a ring. */
static bool cut_eval_rings(struct nytp_tally *tally)
{
    uint32_t *walk = calloc(tally->n_files + 1, sizeof *walk);
    if (walk == NULL)
        return no_memory(tally);
    for (uint32_t f = 0; f < tally->n_files; f++) {
        uint32_t at = f;
        for (; walk[at] == 0 && tally->files[at].eval_file != NONE;
             at = tally->files[at].eval_file)
            walk[at] = f + 1;
        if (walk[at] == f + 1) {
            tally->files[at].eval_file = NONE;
            tally->files[at].eval_fid = tally->files[at].eval_line = 0;
        }
        walk[at] = f + 1;
    }
    free(walk);
    return true;
}

static void resolve_eval_parents(struct nytp_tally *tally)
{
    for (uint32_t f = 0; f < tally->n_files; f++) {
        struct nytp_tally_file *file = &tally->files[f];
        file->eval_file = file->eval_fid == 0 || file->eval_fid == file->fid
                              ? NONE
                              : nytp_tally_file_of(tally, file->eval_fid);
        if (file->eval_file == NONE) /* the file that ran it is not in the recording */
            file->eval_fid = file->eval_line = 0;
    }
}

void nytp_tally_sum_subs(struct nytp_tally *tally)
{
    for (uint32_t s = 0; s < tally->n_subs; s++) {
        struct nytp_tally_sub *sub = &tally->subs[s];
        sub->count = 0;
        sub->rec_depth = 0;
        sub->incl_s = sub->excl_s = sub->reci_s = 0;
        for (uint32_t c = sub->first_call; c != NONE; c = tally->calls[c].next) {
            const struct nytp_tally_call *call = &tally->calls[c];
            sub->count += call->count;
            sub->incl_s += call->incl_s;
            sub->excl_s += call->excl_s;
            sub->reci_s += call->reci_s;
            if (call->rec_depth > sub->rec_depth)
                sub->rec_depth = call->rec_depth;
        }
    }
}

bool nytp_tally_finish(struct nytp_tally *tally)
{
    if (tally->n_files > 0)
        qsort(tally->files, tally->n_files, sizeof *tally->files, by_fid);
    for (uint32_t f = 0; f < tally->n_files; f++)
        tally->file_of_fid[tally->files[f].fid] = f;
    resolve_eval_parents(tally);
    if (!cut_eval_rings(tally))
        return false;
    for (uint32_t f = 0; f < tally->n_files; f++)
        if (tally->files[f].eval_file != NONE)
            tally->files[tally->files[f].eval_file].has_evals = true;
    nytp_tally_sum_subs(tally);
    return true;
}
