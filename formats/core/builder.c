/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Sums up the events of one input, in one pass. Memory grows with what is distinct: files,
 * subs, lines, arcs, contexts.
 *
 * Two ways for a statement: where calls have entry events it goes to the frame in which it
 * began (calltree.h); elsewhere only its file and line are known, and attribution.c finds the
 * sub by line ranges.
 */
#include "builder.h"
#include "correction.h"
#include "open_calls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_TICKS_PER_SEC 1000000 /* of formats that do not say */
#define MAX_TICKS             9e15    /* 28 years of 100 ns; exact in a double */

static bool out_of_memory(struct nytp_builder *b)
{
    return nytp_error_set(&b->error, NYTP_ERR_MEMORY, "out of memory");
}

static bool tree_failed(struct nytp_builder *b)
{
    if (b->tree.live_nodes >= b->tree.max_nodes)
        return nytp_error_set(&b->error, NYTP_ERR_LIMIT,
                              "more than %u distinct calling contexts", b->tree.max_nodes);
    return nytp_error_set(&b->error, NYTP_ERR_LIMIT,
                          "calls nested deeper than %u, or no memory", NYTP_MAX_DEPTH);
}

struct nytp_builder *nytp_builder_new(const struct nytp_build_options *options,
                                      const char *path, struct nytp_error *error)
{
    struct nytp_builder *b = calloc(1, sizeof *b);
    if (b == NULL) {
        nytp_error_set(error, NYTP_ERR_MEMORY, "out of memory");
        return NULL;
    }
    b->options = *options;
    b->ticks_per_sec = DEFAULT_TICKS_PER_SEC;
    b->n_files = 1;
    b->strings = nytp_strings_new();
    b->arena = nytp_arena_new();
    if (b->strings == NULL || b->arena == NULL ||
        !nytp_calltree_init(&b->tree, options->max_nodes) ||
        !nytp_grow(&b->files, &b->files_capacity, 0, sizeof *b->files)) {
        nytp_error_set(error, NYTP_ERR_MEMORY, "out of memory");
        nytp_builder_free(b);
        return NULL;
    }
    b->files[0] = (struct nytp_built_file){0};
    b->path = nytp_strings_intern_mixed(b->strings, path, strlen(path));
    b->name_runtime = nytp_strings_intern(b->strings, "main::RUNTIME", 13);
    b->name_null = nytp_strings_intern(b->strings, "main::NULL", 10);
    return b;
}

void nytp_builder_free(struct nytp_builder *b)
{
    if (b == NULL)
        return;
    nytp_strings_free(b->strings);
    nytp_arena_free(b->arena);
    nytp_calltree_free(&b->tree);
    free(b->attributes);
    free(b->options_seen);
    free(b->processes);
    free(b->files);
    free(b->pages);
    free(b->ranges);
    free(b->arcs);
    free(b->sources);
    free(b->spans);
    nytp_table_free(&b->file_by_fid);
    nytp_table_free(&b->page_by_place);
    nytp_table_free(&b->arc_by_key);
    nytp_table_free(&b->xsubs);
    free(b);
}

static bool name_of(struct nytp_builder *b, const struct nytp_str *s, uint32_t *id)
{
    *id = nytp_strings_intern_mixed(b->strings, s->ptr, s->len);
    return *id != UINT32_MAX || out_of_memory(b);
}

/* A sub's name as a caller: code of the main program that is compiled or run outside any sub
 * is one root. */
static bool caller_of(struct nytp_builder *b, const struct nytp_str *s, uint32_t *id)
{
    if (!name_of(b, s, id))
        return false;
    if (*id == b->name_null)
        *id = b->name_runtime;
    return true;
}

/* Doubles of the stream as ticks; what is no number, or absurd, is 0. */
static int64_t to_ticks(struct nytp_builder *b, double ticks)
{
    if (!(fabs(ticks) < MAX_TICKS) || b->ticks_seen > NYTP_MAX_TOTAL_TICKS) {
        b->negative_times++;
        return 0;
    }
    const int64_t whole = llround(ticks);
    b->ticks_seen += whole < 0 ? -whole : whole;
    return whole;
}

