/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Sums up the events of one input, in one pass. Memory grows with what is distinct: files,
 * subs, lines, arcs, contexts.
 *
 * Two ways for a statement: where calls have entry events it goes to the frame in which it
 * began (callstack.h); elsewhere only its file and line are known, and assign.c finds the
 * sub by line ranges.
 */
#include "formats/build/gather/builder_parts.h"

#include "formats/build/assign/assignment.h"
#include "formats/model/profile.h"

#include "formats/stream/comments/bytes_records.h"
#include "formats/stream/comments/svs_records.h"

#include "formats/base/bisect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_TICKS_PER_SEC 1000000 /* of formats that do not say */
#define MAX_TICKS             9e15    /* 28 years of 100 ns; exact in a double */

static void free_builder(struct nytp_builder *b)
{
    nytp_profile_free(b->p);
    nytp_callstack_free(&b->stack);
    free(b->processes.at);
    free(b->files.at);
    free(b->recent);
    free(b->ranges.at);
    free(b->arcs.at);
    free(b->subs.names);
    nytp_accept_waits_free(&b->accepts);
    free(b->in_use.nodes.at);
    nytp_sample_waits_free(&b->waits);
    free(b->spans.at);
    free(b->labels.marks.at);
    free(b->labels.in_force.at);
    free(b->profile_labels.at);
    nytp_table_free(&b->profile_labels.by_key);
    nytp_table_free(&b->files.by_fid);
    nytp_table_free(&b->arcs.by_key);
    nytp_table_free(&b->subs.xsubs);
    nytp_table_free(&b->block_by_lines);
    free(b);
}

struct nytp_builder *nytp_builder_new(const struct nytp_build_options *options,
                                      const char *path, struct nytp_error *error)
{
    struct nytp_builder *b = calloc(1, sizeof *b);
    if (b == NULL) {
        nytp_out_of_memory(error);
        return NULL;
    }
    b->options = *options;
    b->spans.cut = NYTP_NO_SPAN_CUT;
    b->p = calloc(1, sizeof *b->p);
    if (b->p != NULL) {
        b->p->ticks_per_sec = DEFAULT_TICKS_PER_SEC;
        b->p->has = NYTP_HAS_TIMES;
        b->p->strings = b->strings = nytp_strings_new();
        b->p->arena = nytp_arena_new();
    }
    if (b->strings == NULL || b->p->arena == NULL ||
        !nytp_callstack_init(&b->stack, options->max_nodes) || !NYTP_GROW(&b->files)) {
        nytp_out_of_memory(error);
        free_builder(b);
        return NULL;
    }
    b->files.at[b->files.n++] = (struct nytp_built_file){0};
    b->input.path = nytp_strings_intern_mixed(b->strings, path, strlen(path));
    b->subs.runtime = nytp_strings_intern(b->strings, "main::RUNTIME", 13);
    b->subs.null = nytp_strings_intern(b->strings, "main::NULL", 10);
    return b;
}

/* A sub's name as a caller: code of the main program that is compiled or run outside any sub
 * is one root. */
static bool caller_of(struct nytp_builder *b, const struct nytp_str *s, uint32_t *id)
{
    if (!nytp_builder_name(b, s, id))
        return false;
    if (*id == b->subs.null)
        *id = b->subs.runtime;
    return true;
}

/* Returns a double of the stream as ticks, or 0 if it is no number or absurdly large. */
static int64_t to_ticks(struct nytp_builder *b, double ticks)
{
    if (!(fabs(ticks) < MAX_TICKS) || b->seen.ticks > NYTP_MAX_TOTAL_TICKS) {
        b->p->faults.negative_times += (b->p->has & NYTP_HAS_TIMES) != 0;
        return 0;
    }
    int64_t whole = (int64_t)ticks; /* recorders write whole ticks: mostly that is it */
    if ((double)whole != ticks)
        whole = llround(ticks);
    b->seen.ticks += whole < 0 ? -whole : whole;
    return whole;
}

/* Where on the time axis a returning call lies. The statement clock tells where its statements
 * ended; calls within one statement follow one another. */
