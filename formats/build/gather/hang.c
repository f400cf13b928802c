/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Where a sampled process hung at its end: its last sample, which no safe point came after
 * (hang_records.h).
 *
 * The stream tells of open calls only from where they were called. Those that are open from the
 * same places, from the outermost on, are taken for the same; the others have been left since
 * the last sample that is on disk.
 */
#include "builder_parts.h"

#include <string.h>

/* Each has a tab, a tab, a colon and a line at least. */
#define MOST_CALLS (NYTP_HANG_ROOM / 4)

struct call {
    uint32_t name; /* 0: the program itself */
    uint32_t file, line;
};

/* The calls of a hang, innermost first. list[depth - d + 1] has the place at which the caller
 * of the call at depth d is. */
struct calls {
    struct call list[MOST_CALLS];
    uint32_t n, depth;
};

/* Perl's name of a file is relative, or an eval's without its place, where the stream's tells
 * more. */
static bool is_named(struct nytp_name name, struct nytp_str perl_name)
{
    if (perl_name.len > 2 && memcmp(perl_name.ptr, "./", 2) == 0) {
        perl_name.ptr += 2;
        perl_name.len -= 2;
    }
    if (perl_name.len == 0 || name.len <= perl_name.len)
        return name.len == perl_name.len && memcmp(name.ptr, perl_name.ptr, name.len) == 0;
    const char *const tail = name.ptr + name.len - perl_name.len;
    if (memcmp(name.ptr, perl_name.ptr, perl_name.len) == 0)
        return perl_name.ptr[0] == '(' && name.ptr[perl_name.len] == '[';
    return perl_name.ptr[0] != '/' && tail[-1] == '/' &&
           memcmp(tail, perl_name.ptr, perl_name.len) == 0;
}

static bool find_file(struct nytp_builder *b, struct nytp_str perl_name, uint32_t *file)
{
    struct nytp_event e = {.tag = NYTP_TAG_NEW_FID};
    for (uint32_t i = 1; i < b->files.n; i++) {
        *file = i;
        if (is_named(nytp_strings_get(b->strings, b->files.at[i].name), perl_name))
            return true;
        if (b->files.at[i].model.fid > e.u.new_fid.fid)
            e.u.new_fid.fid = b->files.at[i].model.fid;
    }
    *file = 0;
    if (perl_name.len == 0 || ++e.u.new_fid.fid == 0)
        return true;
    e.u.new_fid.name = perl_name;
    return nytp_builder_new_fid(b, &e) && nytp_builder_file(b, e.u.new_fid.fid, file);
}

static bool read_calls(struct nytp_builder *b, struct nytp_hang rest, struct calls *calls)
{
    struct nytp_hang_call recorded;
    calls->n = 0;
    calls->depth = rest.depth;
    while (calls->n < MOST_CALLS && calls->n <= rest.depth &&
           nytp_hang_next(&rest, &recorded)) {
        struct call *const call = &calls->list[calls->n++];
        call->line = recorded.line;
        call->name = 0;
        if (!find_file(b, recorded.file, &call->file) ||
            (recorded.name.len > 0 && !nytp_builder_name(b, &recorded.name, &call->name)))
            return false;
    }
    return true;
}

/* The call at this depth, and the one that called it; NULL: not recorded. */
static const struct call *call_at(const struct calls *calls, uint32_t depth)
{
    return calls->depth - depth < calls->n ? &calls->list[calls->depth - depth] : NULL;
}

static const struct call *site_at(const struct calls *calls, uint32_t depth)
{
    return call_at(calls, depth - 1);
}

/* Returns how many frames of the stack, from the outermost call on, are open still. */
static uint32_t count_still_open(const struct nytp_callstack *stack, const struct calls *calls)
{
    uint32_t n = 0;
    for (; n < stack->top && n < calls->depth; n++) {
        const struct nytp_frame *const frame = &stack->frames[n + 1];
        const struct call *const site = site_at(calls, n + 1);
        if (nytp_callstack_depth(stack, n + 1) != n + 1 || !frame->entered ||
            (site != NULL && (frame->file != site->file || frame->line != site->line)))
            break;
    }
    return n;
}