static bool add_file(struct nytp_builder *b, uint32_t fid, uint32_t *index)
{
    if (!nytp_grow(&b->files, &b->files_capacity, b->n_files, sizeof *b->files))
        return out_of_memory(b);
    *index = b->n_files++;
    b->files[*index] = (struct nytp_built_file){.fid = fid};
    if (!nytp_table_put(&b->file_by_fid, (struct nytp_key){.a = fid}, *index))
        return out_of_memory(b);
    if (fid < NYTP_SMALL_FIDS)
        b->small_fids[fid] = *index;
    return true;
}

static bool find_file(struct nytp_builder *b, uint32_t fid, uint32_t *index)
{
    *index = 0;
    if (fid == 0)
        return true;
    *index = nytp_table_get(&b->file_by_fid, (struct nytp_key){.a = fid});
    return *index != NYTP_TABLE_NONE || add_file(b, fid, index);
}

/* The file of a fid; one that was never defined gets an entry without name. */
static inline bool file_of(struct nytp_builder *b, uint32_t fid, uint32_t *index)
{
    if (fid < NYTP_SMALL_FIDS && b->small_fids[fid] != 0) {
        *index = b->small_fids[fid];
        return true;
    }
    return find_file(b, fid, index);
}

static bool new_fid(struct nytp_builder *b, const struct nytp_event *e)
{
    uint32_t name, index;
    if (!name_of(b, &e->u.new_fid.name, &name) || !file_of(b, e->u.new_fid.fid, &index))
        return false;
    if (index != 0 && b->files[index].name != 0 && b->files[index].name != name &&
        !add_file(b, e->u.new_fid.fid, &index)) /* redefined: another file from here on */
        return false;
    struct nytp_built_file *f = &b->files[index];
    f->name = name;
    f->fid = e->u.new_fid.fid;
    f->eval_fid = e->u.new_fid.eval_fid;
    f->eval_line = e->u.new_fid.eval_line;
    f->flags = e->u.new_fid.flags;
    f->size = e->u.new_fid.size;
    f->mtime_s = e->u.new_fid.mtime_s;
    return true;
}

static struct nytp_built_process *current(const struct nytp_builder *b)
{
    return &b->processes[b->n_processes - 1];
}

static bool begin_process(struct nytp_builder *b, uint32_t pid, uint32_t ppid, double start_s)
{
    if (!nytp_builder_end_process(b))
        return false;
    if (!nytp_grow(&b->processes, &b->processes_capacity, b->n_processes, sizeof *b->processes))
        return out_of_memory(b);
    const uint32_t root = nytp_calltree_begin(&b->tree, b->name_runtime);
    if (root == NYTP_NO_NODE)
        return tree_failed(b);
    b->processes[b->n_processes++] =
        (struct nytp_built_process){.pid = pid,
                                    .ppid = ppid,
                                    .root = root,
                                    .start_s = start_s,
                                    .has_entries = b->option_calls_2};
    b->in_process = true;
    b->discount = b->returned = b->discount_calls = false;
    b->left_file = b->left_line = 0;
    b->time_position = 0;
    memset(b->page_cache, 0, sizeof b->page_cache);
    return true;
}

static bool keep_span(struct nytp_builder *b, const struct nytp_built_span *span);

bool nytp_builder_end_process(struct nytp_builder *b)
{
    if (!b->in_process)
        return true;
    b->in_process = false;
    const int64_t end =
        current(b)->clock > b->time_position ? current(b)->clock : b->time_position;
    for (uint32_t i = b->tree.top; i > 0 && b->options.max_spans > 0; i--) {
        const struct nytp_frame *f = &b->tree.frames[i];
        if (f->entered &&
            !keep_span(b, &(struct nytp_built_span){.process = b->n_processes - 1,
                                                    .sub = NYTP_NO_SUB,
                                                    .file = f->file,
                                                    .line = f->line,
                                                    .depth = f->depth + b->tree.base_depth,
                                                    .start_ticks = f->start_ticks,
                                                    .ticks = end - f->start_ticks}))
            return false;
    }
    return nytp_calltree_end(&b->tree) || tree_failed(b);
}

/* Events that come before any PID_START belong to a process of which nothing is known. */
static bool need_process(struct nytp_builder *b)
{
    return b->in_process || begin_process(b, 0, 0, 0);
}

static bool end_process(struct nytp_builder *b, uint32_t pid, double end_s)
{
    for (uint32_t i = b->n_processes; i-- > 0;) {
        struct nytp_built_process *p = &b->processes[i];
        if (p->pid != pid || p->complete)
            continue;
        p->complete = true;
        p->end_s = end_s;
        return i != b->n_processes - 1 || nytp_builder_end_process(b);
    }
    return true; /* the end of a process that never began: nothing to close */
}