static bool return_span(struct nytp_builder *b, uint32_t depth, uint32_t sub, int64_t incl)
{
    const struct nytp_frame *f = &b->stack.frames[b->stack.top];
    const struct nytp_built_process *p = nytp_builder_process(b);
    struct nytp_built_span span = {.sub = sub, .depth = depth, .ticks = incl};
    if (b->stack.top > 0 && f->entered) {
        span.file = f->file;
        span.line = f->line;
        span.start_ticks = f->start_ticks;
    } else {
        const bool has_calls = b->stack.top > 0 && f->depth + b->stack.base_depth >= depth;
        const int64_t earliest = b->time_position + (has_calls ? 0 : incl);
        span.start_ticks = (p->clock > earliest ? p->clock : earliest) - incl;
    }
    if (span.start_ticks + incl > b->time_position)
        b->time_position = span.start_ticks + incl;
    return nytp_built_span_keep(b, &span);
}

/* Returns whether a sub that returns runs no statements: builtins are known by name, xsubs once
 * the stream said so. */
static bool is_leaf(struct nytp_builder *b, uint32_t sub)
{
    struct nytp_recent_sub *const recent = &b->subs.recent[sub % NYTP_RECENT_SUBS];
    if (recent->name != sub || sub == 0) {
        recent->name = sub;
        recent->is_leaf =
            nytp_is_opcode_name(nytp_strings_get(b->strings, sub)) ||
            nytp_table_get(&b->subs.xsubs, (struct nytp_key){.a = sub}) != NYTP_TABLE_NONE;
    }
    return recent->is_leaf;
}

/* Returns whether the call that returns now ran statements. With entry events the statement
 * that runs then began in its frame. */
static bool is_perl_return(struct nytp_builder *b, uint32_t sub)
{
    if (nytp_builder_process(b)->has_entries)
        return b->stack.top > 0 && b->stack.owner_frame == b->stack.top;
    return !is_leaf(b, sub);
}

/* A call begins, or returns, as far as its times are known. */
static bool book_call(struct nytp_builder *b, const struct nytp_held_call *call)
{
    const int64_t clock = nytp_builder_process(b)->clock;
    int64_t waited = 0;
    if (call->depth == 0) {
        if (!nytp_callstack_entry(&b->stack, call->file, call->line, clock))
            return nytp_builder_tree_failed(b);
        b->stack.frames[b->stack.top].start_ticks = b->time_position;
        b->waits.leaf.is_entered = true;
        return true;
    }
    const bool is_accept =
        b->accepts.held.n > 0 && call == &b->accepts.held.at[b->accepts.accept];
    if (!nytp_accept_waits_return(&b->accepts, call->depth, is_accept ? call->excl_ticks : 0,
                                  &waited))
        return nytp_builder_out_of_memory(b);
    const int64_t incl_ticks = call->incl_ticks + waited;
    b->left.returned = b->left.returned || is_perl_return(b, call->sub);
    if (b->settings.sampled &&
        !nytp_sample_waits_return(&b->waits, &b->stack, call->sub, incl_ticks))
        return nytp_builder_tree_failed(b);
    if (b->options.max_spans > 0 &&
        !return_span(b, call->depth, call->sub, incl_ticks < 0 ? 0 : incl_ticks))
        return false;
    return nytp_callstack_return(&b->stack, call->depth, call->sub, incl_ticks,
                                 call->excl_ticks, clock) ||
           nytp_builder_tree_failed(b);
}

/* Calls that are held back (accept_waits.h) pass. */
static bool settle_calls(struct nytp_builder *b)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < b->accepts.held.n; i++)
        ok = book_call(b, &b->accepts.held.at[i]);
    b->accepts.held.n = 0;
    return ok;
}

/* The statement that runs ends, and took so long. */
static bool end_statement(struct nytp_builder *b, const struct nytp_statement *s)
{
    uint32_t file;
    if (b->accepts.held.n > 0) {
        if (!nytp_builder_file(b, s->fid, &file))
            return false;
        if (!nytp_accept_waits_note(&b->accepts, file, s->line, s->ticks))
            return nytp_builder_out_of_memory(b);
        if (!settle_calls(b))
            return false;
    }
    b->accepts.leaf_ticks = 0;
    return true;
}

