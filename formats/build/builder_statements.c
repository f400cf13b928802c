/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The statements of an input, booked on lines or in the tree; see builder_parts.h. Nearly
 * all of a stream are statements about which nothing is special: those take loops of their own.
 */
#include "builder_parts.h"

#include <stdlib.h>
#include <string.h>

/* The page that holds a line of a file in the current process, as index + 1; 0 when memory is
 * out. */
static uint32_t find_page(struct nytp_builder *b, uint32_t file, uint32_t number)
{
    const uint32_t process = b->processes.n - 1;
    const struct nytp_key key = {process, file, number, 0};
    uint32_t index = nytp_table_get(&b->pages.by_place, key);
    if (index == NYTP_TABLE_NONE) {
        if (!NYTP_GROW(&b->pages) || !nytp_table_put(&b->pages.by_place, key, b->pages.n))
            return 0;
        index = b->pages.n++;
        memset(&b->pages.at[index], 0, sizeof *b->pages.at);
        b->pages.at[index].process = process;
        b->pages.at[index].file = file;
        b->pages.at[index].number = number;
    }
    return index + 1;
}

static bool add_page_line(struct nytp_builder *b, uint32_t file, uint32_t line, int64_t ticks,
                          uint64_t statements, uint64_t after_leave)
{
    const uint32_t number = line / NYTP_LINES_PER_PAGE, at = line % NYTP_LINES_PER_PAGE;
    struct nytp_cached_page *const cached =
        &b->pages.cache[(file * 31 + number) % NYTP_PAGE_CACHE];
    if (cached->number != number || cached->file != file || cached->page == 0) {
        const uint32_t page = find_page(b, file, number);
        if (page == 0)
            return nytp_builder_out_of_memory(b);
        *cached = (struct nytp_cached_page){file, number, page};
    }
    struct nytp_line_page *p = &b->pages.at[cached->page - 1];
    struct nytp_page_line *l = &p->lines[at];
    l->ticks += ticks;
    l->statements += statements;
    l->after_leave += after_leave;
    if ((p->seen >> at & 1) == 0)
        p->seen |= UINT64_C(1) << at;
    return true;
}

/* Add to its page, which is there, what a line that was met lately has. */
static bool settle_recent_line(struct nytp_builder *b, struct nytp_recent_line *r)
{
    const struct nytp_recent_line sums = *r;
    *r = (struct nytp_recent_line){0};
    return sums.place == 0 ||
           add_page_line(b, (uint32_t)(sums.place >> 32), (uint32_t)sums.place, sums.ticks,
                         (uint32_t)sums.counts, sums.counts >> 32);
}

bool nytp_builder_settle_lines(struct nytp_builder *b)
{
    struct nytp_recent_lines *const recent = b->pages.recent;
    bool ok = true;
    if (b->pages.n_recent == 0)
        return true;
    for (uint32_t i = 0; ok && i < recent->n_met; i++)
        ok = settle_recent_line(b, &recent->at[recent->met[i]]);
    b->pages.n_recent = recent->n_met = 0;
    return ok;
}