/* The page that holds a line of a file in the current process, as index + 1; 0 when memory is
 * out. */
static uint32_t find_page(struct nytp_builder *b, uint32_t file, uint32_t number)
{
    const uint32_t process = b->n_processes - 1;
    const struct nytp_key key = {process, file, number, 0};
    uint32_t index = nytp_table_get(&b->page_by_place, key);
    if (index == NYTP_TABLE_NONE) {
        if (!nytp_grow(&b->pages, &b->pages_capacity, b->n_pages, sizeof *b->pages) ||
            !nytp_table_put(&b->page_by_place, key, b->n_pages))
            return 0;
        index = b->n_pages++;
        memset(&b->pages[index], 0, sizeof *b->pages);
        b->pages[index].process = process;
        b->pages[index].file = file;
        b->pages[index].number = number;
    }
    return index + 1;
}

static bool add_page_line(struct nytp_builder *b, uint32_t file, uint32_t line, int64_t ticks,
                          uint32_t statements, uint32_t left)
{
    const uint32_t number = line / NYTP_LINES_PER_PAGE, at = line % NYTP_LINES_PER_PAGE;
    const uint32_t slot = (file * 31 + number) % NYTP_PAGE_CACHE;
    uint32_t page = b->page_cache[slot].page;
    if (b->page_cache[slot].number != number || b->page_cache[slot].file != file || page == 0) {
        page = find_page(b, file, number);
        if (page == 0)
            return out_of_memory(b);
        b->page_cache[slot].file = file;
        b->page_cache[slot].number = number;
        b->page_cache[slot].page = page;
    }
    struct nytp_line_page *p = &b->pages[page - 1];
    struct nytp_page_line *l = &p->lines[at];
    l->ticks += ticks;
    l->statements += statements;
    l->left += left;
    p->seen |= UINT64_C(1) << at;
    return true;
}

/* Calls that were entered by the statement that is being left begin now, not before it. */
static void start_entered_frames(struct nytp_builder *b)
{
    struct nytp_calltree *t = &b->tree;
    for (uint32_t i = t->top;
         i > 0 && i != t->owner_frame && nytp_calltree_frame_is_fresh(t, i); i--) {
        if (!t->frames[i].entered || t->frames[i].start_ticks >= b->time_position)
            break;
        t->frames[i].start_ticks = b->time_position;
    }
}

/* What a statement took; 0 from where the statements of the input have taken more than sums
 * hold. */
static inline int64_t statement_ticks(struct nytp_builder *b, int64_t ticks)
{
    const int64_t size = ticks < 0 ? -(ticks + 1) : ticks;
    if (size > NYTP_MAX_TOTAL_TICKS || b->statement_ticks_seen > NYTP_MAX_TOTAL_TICKS) {
        b->negative_times++;
        return 0;
    }
    b->statement_ticks_seen += size;
    return ticks;
}

static bool time_event(struct nytp_builder *b, const struct nytp_event *e)
{
    uint32_t file;
    if (!need_process(b) || !file_of(b, e->u.time.fid, &file))
        return false;
    struct nytp_built_process *p = current(b);
    const int64_t ticks = statement_ticks(b, e->u.time.ticks);
    const uint32_t line = e->u.time.line;
    const uint32_t statements = b->discount ? 0 : 1;
    const uint32_t left = b->discount && !b->discount_calls ? 1 : 0;
    b->discount_calls = b->returned;
    b->discount = b->returned = false;
    p->clock += ticks;
    p->statements += statements;
    if (ticks < 0) {
        b->negative_times++;
        b->wrapped_statements += ticks < -b->ticks_per_sec;
    }
    if (!b->files[file].executed) {
        b->files[file].executed = true;
        b->files[file].from_file = b->left_file;
        b->files[file].from_line = b->left_line;
    }
    b->left_file = file;
    b->left_line = line;
    if (b->options.max_spans > 0 && p->clock > b->time_position) {
        b->time_position = p->clock;
        if (p->has_entries)
            start_entered_frames(b);
    }
    if (!p->has_entries)
        return add_page_line(b, file, line, ticks, statements, left);
    return nytp_calltree_statement(&b->tree, file, line, ticks, statements, left) ||
           tree_failed(b);
}