/* Book a call, or hold it back behind an accept of no time, which recordings of our own
 * recorder do not have: they tell what recording cost. */
static bool take_call(struct nytp_builder *b, struct nytp_held_call call)
{
    const bool is_accept = call.is_leaf && call.incl_ticks == 0 && call.excl_ticks == 0 &&
                           !b->settings.sampled &&
                           nytp_is_accept(nytp_strings_get(b->strings, call.sub)) &&
                           !nytp_costs_are_recorded(&nytp_builder_process(b)->model.costs);
    if (b->accepts.held.n >= NYTP_MOST_HELD_CALLS && !settle_calls(b))
        return false;
    if (is_accept || b->accepts.held.n > 0)
        return nytp_accept_waits_hold(&b->accepts, call, is_accept) ||
               nytp_builder_out_of_memory(b);
    b->accepts.leaf_ticks += call.is_leaf ? call.incl_ticks : 0;
    return book_call(b, &call);
}

static bool time_event(struct nytp_builder *b, const struct nytp_event *e)
{
    const struct nytp_statement s = {NYTP_STATEMENT_COUNTS, e->u.time.ticks, e->u.time.fid,
                                     e->u.time.line};
    return end_statement(b, &s) && nytp_builder_book_statement(b, s);
}

/* A statement of which the recording tells the block and the sub. */
static bool block_event(struct nytp_builder *b, const struct nytp_event *e)
{
    struct nytp_profile *const p = b->p;
    uint32_t file;
    if (!nytp_builder_file(b, e->u.time.fid, &file))
        return false;
    const struct nytp_key key = {file, e->u.time.line, e->u.time.block_line,
                                 e->u.time.sub_line};
    uint32_t at = nytp_table_get(&b->block_by_lines, key);
    if (at == NYTP_TABLE_NONE) {
        if (!nytp_grow(&p->blocks, &b->capacities.blocks, p->n_blocks, sizeof *p->blocks) ||
            !nytp_table_put(&b->block_by_lines, key, p->n_blocks))
            return nytp_builder_out_of_memory(b);
        at = p->n_blocks++;
        p->blocks[at] = (struct nytp_block){key.a, key.b, key.c, key.d, 0, 0};
    }
    p->blocks[at].ticks += e->u.time.ticks > 0 ? e->u.time.ticks : 0;
    p->blocks[at].statements += !b->left.discount;
    return true;
}

/* Statements lie where calls are booked, so those that come behind held calls are copied. */
static bool book_behind_calls(struct nytp_builder *b, const struct nytp_run *run)
{
    struct nytp_statement copies[NYTP_MAX_RUN];
    struct nytp_run copy = *run;
    copy.at = memcpy(copies, run->at, run->n * sizeof *copies);
    return end_statement(b, copies) && nytp_builder_book_statements(b, &copy);
}

static bool builder_statements(struct nytp_sink *sink, const struct nytp_run *run,
                               uint64_t offset)
{
    struct nytp_builder *b = (struct nytp_builder *)sink;
    b->input.offset = offset;
    b->p->has |= NYTP_HAS_STATEMENTS;
    const bool ok = b->accepts.held.n > 0
                        ? book_behind_calls(b, run)
                        : end_statement(b, run->at) && nytp_builder_book_statements(b, run);
    sink->room = nytp_callstack_room(&b->stack);
    return ok;
}

static bool entry_event(struct nytp_builder *b, const struct nytp_event *e)
{
    uint32_t file;
    if (!nytp_builder_need_process(b) ||
        !nytp_builder_file(b, e->u.sub_entry.caller_fid, &file))
        return false;
    struct nytp_built_process *p = nytp_builder_process(b);
    if (!p->has_entries && !nytp_builder_begin_entries(b, p))
        return nytp_builder_tree_failed(b);
    b->p->has |= NYTP_HAS_ENTRIES;
    return take_call(b,
                     (struct nytp_held_call){.file = file, .line = e->u.sub_entry.caller_line});
}

