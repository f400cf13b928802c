/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The statements of an input, booked on lines or in the tree; see builder_parts.h. Nearly
 * all of a stream are statements about which nothing is special: those take loops of their own.
 */
#include "builder_parts.h"

#include <stdlib.h>

/* Adds to a line of the root of the current process. */
static bool add_root_line(struct nytp_builder *b, uint32_t file, uint32_t line, int64_t ticks,
                          uint64_t statements, uint64_t after_leave)
{
    const struct nytp_tree_line more = {.node = nytp_builder_process(b)->root,
                                        .file = file,
                                        .line = line,
                                        .ticks = ticks,
                                        .statements = statements,
                                        .after_leave = after_leave};
    return nytp_calltree_add_line(&b->stack.tree, &more) || nytp_builder_out_of_memory(b);
}

/* Adds what a line that was met lately has to its record. */
static bool settle_recent_line(struct nytp_builder *b, struct nytp_recent_line *r)
{
    const struct nytp_recent_line sums = *r;
    *r = (struct nytp_recent_line){0};
    return sums.place == 0 ||
           add_root_line(b, (uint32_t)(sums.place >> 32), (uint32_t)sums.place, sums.ticks,
                         (uint32_t)sums.counts, sums.counts >> 32);
}

bool nytp_builder_settle_lines(struct nytp_builder *b)
{
    struct nytp_recent_lines *const recent = b->recent;
    bool ok = true;
    if (recent == NULL || recent->n_statements == 0)
        return true;
    for (uint32_t i = 0; ok && i < recent->n_met; i++)
        ok = settle_recent_line(b, &recent->at[recent->met[i]]);
    recent->n_statements = recent->n_met = 0;
    return ok;
}

/* See to it that a line is among those met lately. */
static bool meet_line(struct nytp_builder *b, uint32_t file, uint32_t line)
{
    if (b->recent == NULL)
        b->recent = calloc(1, sizeof *b->recent);
    if (b->recent == NULL)
        return nytp_builder_out_of_memory(b);
    const uint32_t slot = (file * 1021 + line) % NYTP_RECENT_LINES;
    struct nytp_recent_lines *const recent = b->recent;
    struct nytp_recent_line *const r = &recent->at[slot];
    const uint64_t place = (uint64_t)file << 32 | line;
    if (r->place == place)
        return true;
    if (r->place == 0)
        recent->met[recent->n_met++] = (uint16_t)slot;
    if (!settle_recent_line(b, r) || !add_root_line(b, file, line, 0, 0, 0))
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

static bool book_statement(struct nytp_builder *b, struct nytp_built_process *p, uint32_t file,
                           const struct nytp_statement *s)
{
    const int64_t ticks = statement_ticks(b, s->ticks);
    const bool discount = s->what == NYTP_STATEMENT_DISCOUNTED || b->left.discount;
    const uint32_t line = s->line, statements = !discount;
    const uint32_t after_leave = discount & !b->left.discount_calls;
    b->left.discount = false;
    b->left.discount_calls = b->left.returned;
    b->left.returned = false;
    p->clock += ticks;
    p->statements += statements;
    if (ticks < 0) {
        b->p->faults.negative_times++;
        b->p->faults.wrapped_statements += ticks < -b->p->ticks_per_sec;
    }
    if (file != b->left.file)
        enter_file(b, file, b->left.file, b->left.line);
    b->left.file = file;
    b->left.line = line;
    if (b->options.max_spans > 0 && p->clock > b->time_position) {
        b->time_position = p->clock;
        if (p->has_entries)
            start_entered_frames(b);
    }
    if (b->settings.sampled) {
        const int64_t wait_ticks = nytp_sample_waits_of(&b->waits, s->ticks, discount);
        if (!book_wait(b, file, line, ticks, ticks == s->ticks ? wait_ticks : 0))
            return nytp_builder_tree_failed(b);
        nytp_label_marks_sampled(b, p->clock);
    }
    if (!p->has_entries)
        return add_root_line(b, file, line, ticks, statements, after_leave);
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
    struct nytp_recent_line *const recent_lines = b->recent->at;
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
    b->recent->n_statements += (uint32_t)(s - run);
    return (size_t)(s - run);
}

static bool book_on_lines(struct nytp_builder *b, uint32_t file, const struct nytp_run *run)
{
    if (b->recent != NULL && b->recent->n_statements > INT32_MAX &&
        !nytp_builder_settle_lines(b))
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
static bool book_plain(struct nytp_builder *b, struct nytp_built_process *p, uint32_t file,
                       const struct nytp_run *run)
{
    if (file != b->left.file)
        enter_file(b, file, b->left.file, b->left.line);
    b->left.file = file;
    b->left.line = run->at[run->n - 1].line;
    b->seen.statement_ticks += run->ticks;
    p->clock += run->ticks;
    p->statements += run->n - run->n_discounted;
    if (b->time_position < p->clock && b->options.max_spans > 0)
        b->time_position = p->clock;
    return (p->has_entries ? book_on_tree : book_on_lines)(b, file, run);
}

/* Returns whether the next statements are such. In the tree the first one may have begun in
 * another frame than the current one. */
static bool is_plain(const struct nytp_builder *b, const struct nytp_built_process *p,
                     uint32_t file, const struct nytp_statement *next)
{
    const bool began_here =
        !p->has_entries || (b->stack.owner_frame == b->stack.top && !b->left.returned);
    return began_here && file != 0 && next->ticks >= 0 && !b->left.discount &&
           !b->settings.sampled &&
           b->seen.statement_ticks <= NYTP_MAX_TOTAL_TICKS - MAX_RUN_TICKS;
}

bool nytp_builder_book_statements(struct nytp_builder *b, const struct nytp_run *run)
{
    struct nytp_run rest = *run;
    uint32_t file;
    if (!nytp_builder_need_process(b) || !nytp_builder_file(b, run->at->fid, &file))
        return false;
    struct nytp_built_process *const p = nytp_builder_process(b);
    while (rest.n > 0) {
        if (is_plain(b, p, file, rest.at))
            return book_plain(b, p, file, &rest);
        const struct nytp_statement s = *rest.at++;
        rest.n--;
        rest.n_discounted -= s.what == NYTP_STATEMENT_DISCOUNTED;
        rest.ticks -= s.ticks;
        if (!book_statement(b, p, file, &s))
            return false;
    }
    return true;
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
    p->has_entries = true;
    nytp_callstack_next_statement(&b->stack);
    return true;
}