/* The first entry event of a process: what ran before it ran outside any call. */
static bool begin_entries(struct nytp_builder *b, struct nytp_built_process *p)
{
    for (uint32_t i = b->n_pages; i-- > 0 && b->pages[i].process == b->n_processes - 1;) {
        struct nytp_line_page *page = &b->pages[i];
        for (uint32_t at = 0; at < NYTP_LINES_PER_PAGE; at++)
            if ((page->seen >> at & 1) != 0 &&
                !nytp_calltree_add_line(&b->tree, p->root, page->file,
                                        page->number * NYTP_LINES_PER_PAGE + at,
                                        page->lines[at].ticks, page->lines[at].statements,
                                        page->lines[at].left))
                return false;
        page->seen = 0;
    }
    p->has_entries = true;
    nytp_calltree_next_statement(&b->tree);
    return true;
}

static bool entry_event(struct nytp_builder *b, const struct nytp_event *e)
{
    uint32_t file;
    if (!need_process(b) || !file_of(b, e->u.sub_entry.caller_fid, &file))
        return false;
    struct nytp_built_process *p = current(b);
    if (!p->has_entries && !begin_entries(b, p))
        return tree_failed(b);
    b->has |= NYTP_HAS_ENTRIES;
    if (!nytp_calltree_entry(&b->tree, file, e->u.sub_entry.caller_line, p->clock))
        return tree_failed(b);
    b->tree.frames[b->tree.top].start_ticks = b->time_position;
    return true;
}

static bool keep_span(struct nytp_builder *b, const struct nytp_built_span *span)
{
    if (span->ticks < b->span_min_ticks) {
        nytp_built_span_pruned(b, span);
        return true;
    }
    if (b->n_spans / 5 * 4 >= b->options.max_spans && !nytp_built_spans_limit(b))
        return out_of_memory(b);
    if (!nytp_grow(&b->spans, &b->spans_capacity, b->n_spans, sizeof *b->spans))
        return out_of_memory(b);
    b->spans[b->n_spans++] = *span;
    return true;
}

/* Where on the time axis a returning call lies. The statement clock tells where its statements
 * ended; calls within one statement follow one another. */
static bool return_span(struct nytp_builder *b, uint32_t depth, uint32_t sub, int64_t incl)
{
    const struct nytp_frame *f = &b->tree.frames[b->tree.top];
    const struct nytp_built_process *p = current(b);
    struct nytp_built_span span = {
        .process = b->n_processes - 1, .sub = sub, .depth = depth, .ticks = incl};
    if (b->tree.top > 0 && f->entered) {
        span.file = f->file;
        span.line = f->line;
        span.start_ticks = f->start_ticks;
    } else {
        const bool has_calls = b->tree.top > 0 && f->depth + b->tree.base_depth >= depth;
        const int64_t earliest = b->time_position + (has_calls ? 0 : incl);
        span.start_ticks = (p->clock > earliest ? p->clock : earliest) - incl;
    }
    if (span.start_ticks + incl > b->time_position)
        b->time_position = span.start_ticks + incl;
    return keep_span(b, &span);
}

/* Whether the call that returns now ran statements. With entry events the statement that runs
 * then began in its frame; else builtins are known by name, xsubs once the stream said so. */
static bool is_perl_return(const struct nytp_builder *b, uint32_t sub)
{
    if (current(b)->has_entries)
        return b->tree.top > 0 && b->tree.owner_frame == b->tree.top;
    return !nytp_is_opcode_name(nytp_strings_get(b->strings, sub)) &&
           nytp_table_get(&b->xsubs, (struct nytp_key){.a = sub}) == NYTP_TABLE_NONE;
}

static bool return_event(struct nytp_builder *b, const struct nytp_event *e)
{
    uint32_t sub;
    if (!need_process(b) || !name_of(b, &e->u.sub_return.name, &sub))
        return false;
    const int64_t incl = to_ticks(b, e->u.sub_return.incl_ticks);
    const int64_t excl = to_ticks(b, e->u.sub_return.excl_ticks);
    b->negative_times += incl < 0 || excl < 0;
    b->has |= NYTP_HAS_CALLS | NYTP_HAS_ARCS;
    b->returned |= is_perl_return(b, sub);
    if (b->options.max_spans > 0 &&
        !return_span(b, e->u.sub_return.depth, sub, incl < 0 ? 0 : incl))
        return false;
    return nytp_calltree_return(&b->tree, e->u.sub_return.depth, sub, incl, excl,
                                current(b)->clock) ||
           tree_failed(b);
}