/* A name that a return has met before is found by its number. */
static bool name_of_return(struct nytp_builder *b, const struct nytp_event *e, uint32_t *sub)
{
    const uint32_t number = e->u.sub_return.name_number;
    if (number < b->subs.names_capacity && b->subs.names[number] != 0) {
        *sub = b->subs.names[number];
        return true;
    }
    if (!nytp_builder_name(b, &e->u.sub_return.name, sub))
        return false;
    if (number == 0)
        return true;
    if (!nytp_reserve_zeroed(&b->subs.names, &b->subs.names_capacity, (uint64_t)number + 1,
                             sizeof *b->subs.names))
        return nytp_builder_out_of_memory(b);
    b->subs.names[number] = *sub;
    return true;
}

static bool return_event(struct nytp_builder *b, const struct nytp_event *e)
{
    uint32_t sub;
    if (!nytp_builder_need_process(b) || !name_of_return(b, e, &sub))
        return false;
    const uint32_t depth = e->u.sub_return.depth;
    const int64_t incl_ticks = to_ticks(b, e->u.sub_return.incl_ticks);
    const int64_t excl_ticks = to_ticks(b, e->u.sub_return.excl_ticks);
    b->p->faults.negative_times += incl_ticks < 0 || excl_ticks < 0;
    b->p->has |= NYTP_HAS_CALLS | NYTP_HAS_ARCS;
    return take_call(b, (struct nytp_held_call){.depth = depth > 0 ? depth : 1,
                                                .sub = sub,
                                                .incl_ticks = incl_ticks,
                                                .excl_ticks = excl_ticks,
                                                .is_leaf = is_leaf(b, sub)});
}

static bool sub_callers_event(struct nytp_builder *b, const struct nytp_event *e)
{
    uint32_t caller, callee, file;
    if (!caller_of(b, &e->u.sub_callers.caller, &caller) ||
        !nytp_builder_name(b, &e->u.sub_callers.callee, &callee) ||
        !nytp_builder_file(b, e->u.sub_callers.fid, &file))
        return false;
    b->p->has |= NYTP_HAS_ARCS;
    if (e->u.sub_callers.count == 0 && e->u.sub_callers.fid == 0)
        return nytp_builder_xsub(b, callee);

    const struct nytp_key key = {caller, callee, file, e->u.sub_callers.line};
    uint32_t index = nytp_table_get(&b->arcs.by_key, key);
    if (index == NYTP_TABLE_NONE) {
        if (!NYTP_GROW(&b->arcs) || !nytp_table_put(&b->arcs.by_key, key, b->arcs.n))
            return nytp_builder_out_of_memory(b);
        index = b->arcs.n++;
        b->arcs.at[index] = (struct nytp_arc){
            .caller = caller, .callee = callee, .file = file, .line = e->u.sub_callers.line};
    }
    struct nytp_arc *a = &b->arcs.at[index];
    const double scale = (double)b->p->ticks_per_sec;
    a->calls += e->u.sub_callers.count;
    a->incl_ticks += to_ticks(b, e->u.sub_callers.incl_s * scale);
    a->excl_ticks += to_ticks(b, e->u.sub_callers.excl_s * scale);
    a->reci_ticks += to_ticks(b, e->u.sub_callers.reci_s * scale);
    if (a->rec_depth < e->u.sub_callers.rec_depth)
        a->rec_depth = e->u.sub_callers.rec_depth;
    return true;
}

/* SVs belong to a context, as do the statements beside them, also before the first call. SVs
 * that sums cannot hold count 0. */
static bool svs_event(struct nytp_builder *b, const struct nytp_svs_record *record)
{
    struct nytp_built_process *const p = nytp_builder_process(b);
    uint32_t file;
    if (!nytp_builder_file(b, record->fid, &file))
        return false;
    if (b->seen.svs > NYTP_MAX_TOTAL_TICKS)
        return true;
    b->seen.svs += record->n < 0 ? -record->n : record->n;
    b->p->has |= NYTP_HAS_SVS | NYTP_HAS_COUNTED_SVS;
    b->memory.svs += record->n;
    return ((p->has_entries || nytp_builder_begin_entries(b, p)) &&
            nytp_callstack_svs(&b->stack, file, record->line, record->n)) ||
           nytp_builder_tree_failed(b);
}