static bool enter(struct nytp_builder *b, const struct call *site)
{
    if (!nytp_callstack_entry(&b->stack, site->file, site->line,
                              nytp_builder_process(b)->clock))
        return nytp_builder_tree_failed(b);
    b->stack.frames[b->stack.top].start_ticks = b->time_position;
    return true;
}

/* Leave and enter calls until those that are told are open. */
static bool go_to(struct nytp_builder *b, const struct calls *calls)
{
    const uint32_t n_open = count_still_open(&b->stack, calls);
    if (!nytp_builder_leave(b, n_open))
        return false;
    for (uint32_t depth = 1; depth <= calls->depth; depth++) {
        const struct call *const site = site_at(calls, depth), *const call =
                                                                   call_at(calls, depth);
        if (depth > n_open && site == NULL)
            continue;
        if (depth > n_open && !enter(b, site))
            return false;
        struct nytp_frame *const frame =
            &b->stack.frames[depth > n_open ? b->stack.top : depth];
        frame->hangs = true;
        if (call != NULL)
            frame->recorded_name = call->name;
    }
    nytp_callstack_next_statement(&b->stack);
    return true;
}

/* One sample, in as many records as its time takes. */
static bool book(struct nytp_builder *b, const struct call *place, int64_t ticks)
{
    struct nytp_statement s = {NYTP_STATEMENT_COUNTS, 0, b->files.at[place->file].model.fid,
                               place->line};
    do {
        s.ticks = ticks > INT32_MAX ? INT32_MAX : (int32_t)ticks;
        ticks -= s.ticks;
        if (!nytp_builder_book_statement(b, s))
            return false;
        s.what = NYTP_STATEMENT_DISCOUNTED;
    } while (ticks > 0);
    return true;
}

/* Notes the reason of the sample that is about to be booked. */
static bool note_reason(struct nytp_builder *b, const struct nytp_hang *hang)
{
    b->waits.reason = hang->reason;
    return hang->reason == NYTP_WAIT_UNKNOWN ||
           nytp_builder_name(b, &hang->peer, &b->waits.peer);
}

static bool book_in_leaf(struct nytp_builder *b, const struct nytp_hang *hang,
                         const struct call *place)
{
    const int64_t wait_ticks = hang->ticks - hang->cpu_ticks, began = b->time_position;
    uint32_t name;
    b->waits.is_recorded = false;
    if (!nytp_builder_name(b, &hang->leaf, &name) ||
        (hang->leaf_is_xsub && !nytp_builder_xsub(b, name)) || !book(b, place, hang->ticks) ||
        !enter(b, place))
        return false;
    nytp_builder_process(b)->model.cpu_ticks -= wait_ticks;
    b->stack.frames[b->stack.top].start_ticks = began;
    b->stack.frames[b->stack.top].recorded_name = name;
    if (!nytp_callstack_hangs_in_top(&b->stack, hang->ticks, wait_ticks))
        return nytp_builder_tree_failed(b);
    return note_reason(b, hang) &&
           nytp_sample_waits_reason(&b->waits, b->processes.n - 1, place->file, place->line,
                                    wait_ticks);
}

static bool book_on_line(struct nytp_builder *b, const struct nytp_hang *hang,
                         const struct call *place)
{
    b->waits.recorded = hang->cpu_ticks;
    b->waits.is_recorded = true;
    b->waits.is_ready = false;
    b->waits.goes_on = false;
    return note_reason(b, hang) && book(b, place, hang->ticks);
}

bool nytp_builder_hang(struct nytp_builder *b, const struct nytp_hang *hang)
{
    struct calls calls;
    if (!nytp_builder_need_process(b) || !read_calls(b, *hang, &calls))
        return false;
    struct nytp_built_process *const process = nytp_builder_process(b);
    if (calls.n == 0 || !b->settings.sampled)
        return true;
    if (!process->has_entries && !nytp_builder_begin_entries(b, process))
        return nytp_builder_tree_failed(b);
    b->p->has |= NYTP_HAS_STATEMENTS | NYTP_HAS_ENTRIES;
    b->waits.leaf = (struct nytp_sampled_leaf){0};
    return go_to(b, &calls) && (hang->has_leaf ? book_in_leaf(b, hang, &calls.list[0])
                                               : book_on_line(b, hang, &calls.list[0]));
}