static bool sub_info_event(struct nytp_builder *b, const struct nytp_event *e)
{
    uint32_t name, file;
    if (!name_of(b, &e->u.sub_info.name, &name) || !file_of(b, e->u.sub_info.fid, &file))
        return false;
    if (!nytp_grow(&b->ranges, &b->ranges_capacity, b->n_ranges, sizeof *b->ranges))
        return out_of_memory(b);
    b->ranges[b->n_ranges++] = (struct nytp_built_range){name, file, e->u.sub_info.first_line,
                                                         e->u.sub_info.last_line};
    return true;
}

static bool sub_callers_event(struct nytp_builder *b, const struct nytp_event *e)
{
    uint32_t caller, callee, file;
    if (!caller_of(b, &e->u.sub_callers.caller, &caller) ||
        !name_of(b, &e->u.sub_callers.callee, &callee) ||
        !file_of(b, e->u.sub_callers.fid, &file))
        return false;
    b->has |= NYTP_HAS_ARCS;
    if (e->u.sub_callers.count == 0 && e->u.sub_callers.fid == 0)
        return nytp_table_put(&b->xsubs, (struct nytp_key){.a = callee}, 1) || out_of_memory(b);

    const struct nytp_key key = {caller, callee, file, e->u.sub_callers.line};
    uint32_t index = nytp_table_get(&b->arc_by_key, key);
    if (index == NYTP_TABLE_NONE) {
        if (!nytp_grow(&b->arcs, &b->arcs_capacity, b->n_arcs, sizeof *b->arcs) ||
            !nytp_table_put(&b->arc_by_key, key, b->n_arcs))
            return out_of_memory(b);
        index = b->n_arcs++;
        b->arcs[index] = (struct nytp_built_arc){
            .caller = caller, .callee = callee, .file = file, .line = e->u.sub_callers.line};
    }
    struct nytp_built_arc *a = &b->arcs[index];
    const double scale = (double)b->ticks_per_sec;
    a->calls += e->u.sub_callers.count;
    a->incl_ticks += to_ticks(b, e->u.sub_callers.incl_s * scale);
    a->excl_ticks += to_ticks(b, e->u.sub_callers.excl_s * scale);
    a->reci_ticks += to_ticks(b, e->u.sub_callers.reci_s * scale);
    if (a->rec_depth < e->u.sub_callers.rec_depth)
        a->rec_depth = e->u.sub_callers.rec_depth;
    return true;
}

static bool src_line_event(struct nytp_builder *b, const struct nytp_event *e)
{
    b->has |= NYTP_HAS_SOURCE;
    if (!b->options.sources)
        return true;
    uint32_t file;
    if (!file_of(b, e->u.src_line.fid, &file))
        return false;
    const uint32_t len = e->u.src_line.text.len;
    char *text = nytp_arena_alloc(b->arena, (size_t)len + 1);
    if (text == NULL ||
        !nytp_grow(&b->sources, &b->sources_capacity, b->n_sources, sizeof *b->sources))
        return out_of_memory(b);
    memcpy(text, e->u.src_line.text.ptr, len);
    text[len] = '\0';
    b->sources[b->n_sources++] =
        (struct nytp_built_source){file, e->u.src_line.line, len, text};
    return true;
}

static bool str_is(const struct nytp_str *s, const char *text)
{
    return s->len == strlen(text) && memcmp(s->ptr, text, s->len) == 0;
}

/* Decimal digits at the start of a value, as stock readers take it. */
static uint64_t str_number(const struct nytp_str *s)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < s->len && s->ptr[i] >= '0' && s->ptr[i] <= '9'; i++)
        if (value < UINT64_MAX / 16)
            value = value * 10 + (uint64_t)(s->ptr[i] - '0');
    return value;
}

/* Remember a pair; of the same key the last counts. */
static bool keep_pair(struct nytp_builder *b, struct nytp_pair_ids **list, uint32_t *n,
                      uint32_t *capacity, const struct nytp_event *e)
{
    struct nytp_pair_ids pair;
    if (!name_of(b, &e->u.pair.key, &pair.key) || !name_of(b, &e->u.pair.value, &pair.value))
        return false;
    for (uint32_t i = 0; i < *n; i++)
        if ((*list)[i].key == pair.key) {
            (*list)[i] = pair;
            return true;
        }
    if (*n >= 1000) /* a recording has some twenty */
        return true;
    if (!nytp_grow(list, capacity, *n, sizeof **list))
        return out_of_memory(b);
    (*list)[(*n)++] = pair;
    return true;
}

