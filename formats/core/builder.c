/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Sums up the events of one input, in one pass. Memory grows with what is distinct: files,
 * subs, lines, arcs, contexts.
 *
 * Two ways for a statement: where calls have entry events it goes to the frame in which it
 * began (callstack.h); elsewhere only its file and line are known, and attribution.c finds the
 * sub by line ranges.
 */
#include "builder.h"
#include "builder_facts.h"
#include "builder_places.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_TICKS_PER_SEC 1000000 /* of formats that do not say */
#define MAX_TICKS             9e15    /* 28 years of 100 ns; exact in a double */

bool nytp_builder_out_of_memory(struct nytp_builder *b)
{
    return nytp_error_set(&b->error, NYTP_ERR_MEMORY, "out of memory");
}

bool nytp_builder_tree_failed(struct nytp_builder *b)
{
    if (b->stack.tree.live_nodes >= b->stack.tree.max_nodes)
        return nytp_error_at(&b->error, NYTP_ERR_LIMIT, b->last_offset, b->inflated,
                             "more than %u distinct calling contexts", b->stack.tree.max_nodes);
    return nytp_error_at(&b->error, NYTP_ERR_LIMIT, b->last_offset, b->inflated,
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
        !nytp_callstack_init(&b->stack, options->max_nodes) ||
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
    nytp_callstack_free(&b->stack);
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

/* A sub's name as a caller: code of the main program that is compiled or run outside any sub
 * is one root. */
static bool caller_of(struct nytp_builder *b, const struct nytp_str *s, uint32_t *id)
{
    if (!nytp_builder_name(b, s, id))
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
    int64_t whole = (int64_t)ticks; /* recorders write whole ticks: mostly that is it */
    if ((double)whole != ticks)
        whole = llround(ticks);
    b->ticks_seen += whole < 0 ? -whole : whole;
    return whole;
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

static inline bool add_page_line(struct nytp_builder *b, uint32_t file, uint32_t line,
                                 int64_t ticks, uint32_t statements, uint32_t left)
{
    const uint32_t number = line / NYTP_LINES_PER_PAGE, at = line % NYTP_LINES_PER_PAGE;
    const uint32_t slot = (file * 31 + number) % NYTP_PAGE_CACHE;
    uint32_t page = b->page_cache[slot].page;
    if (b->page_cache[slot].number != number || b->page_cache[slot].file != file || page == 0) {
        page = find_page(b, file, number);
        if (page == 0)
            return nytp_builder_out_of_memory(b);
        b->page_cache[slot].file = file;
        b->page_cache[slot].number = number;
        b->page_cache[slot].page = page;
    }
    struct nytp_line_page *p = &b->pages[page - 1];
    struct nytp_page_line *l = &p->lines[at];
    l->ticks += ticks;
    l->statements += statements;
    l->left += left;
    if ((p->seen >> at & 1) == 0)
        p->seen |= UINT64_C(1) << at;
    return true;
}

/* Calls that were entered by the statement that is being left begin now, not before it. */
static void start_entered_frames(struct nytp_builder *b)
{
    struct nytp_callstack *stack = &b->stack;
    for (uint32_t i = stack->top;
         i > 0 && i != stack->owner_frame && nytp_callstack_frame_is_fresh(stack, i); i--) {
        struct nytp_frame *frame = &stack->frames[i];
        if (!frame->entered || frame->start_ticks >= b->time_position)
            break;
        frame->start_ticks = b->time_position;
    }
}

/* What a statement took; 0 from where the statements of the input have taken more than sums
 * hold. */
static inline int64_t statement_ticks(struct nytp_builder *b, int32_t ticks)
{
    if (b->statement_ticks_seen > NYTP_MAX_TOTAL_TICKS) {
        b->negative_times++;
        return 0;
    }
    b->statement_ticks_seen += ticks < 0 ? -(int64_t)ticks : ticks;
    return ticks;
}

/* Of a sampled statement what it waited, on a place in the tree where there is one. */
static bool book_wait(struct nytp_builder *b, uint32_t file, uint32_t line, int64_t ticks,
                      int64_t wait_ticks)
{
    nytp_builder_process(b)->cpu_ticks += ticks - wait_ticks;
    return !nytp_builder_process(b)->has_entries ||
           nytp_sample_waits_book(&b->waits, &b->stack, file, line, wait_ticks);
}

/* What the statements that are being booked add to their process. */
struct tally {
    int64_t clock;
    uint64_t statements;
    bool has_entries;
};

/* The first statement of a file: how the program came there. */
static inline void enter_file(struct nytp_builder *b, uint32_t file, uint32_t from_file,
                              uint32_t from_line)
{
    if (b->files[file].executed)
        return;
    b->files[file].executed = true;
    b->files[file].from_file = from_file;
    b->files[file].from_line = from_line;
}

static bool book_statement(struct nytp_builder *b, struct tally *tally,
                           const struct nytp_statement *s)
{
    uint32_t file;
    if (!nytp_builder_file(b, s->fid, &file))
        return false;
    const int64_t ticks = statement_ticks(b, s->ticks);
    const bool discount = s->discounted | b->discount;
    const uint32_t line = s->line, statements = !discount;
    const uint32_t left = discount & !b->discount_calls;
    b->discount = false;
    b->discount_calls = b->returned;
    b->returned = false;
    tally->clock += ticks;
    tally->statements += statements;
    if (ticks < 0) {
        b->negative_times++;
        b->wrapped_statements += ticks < -b->ticks_per_sec;
    }
    if (file != b->left_file)
        enter_file(b, file, b->left_file, b->left_line);
    b->left_file = file;
    b->left_line = line;
    if (b->options.max_spans > 0 && tally->clock > b->time_position) {
        b->time_position = tally->clock;
        if (tally->has_entries)
            start_entered_frames(b);
    }
    if (b->sampled) {
        const int64_t wait_ticks = nytp_sample_waits_of(&b->waits, s->ticks, discount);
        if (!book_wait(b, file, line, ticks, ticks == s->ticks ? wait_ticks : 0))
            return nytp_builder_tree_failed(b);
    }
    if (!tally->has_entries)
        return add_page_line(b, file, line, ticks, statements, left);
    return nytp_callstack_statement(&b->stack, file, line, (int32_t)ticks,
                                    statements * NYTP_BOOK_COUNTS + left * NYTP_BOOK_LEFT) ||
           nytp_builder_tree_failed(b);
}

/* Book statements that have nothing special about them: the one before was booked in the same
 * frame, their files are known, and none took less than no time. `booking` is where they wait
 * in the tree, NULL where only pages are known. Stops before the first that is different and
 * returns how many there were, SIZE_MAX when memory is out. */
__attribute__((always_inline)) static inline size_t
book_plain(struct nytp_builder *b, struct tally *tally, const struct nytp_statement *run,
           size_t n, struct nytp_booking *booking)
{
    uint32_t left_file = b->left_file;
    bool discount_calls = b->discount_calls;
    int64_t ticks = 0;
    uint64_t discounted = 0;
    size_t i = 0;
    for (; i < n; i++) {
        const struct nytp_statement s = run[i];
        if (s.ticks < 0 || s.fid >= NYTP_SMALL_FIDS || b->small_fids[s.fid] == 0)
            break;
        const uint32_t file = b->small_fids[s.fid];
        if (file != left_file) {
            enter_file(b, file, left_file, i == 0 ? b->left_line : run[i - 1].line);
            left_file = file;
        }
        const bool left = s.discounted & !discount_calls;
        discount_calls = false;
        ticks += s.ticks;
        discounted += s.discounted;
        if (booking != NULL)
            booking[i] = (struct nytp_booking){.what = !s.discounted * NYTP_BOOK_COUNTS +
                                                       left * NYTP_BOOK_LEFT,
                                               .ticks = s.ticks,
                                               .file = file,
                                               .line = s.line};
        else if (!add_page_line(b, file, s.line, s.ticks, !s.discounted, left))
            return SIZE_MAX;
    }
    b->left_file = left_file;
    b->left_line = i > 0 ? run[i - 1].line : b->left_line;
    b->discount_calls = discount_calls;
    b->statement_ticks_seen += ticks;
    tally->clock += ticks;
    tally->statements += i - discounted;
    if (b->time_position < tally->clock && b->options.max_spans > 0 && i > 0)
        b->time_position = tally->clock;
    return i;
}

static size_t book_plain_statements(struct nytp_builder *b, struct tally *tally,
                                    const struct nytp_statement *run, size_t n)
{
    if (!tally->has_entries)
        return book_plain(b, tally, run, n, NULL);
    struct nytp_booking *const booking = nytp_callstack_room(&b->stack, (uint32_t)n);
    if (booking == NULL) {
        nytp_builder_tree_failed(b);
        return SIZE_MAX;
    }
    const size_t booked = book_plain(b, tally, run, n, booking);
    nytp_callstack_add(&b->stack, (uint32_t)booked);
    return booked;
}

/* The most statements that are booked at a time, and ticks that all of them have less than. */
#define MAX_PLAIN       256u
#define MAX_PLAIN_TICKS ((int64_t)MAX_PLAIN << 31)

static bool book_run(struct nytp_builder *b, struct tally *tally,
                     const struct nytp_statement *run, size_t n)
{
    for (size_t i = 0; i < n;) {
        if (!book_statement(b, tally, &run[i++]))
            return false;
        if (b->sampled || b->statement_ticks_seen > NYTP_MAX_TOTAL_TICKS - MAX_PLAIN_TICKS)
            continue;
        const size_t left = n - i < MAX_PLAIN ? n - i : MAX_PLAIN;
        const size_t plain = book_plain_statements(b, tally, &run[i], left);
        if (plain == SIZE_MAX)
            return false;
        i += plain;
    }
    return true;
}

static bool book_statements(struct nytp_builder *b, const struct nytp_statement *run, size_t n)
{
    if (!nytp_builder_need_process(b))
        return false;
    struct nytp_built_process *const p = nytp_builder_process(b);
    struct tally tally = {p->clock, p->statements, p->has_entries};
    const bool ok = book_run(b, &tally, run, n);
    p->clock = tally.clock;
    p->statements = tally.statements;
    return ok;
}

/* The first entry event of a process: what ran before it ran outside any call. */
static bool begin_entries(struct nytp_builder *b, struct nytp_built_process *p)
{
    for (uint32_t i = b->n_pages; i-- > 0 && b->pages[i].process == b->n_processes - 1;) {
        struct nytp_line_page *page = &b->pages[i];
        for (uint32_t at = 0; at < NYTP_LINES_PER_PAGE; at++)
            if ((page->seen >> at & 1) != 0 &&
                !nytp_calltree_add_line(&b->stack.tree, p->root, page->file,
                                        page->number * NYTP_LINES_PER_PAGE + at,
                                        page->lines[at].ticks, page->lines[at].statements,
                                        page->lines[at].left))
                return false;
        page->seen = 0;
    }
    p->has_entries = true;
    nytp_callstack_next_statement(&b->stack);
    return true;
}

/* Where on the time axis a returning call lies. The statement clock tells where its statements
 * ended; calls within one statement follow one another. */
static bool return_span(struct nytp_builder *b, uint32_t depth, uint32_t sub, int64_t incl)
{
    const struct nytp_frame *f = &b->stack.frames[b->stack.top];
    const struct nytp_built_process *p = nytp_builder_process(b);
    struct nytp_built_span span = {
        .process = b->n_processes - 1, .sub = sub, .depth = depth, .ticks = incl};
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

/* Whether the call that returns now ran statements. With entry events the statement that runs
 * then began in its frame; else builtins are known by name, xsubs once the stream said so. */
static bool is_perl_return(const struct nytp_builder *b, uint32_t sub)
{
    if (nytp_builder_process(b)->has_entries)
        return b->stack.top > 0 && b->stack.owner_frame == b->stack.top;
    return !nytp_is_opcode_name(nytp_strings_get(b->strings, sub)) &&
           nytp_table_get(&b->xsubs, (struct nytp_key){.a = sub}) == NYTP_TABLE_NONE;
}

static bool time_event(struct nytp_builder *b, const struct nytp_event *e)
{
    const struct nytp_statement statement = {
        .ticks = e->u.time.ticks, .fid = e->u.time.fid, .line = e->u.time.line};
    return book_statements(b, &statement, 1);
}

static bool builder_statements(struct nytp_sink *sink, const struct nytp_statement *run,
                               size_t n, uint64_t offset)
{
    struct nytp_builder *b = (struct nytp_builder *)sink;
    b->last_offset = offset;
    b->has |= NYTP_HAS_STATEMENTS;
    return book_statements(b, run, n);
}

static bool entry_event(struct nytp_builder *b, const struct nytp_event *e)
{
    uint32_t file;
    if (!nytp_builder_need_process(b) ||
        !nytp_builder_file(b, e->u.sub_entry.caller_fid, &file))
        return false;
    struct nytp_built_process *p = nytp_builder_process(b);
    if (!p->has_entries && !begin_entries(b, p))
        return nytp_builder_tree_failed(b);
    b->has |= NYTP_HAS_ENTRIES;
    if (!nytp_callstack_entry(&b->stack, file, e->u.sub_entry.caller_line, p->clock))
        return nytp_builder_tree_failed(b);
    b->stack.frames[b->stack.top].start_ticks = b->time_position;
    nytp_sample_waits_entry(&b->waits);
    return true;
}

static bool return_event(struct nytp_builder *b, const struct nytp_event *e)
{
    uint32_t sub;
    if (!nytp_builder_need_process(b) || !nytp_builder_name(b, &e->u.sub_return.name, &sub))
        return false;
    const uint32_t depth = e->u.sub_return.depth;
    const int64_t incl_ticks = to_ticks(b, e->u.sub_return.incl_ticks);
    const int64_t excl_ticks = to_ticks(b, e->u.sub_return.excl_ticks);
    b->negative_times += incl_ticks < 0 || excl_ticks < 0;
    b->has |= NYTP_HAS_CALLS | NYTP_HAS_ARCS;
    b->returned |= is_perl_return(b, sub);
    if (b->sampled && !nytp_sample_waits_return(&b->waits, &b->stack, sub, incl_ticks))
        return nytp_builder_tree_failed(b);
    if (b->options.max_spans > 0 &&
        !return_span(b, depth, sub, incl_ticks < 0 ? 0 : incl_ticks))
        return false;
    return nytp_callstack_return(&b->stack, depth, sub, incl_ticks, excl_ticks,
                                 nytp_builder_process(b)->clock) ||
           nytp_builder_tree_failed(b);
}

static bool sub_callers_event(struct nytp_builder *b, const struct nytp_event *e)
{
    uint32_t caller, callee, file;
    if (!caller_of(b, &e->u.sub_callers.caller, &caller) ||
        !nytp_builder_name(b, &e->u.sub_callers.callee, &callee) ||
        !nytp_builder_file(b, e->u.sub_callers.fid, &file))
        return false;
    b->has |= NYTP_HAS_ARCS;
    if (e->u.sub_callers.count == 0 && e->u.sub_callers.fid == 0)
        return nytp_table_put(&b->xsubs, (struct nytp_key){.a = callee}, 1) ||
               nytp_builder_out_of_memory(b);

    const struct nytp_key key = {caller, callee, file, e->u.sub_callers.line};
    uint32_t index = nytp_table_get(&b->arc_by_key, key);
    if (index == NYTP_TABLE_NONE) {
        if (!nytp_grow(&b->arcs, &b->arcs_capacity, b->n_arcs, sizeof *b->arcs) ||
            !nytp_table_put(&b->arc_by_key, key, b->n_arcs))
            return nytp_builder_out_of_memory(b);
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

static bool rare_event(struct nytp_builder *b, const struct nytp_event *e)
{
    switch (e->tag) {
    case NYTP_TAG_TIME_BLOCK:
        b->has |= NYTP_HAS_STATEMENTS | NYTP_HAS_BLOCKS;
        return time_event(b, e);
    case NYTP_TAG_DISCOUNT:
        b->discount = true;
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
        return nytp_builder_begin_process(b, e->u.pid_start.pid, e->u.pid_start.ppid,
                                          e->u.pid_start.time_s);
    case NYTP_TAG_PID_END:
        return nytp_builder_end_pid(b, e->u.pid_end.pid, e->u.pid_end.time_s);
    case NYTP_TAG_START_DEFLATE:
        b->inflated = true;
        return true;
    case NYTP_TAG_ATTRIBUTE:
    case NYTP_TAG_OPTION:
    case NYTP_TAG_COMMENT:
    case NYTP_TAG_SUB_INFO:
        return nytp_builder_fact(b, e);
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
    b->last_offset = e->offset;
    if (e->tag != NYTP_TAG_TIME_LINE)
        return rare_event(b, e);
    b->has |= NYTP_HAS_STATEMENTS;
    return time_event(b, e);
}

struct nytp_sink *nytp_builder_sink(struct nytp_builder *builder)
{
    builder->sink.event = builder_event;
    builder->sink.statements = builder_statements;
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
        b->stack.tree.max_nodes = UINT32_MAX; /* closing must not fail for a limit */
        if ((b->n_processes == 0 && !nytp_builder_need_process(b)) ||
            !nytp_builder_end_process(b) ||
            (!nytp_built_spans_limit(b) && !nytp_builder_out_of_memory(b)))
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