/* IDs only grow among the samples of a process. One that was never told is of its parent's. */
static bool free_event(struct nytp_builder *b, uint64_t id)
{
    struct nytp_calltree *const tree = &b->stack.tree;
    uint32_t low = b->memory.first_sample;
    NYTP_BISECT(low, tree->samples.n, middle, tree->samples.at[middle].id < id);
    if (low >= tree->samples.n || tree->samples.at[low].id != id ||
        tree->samples.at[low].freed_as != 0)
        return true;
    tree->samples.at[low].freed_as = ++b->memory.n_freed;
    b->memory.in_use -= (int64_t)tree->samples.at[low].space;
    return true;
}

/* A sample of a call, or of what was in use before. */
static bool add_sample(struct nytp_builder *b, const struct nytp_bytes_record *record,
                       uint32_t file, struct nytp_tree_sample sample)
{
    struct nytp_built_process *const p = nytp_builder_process(b);
    if (!record->is_from_before)
        return nytp_callstack_sample(&b->stack, file, record->line, sample) ||
               nytp_builder_tree_failed(b);
    if (sample.is_inherited)
        p->model.inherits_from = record->parent_pid;
    else
        p->model.knows_before = true;
    const uint32_t index = nytp_calltree_new_sample(&b->stack.tree, sample);
    return index == 0 ? nytp_builder_tree_failed(b)
                      : nytp_in_use_before_block(b, record, file, index);
}

static bool alloc_event(struct nytp_builder *b, const struct nytp_bytes_record *record)
{
    struct nytp_built_process *const p = nytp_builder_process(b);
    struct nytp_calltree *const tree = &b->stack.tree;
    uint32_t file;
    if (!nytp_builder_file(b, record->fid, &file))
        return false;
    const bool follows = tree->samples.n <= b->memory.first_sample ||
                         tree->samples.at[tree->samples.n - 1].id < record->id;
    if (!follows || b->seen.bytes > NYTP_MAX_TOTAL_TICKS)
        return true;
    b->seen.bytes += (int64_t)(record->space + record->objects);
    b->p->has |= NYTP_HAS_SVS | NYTP_HAS_BYTES;
    b->memory.in_use += (int64_t)record->space;
    const struct nytp_tree_sample sample = {.id = record->id,
                                            .space = record->space,
                                            .objects = record->objects,
                                            .is_from_before = record->is_from_before,
                                            .is_inherited = record->parent_pid != 0};
    if (!p->has_entries && !nytp_builder_begin_entries(b, p))
        return nytp_builder_tree_failed(b);
    if (!add_sample(b, record, file, sample))
        return false;
    nytp_memory_peak_note(b);
    return true;
}

static bool comment_event(struct nytp_builder *b, const struct nytp_event *e)
{
    struct nytp_svs_record svs;
    struct nytp_bytes_record bytes;
    struct nytp_in_use_call call;
    struct nytp_hang hang;
    uint32_t file;
    if (b->in_process && b->settings.sampled && nytp_hang_read(&e->u.comment.text, &hang))
        return nytp_builder_hang(b, &hang);
    if (b->in_process && nytp_svs_record_read(&e->u.comment.text, &svs))
        return svs_event(b, &svs);
    if (b->in_process && nytp_bytes_record_read(&e->u.comment.text, &bytes))
        return bytes.is_free ? free_event(b, bytes.id) : alloc_event(b, &bytes);
    if (b->in_process && nytp_in_use_call_read(&e->u.comment.text, &call))
        return nytp_builder_file(b, call.fid, &file) && nytp_in_use_before_call(b, &call, file);
    return nytp_builder_comment(b, e);
}