static bool attribute_event(struct nytp_builder *b, const struct nytp_event *e)
{
    if (str_is(&e->u.pair.key, "ticks_per_sec")) {
        const uint64_t ticks = str_number(&e->u.pair.value);
        if (ticks > 0 && ticks <= INT32_MAX)
            b->ticks_per_sec = (int64_t)ticks;
    }
    return keep_pair(b, &b->attributes, &b->n_attributes, &b->attributes_capacity, e);
}

static bool option_event(struct nytp_builder *b, const struct nytp_event *e)
{
    if (str_is(&e->u.pair.key, "calls"))
        b->option_calls_2 = str_is(&e->u.pair.value, "2");
    return keep_pair(b, &b->options_seen, &b->n_options, &b->options_capacity, e);
}

/* What the recorder tells in comments: its costs, and what open calls are named. */
static bool comment_event(struct nytp_builder *b, const struct nytp_event *e)
{
    struct nytp_open_call call;
    uint32_t name;
    if (!b->in_process)
        return true;
    nytp_costs_note(&current(b)->costs, &e->u.comment.text);
    if (!nytp_open_call_read(&e->u.comment.text, &call))
        return true;
    if (!name_of(b, &call.name, &name))
        return false;
    if (call.is_xsub && !nytp_table_put(&b->xsubs, (struct nytp_key){.a = name}, 1))
        return out_of_memory(b);
    return nytp_calltree_tell(&b->tree, call.depth, name) || tree_failed(b);
}

static bool builder_event(struct nytp_sink *sink, const struct nytp_event *e)
{
    struct nytp_builder *b = (struct nytp_builder *)sink;
    b->last_offset = e->offset;
    switch (e->tag) {
    case NYTP_TAG_TIME_BLOCK:
        b->has |= NYTP_HAS_STATEMENTS | NYTP_HAS_BLOCKS;
        return time_event(b, e);
    case NYTP_TAG_TIME_LINE:
        b->has |= NYTP_HAS_STATEMENTS;
        return time_event(b, e);
    case NYTP_TAG_DISCOUNT:
        b->discount = true;
        return true;
    case NYTP_TAG_SUB_ENTRY:
        return entry_event(b, e);
    case NYTP_TAG_SUB_RETURN:
        return return_event(b, e);
    case NYTP_TAG_NEW_FID:
        return new_fid(b, e);
    case NYTP_TAG_SUB_INFO:
        return sub_info_event(b, e);
    case NYTP_TAG_SUB_CALLERS:
        return sub_callers_event(b, e);
    case NYTP_TAG_SRC_LINE:
        return src_line_event(b, e);
    case NYTP_TAG_ATTRIBUTE:
        return attribute_event(b, e);
    case NYTP_TAG_OPTION:
        return option_event(b, e);
    case NYTP_TAG_PID_START:
        return begin_process(b, e->u.pid_start.pid, e->u.pid_start.ppid, e->u.pid_start.time_s);
    case NYTP_TAG_PID_END:
        return end_process(b, e->u.pid_end.pid, e->u.pid_end.time_s);
    case NYTP_TAG_START_DEFLATE:
        b->inflated = true;
        return true;
    case NYTP_TAG_COMMENT:
        return comment_event(b, e);
    case NYTP_TAG_VERSION:
    case NYTP_TAG_COUNT:
        break;
    }
    return true;
}

struct nytp_sink *nytp_builder_sink(struct nytp_builder *builder)
{
    builder->sink.event = builder_event;
    return &builder->sink;
}

/* Nothing that a viewer could show: not even a file. */
static bool is_empty(const struct nytp_builder *b)
{
    return b->n_processes == 0 && b->n_files == 1 && b->n_arcs == 0 && b->n_ranges == 0;
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
        b->tree.max_nodes = UINT32_MAX; /* closing must not fail for a limit */
        if ((b->n_processes == 0 && !need_process(b)) || !nytp_builder_end_process(b) ||
            (!nytp_built_spans_limit(b) && !out_of_memory(b)))
            *error = b->error;
        else
            profile = nytp_attribute(b, error);
        if (profile != NULL && reason.status != NYTP_OK) {
            profile->partial = profile->parts[0].partial = true;
            profile->parts[0].error = reason;
        }
    }
    nytp_builder_free(b);
    return profile;
}