/* See to it that a line is among those met lately. */
static bool meet_line(struct nytp_builder *b, uint32_t file, uint32_t line)
{
    if (b->pages.recent == NULL)
        b->pages.recent = calloc(1, sizeof *b->pages.recent);
    if (b->pages.recent == NULL)
        return nytp_builder_out_of_memory(b);
    const uint32_t slot = (file * 1021 + line) % NYTP_RECENT_LINES;
    struct nytp_recent_lines *const recent = b->pages.recent;
    struct nytp_recent_line *const r = &recent->at[slot];
    const uint64_t place = (uint64_t)file << 32 | line;
    if (r->place == place)
        return true;
    if (r->place == 0)
        recent->met[recent->n_met++] = (uint16_t)slot;
    if (!settle_recent_line(b, r) || !add_page_line(b, file, line, 0, 0, 0))
        return false;
    r->place = place;
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

/* Returns the ticks of a statement, or 0 once the input's statements exceed what sums hold. */
static inline int64_t statement_ticks(struct nytp_builder *b, int32_t ticks)
{
    if (b->seen.statement_ticks > NYTP_MAX_TOTAL_TICKS) {
        b->p->faults.negative_times += (b->p->has & NYTP_HAS_TIMES) != 0;
        return 0;
    }
    b->seen.statement_ticks += ticks < 0 ? -(int64_t)ticks : ticks;
    return ticks;
}

/* Books the wait of a sampled statement on its place in the tree, if there is one. */
static bool book_wait(struct nytp_builder *b, uint32_t file, uint32_t line, int64_t ticks,
                      int64_t wait_ticks)
{
    nytp_builder_process(b)->model.cpu_ticks += ticks - wait_ticks;
    if (!nytp_sample_waits_reason(&b->waits, b->processes.n - 1, file, line, wait_ticks))
        return false;
    return !nytp_builder_process(b)->has_entries ||
           nytp_sample_waits_book(&b->waits, &b->stack, file, line, wait_ticks, ticks);
}

/* The sums that a row of statements adds to its process. */
struct tally {
    int64_t clock;
    uint64_t statements;
    bool has_entries;
};

/* The first statement of a file: how the program came there. */
static inline void enter_file(struct nytp_builder *b, uint32_t file, uint32_t from_file,
                              uint32_t from_line)
{
    if (b->files.at[file].executed)
        return;
    b->files.at[file].executed = true;
    b->files.at[file].from_file = from_file;
    b->files.at[file].from_line = from_line;
}

static bool book_statement(struct nytp_builder *b, struct tally *tally, uint32_t file,
                           const struct nytp_statement *s)
{
    const int64_t ticks = statement_ticks(b, s->ticks);
    const bool discount = s->what == NYTP_STATEMENT_DISCOUNTED || b->left.discount;
    const uint32_t line = s->line, statements = !discount;
    const uint32_t after_leave = discount & !b->left.discount_calls;
    b->left.discount = false;
    b->left.discount_calls = b->left.returned;
    b->left.returned = false;
    tally->clock += ticks;
    tally->statements += statements;
    if (ticks < 0) {
        b->p->faults.negative_times++;
        b->p->faults.wrapped_statements += ticks < -b->p->ticks_per_sec;
    }
    if (file != b->left.file)
        enter_file(b, file, b->left.file, b->left.line);
    b->left.file = file;
    b->left.line = line;
    if (b->options.max_spans > 0 && tally->clock > b->time_position) {
        b->time_position = tally->clock;
        if (tally->has_entries)
            start_entered_frames(b);
    }
    if (b->settings.sampled) {
        const int64_t wait_ticks = nytp_sample_waits_of(&b->waits, s->ticks, discount);
        if (!book_wait(b, file, line, ticks, ticks == s->ticks ? wait_ticks : 0))
            return nytp_builder_tree_failed(b);
        nytp_label_marks_sampled(b, tally->clock);
    }
    if (!tally->has_entries)
        return add_page_line(b, file, line, ticks, statements, after_leave);
    return nytp_callstack_statement(&b->stack, file, line, (int32_t)ticks,
                                    statements * NYTP_BOOK_COUNTS +
                                        after_leave * NYTP_BOOK_AFTER_LEAVE) ||
           nytp_builder_tree_failed(b);
}

/* All statements of a run have less ticks than these. */
#define MAX_RUN_TICKS ((int64_t)NYTP_MAX_RUN << 31)

/* Returns how a discounted statement counts, in the form that a line's record has. */
static uint64_t after_leave_count(bool discount_calls)
{
    return discount_calls ? 0 : UINT64_C(1) << 32;
}

/* Book statements up to the first whose line was not met lately. Returns how many there were.
 */
static size_t book_on_recent_lines(struct nytp_builder *b, uint32_t file,
                                   const struct nytp_statement *run, size_t n)
{
    const uint32_t slot_of_file = file * 1021;
    const uint64_t place_of_file = (uint64_t)file << 32;
    struct nytp_recent_line *const recent_lines = b->pages.recent->at;
    uint64_t after_leave = after_leave_count(b->left.discount_calls),
             next_after_leave = after_leave_count(b->left.returned);
    const struct nytp_statement *s = run, *const end = run + n;
    for (; s < end; s++) {
        struct nytp_recent_line *const r =
            &recent_lines[(slot_of_file + s->line) % NYTP_RECENT_LINES];
        if (r->place != (place_of_file | s->line))
            break;
        r->ticks += s->ticks;
        r->counts += s->what == NYTP_STATEMENT_COUNTS ? 1 : after_leave;
        after_leave = next_after_leave;
        next_after_leave = after_leave_count(false);
    }
    b->left.discount_calls = after_leave == 0;
    b->left.returned = next_after_leave == 0;
    b->pages.n_recent += (uint32_t)(s - run);
    return (size_t)(s - run);
}

static bool book_on_pages(struct nytp_builder *b, uint32_t file, const struct nytp_run *run)
{
    if (b->pages.n_recent > INT32_MAX && !nytp_builder_settle_lines(b))
        return false;
    for (size_t i = 0; i < run->n;) {
        if (!meet_line(b, file, run->at[i].line))
            return false;
        i += book_on_recent_lines(b, file, &run->at[i], run->n - i);
    }
    return true;
}

/* The same, in the current frame, in which none returned since the statement before. */
static bool book_on_tree(struct nytp_builder *b, uint32_t file, const struct nytp_run *run)
{
    const uint32_t what = run->at->what & (b->left.discount_calls ? NYTP_BOOK_COUNTS : ~0u);
    b->left.discount_calls = false;
    return nytp_callstack_statements(&b->stack, file, run->at, run->n, what) ||
           nytp_builder_tree_failed(b);
}

/* Book statements that have nothing special about them: they began in the current frame, and
 * none took less than no time. */
static bool book_plain(struct nytp_builder *b, struct tally *tally, uint32_t file,
                       const struct nytp_run *run)
{
    if (file != b->left.file)
        enter_file(b, file, b->left.file, b->left.line);
    b->left.file = file;
    b->left.line = run->at[run->n - 1].line;
    b->seen.statement_ticks += run->ticks;
    tally->clock += run->ticks;
    tally->statements += run->n - run->n_discounted;
    if (b->time_position < tally->clock && b->options.max_spans > 0)
        b->time_position = tally->clock;
    return (tally->has_entries ? book_on_tree : book_on_pages)(b, file, run);
}

/* Returns whether the next statements are such. In the tree the first one may have begun in
 * another frame than the current one. */
static bool is_plain(const struct nytp_builder *b, const struct tally *tally, uint32_t file,
                     const struct nytp_statement *next)
{
    const bool began_here =
        !tally->has_entries || (b->stack.owner_frame == b->stack.top && !b->left.returned);
    return began_here && file != 0 && next->ticks >= 0 && !b->left.discount &&
           !b->settings.sampled &&
           b->seen.statement_ticks <= NYTP_MAX_TOTAL_TICKS - MAX_RUN_TICKS;
}

static bool book_run(struct nytp_builder *b, struct tally *tally, const struct nytp_run *run)
{
    struct nytp_run rest = *run;
    uint32_t file;
    if (!nytp_builder_file(b, run->at->fid, &file))
        return false;
    while (rest.n > 0) {
        if (is_plain(b, tally, file, rest.at))
            return book_plain(b, tally, file, &rest);
        const struct nytp_statement s = *rest.at++;
        rest.n--;
        rest.n_discounted -= s.what == NYTP_STATEMENT_DISCOUNTED;
        rest.ticks -= s.ticks;
        if (!book_statement(b, tally, file, &s))
            return false;
    }
    return true;
}

bool nytp_builder_book_statements(struct nytp_builder *b, const struct nytp_run *run)
{
    if (!nytp_builder_need_process(b))
        return false;
    struct nytp_built_process *const p = nytp_builder_process(b);
    struct tally tally = {p->clock, p->statements, p->has_entries};
    const bool ok = book_run(b, &tally, run);
    p->clock = tally.clock;
    p->statements = tally.statements;
    return ok;
}

bool nytp_builder_book_statement(struct nytp_builder *b, struct nytp_statement s)
{
    const struct nytp_run run = {&s, 1, s.what == NYTP_STATEMENT_DISCOUNTED, s.ticks};
    return nytp_builder_book_statements(b, &run);
}

bool nytp_builder_begin_entries(struct nytp_builder *b, struct nytp_built_process *p)
{
    if (!nytp_builder_settle_lines(b))
        return false;
    for (uint32_t i = b->pages.n; i-- > 0 && b->pages.at[i].process == b->processes.n - 1;) {
        struct nytp_line_page *page = &b->pages.at[i];
        for (uint32_t at = 0; at < NYTP_LINES_PER_PAGE; at++)
            if ((page->seen >> at & 1) != 0 &&
                !nytp_calltree_add_line(&b->stack.tree,
                                        &(struct nytp_tree_line){
                                            .node = p->root,
                                            .file = page->file,
                                            .line = page->number * NYTP_LINES_PER_PAGE + at,
                                            .ticks = page->lines[at].ticks,
                                            .statements = page->lines[at].statements,
                                            .after_leave = page->lines[at].after_leave,
                                        }))
                return false;
        page->seen = 0;
    }
    p->has_entries = true;
    nytp_callstack_next_statement(&b->stack);
    return true;
}