static bool rare_event(struct nytp_builder *b, const struct nytp_event *e)
{
    switch (e->tag) {
    case NYTP_TAG_TIME_BLOCK:
        b->p->has |= NYTP_HAS_STATEMENTS | NYTP_HAS_BLOCKS;
        return (!b->options.blocks || block_event(b, e)) && time_event(b, e);
    case NYTP_TAG_DISCOUNT:
        b->left.discount = true;
        return true;
    case NYTP_TAG_SUB_ENTRY:
        return entry_event(b, e);
    case NYTP_TAG_SUB_RETURN:
        return return_event(b, e);
    case NYTP_TAG_NEW_FID:
        return nytp_builder_new_fid(b, e);
    case NYTP_TAG_SUB_CALLERS:
        return sub_callers_event(b, e);
    case NYTP_TAG_PID_START:
        return settle_calls(b) && nytp_builder_settle_lines(b) &&
               nytp_builder_begin_process(b, e->u.process.pid, e->u.process.ppid,
                                          e->u.process.time_s);
    case NYTP_TAG_PID_END:
        return settle_calls(b) && nytp_builder_settle_lines(b) &&
               nytp_builder_end_pid(b, e->u.process.pid, e->u.process.time_s);
    case NYTP_TAG_START_DEFLATE:
        b->input.inflated = true;
        return true;
    case NYTP_TAG_COMMENT:
        return settle_calls(b) && comment_event(b, e);
    case NYTP_TAG_ATTRIBUTE:
        return nytp_builder_attribute(b, e);
    case NYTP_TAG_OPTION:
        return nytp_builder_option(b, e);
    case NYTP_TAG_SUB_INFO:
        return nytp_builder_sub_info(b, e);
    case NYTP_TAG_SRC_LINE:
        return nytp_builder_source_line(b, e);
    case NYTP_TAG_TIME_LINE: /* see builder_event() */
    case NYTP_TAG_VERSION:
    case NYTP_TAG_COUNT:
        break;
    }
    return true;
}

static bool builder_event(struct nytp_sink *sink, const struct nytp_event *e)
{
    struct nytp_builder *b = (struct nytp_builder *)sink;
    b->input.offset = e->offset;
    b->p->has |= e->tag == NYTP_TAG_TIME_LINE ? NYTP_HAS_STATEMENTS : 0;
    const bool ok = e->tag == NYTP_TAG_TIME_LINE ? time_event(b, e) : rare_event(b, e);
    sink->room = nytp_callstack_room(&b->stack);
    return ok;
}

struct nytp_sink *nytp_builder_sink(struct nytp_builder *builder)
{
    builder->sink.event = builder_event;
    builder->sink.statements = builder_statements;
    builder->sink.room = nytp_callstack_room(&builder->stack);
    return &builder->sink;
}

/* ---- the end ---- */

/* Nothing that a viewer could show: not even a file. */
static bool is_empty(const struct nytp_builder *b)
{
    return b->processes.n == 0 && b->files.n == 1 && b->arcs.n == 0 && b->ranges.n == 0;
}

struct nytp_profile *nytp_builder_finish(struct nytp_builder *b,
                                         const struct nytp_error *read_error,
                                         struct nytp_error *error)
{
    struct nytp_profile *profile = NULL;
    const struct nytp_error *why = read_error;
    if (b->error.status != NYTP_OK)
        why = &b->error; /* says more than "stopped" */
    const bool usable = why == NULL || (why->status != NYTP_ERR_MEMORY && !is_empty(b));
    if (!usable) {
        *error = *why;
    } else {
        const struct nytp_error reason = why != NULL ? *why : (struct nytp_error){0};
        b->error = (struct nytp_error){0};
        b->stack.tree.max_nodes = UINT32_MAX; /* closing must not fail for a limit */
        if ((b->processes.n == 0 && !nytp_builder_need_process(b)) || !settle_calls(b) ||
            !nytp_builder_settle_lines(b) || !nytp_builder_end_process(b) ||
            !nytp_built_spans_limit(b))
            *error = b->error;
        else
            profile = nytp_assign(b, error);
        if (profile != NULL && reason.status != NYTP_OK) {
            profile->partial = profile->recordings[0].partial = true;
            profile->recordings[0].error = reason;
        }
    }
    free_builder(b);
    return profile;
}
