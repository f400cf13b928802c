/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The calls that are open while a stream is read; see callstack.h.
 *
 * An example. Line 1 of the program calls f, whose line 5 calls the xsub x. Behind each event
 * stand the open frames with what waits in each, and the frame whose statement runs. (5) is the
 * time of a statement of line 5.
 *
 *     1 entry from line 1    main:               f:                  main
 *     2 time of line 1       main: (1)           f:                  f
 *     3 entry from line 5    main: (1)           f:           x:     f
 *     4 x returns            main: (1)           f: x                f
 *     5 f returns            main: (1) f{x ?}                        one that has returned
 *     6 time of line 5       main: (1) f{x (5)}                      main
 *     7 time of line 1       main: (1) f{x (5)} (1)                  main
 *     8 time of line 2       main: (1) f{x (5)} (1) (2)              main
 *     9 the process ends     nothing waits: all is in the tree
 *
 * At 5 the statement that runs began in f, but its time comes at 6 only: a place is kept for it
 * (NYTP_BOOK_RUNNING). The time at 7 is the rest of the statement that made the call. At 9 what
 * waits is read backwards: (2) and (1) are main's; f is a call of main's, from line 1; (5) and x
 * were inside it.
 */
#include "callstack.h"

#include "formats/base/arena.h"

#include <stdlib.h>
#include <string.h>

/* A frame with more bookings than these is not fresh. A fresh one has one of SVs, or two if a
 * call died, and a few samples. */
#define MOST_FRESH_SVS 8u

bool nytp_callstack_init(struct nytp_callstack *stack, uint64_t max_nodes)
{
    *stack = (struct nytp_callstack){0};
    return nytp_calltree_init(&stack->tree, max_nodes) &&
           nytp_grow(&stack->frames, &stack->frames_capacity, 0, sizeof *stack->frames) &&
           (stack->pending =
                malloc((NYTP_MAX_PENDING + NYTP_MAX_RUN) * sizeof *stack->pending)) != NULL;
}

void nytp_callstack_free(struct nytp_callstack *stack)
{
    nytp_calltree_free(&stack->tree);
    free(stack->frames);
    free(stack->pending);
    *stack = (struct nytp_callstack){0};
}

uint32_t nytp_callstack_begin(struct nytp_callstack *stack, uint32_t sub)
{
    const uint32_t root = nytp_calltree_new_node(&stack->tree);
    if (root == NYTP_NO_NODE)
        return NYTP_NO_NODE;
    stack->tree.nodes[root].sub = sub;
    stack->tree.nodes[root].parent = root;
    stack->tree.nodes[root].calls = 1;
    stack->top = 0;
    stack->base_depth = 0;
    stack->n_pending = 0;
    stack->frames[0] = (struct nytp_frame){.node = root, .entered = true};
    stack->owner_frame = 0;
    stack->running = NYTP_NO_BOOKING;
    stack->tree.owner = root;
    stack->returned_before = false;
    stack->resumed = false;
    return root;
}

/* The node of a frame, made if it has none. */
static uint32_t frame_node(struct nytp_callstack *stack, uint32_t index)
{
    if (stack->frames[index].node == NYTP_NO_NODE)
        stack->frames[index].node = nytp_calltree_new_node(&stack->tree);
    return stack->frames[index].node;
}

static bool push_frame(struct nytp_callstack *stack, uint32_t depth, struct nytp_frame frame)
{
    if (depth > NYTP_MAX_DEPTH || !nytp_grow(&stack->frames, &stack->frames_capacity,
                                             stack->top + 1, sizeof *stack->frames))
        return false;
    frame.depth = depth - stack->base_depth;
    frame.first_pending = stack->n_pending;
    stack->frames[++stack->top] = frame;
    return true;
}

/* Make the top frame one of this depth, which is not less than the top's. */
static bool imply_frame(struct nytp_callstack *stack, uint32_t depth)
{
    return nytp_callstack_depth(stack, stack->top) == depth ||
           push_frame(stack, depth, (struct nytp_frame){0});
}

bool nytp_callstack_entry(struct nytp_callstack *stack, uint32_t file, uint32_t line,
                          int64_t clock)
{
    return push_frame(stack, nytp_callstack_depth(stack, stack->top) + 1,
                      (struct nytp_frame){.file = file,
                                          .line = line,
                                          .entered = true,
                                          .entry_clock = clock,
                                          .start_ticks = clock});
}

void nytp_callstack_next_statement(struct nytp_callstack *stack)
{
    stack->owner_frame = stack->top;
}

/* Where the bookings of the frame at `index` end in the list: the next frame's begin there. */
static uint32_t pending_end(const struct nytp_callstack *stack, uint32_t index)
{
    return index == stack->top ? stack->n_pending : stack->frames[index + 1].first_pending;
}

bool nytp_callstack_frame_is_fresh(const struct nytp_callstack *stack, uint32_t index)
{
    const uint32_t end = pending_end(stack, index);
    uint32_t at = stack->frames[index].first_pending;
    if (stack->frames[index].node != NYTP_NO_NODE || end > at + MOST_FRESH_SVS)
        return false;
    while (at < end && (stack->pending[at].what & (NYTP_BOOK_SVS | NYTP_BOOK_SAMPLE)) != 0)
        at++;
    return at == end;
}

/* Book what waits from `first` on, which is the end of the list, on a node. */
static bool book_pending(struct nytp_callstack *stack, uint32_t first, uint32_t node)
{
    const uint32_t n = stack->n_pending - first;
    if (stack->running != NYTP_NO_BOOKING && stack->running >= first)
        stack->running = NYTP_NO_BOOKING; /* the tree says where it is from now on */
    stack->n_pending = first;
    return nytp_calltree_book(&stack->tree, node, &stack->pending[first], n);
}

/* Book all that waits. */
static bool book_all_pending(struct nytp_callstack *stack)
{
    for (uint32_t i = stack->top; stack->n_pending > 0; i--) {
        const uint32_t first = stack->frames[i].first_pending;
        if (stack->n_pending > first) {
            const uint32_t node = frame_node(stack, i);
            if (node == NYTP_NO_NODE || !book_pending(stack, first, node))
                return false;
        }
        stack->frames[i].first_pending = 0;
    }
    return true;
}

/* See to it that `n` more bookings can wait. */
static inline bool make_room(struct nytp_callstack *stack, uint32_t n)
{
    return stack->n_pending + n <= NYTP_MAX_PENDING || book_all_pending(stack);
}

bool nytp_callstack_statements(struct nytp_callstack *stack, uint32_t file,
                               const struct nytp_statement *run, uint32_t n, uint32_t what)
{
    _Static_assert(sizeof(struct nytp_statement) == sizeof(struct nytp_booking),
                   "statements lie in a list of bookings");
    if (!make_room(stack, n))
        return false;
    struct nytp_booking *const bookings = &stack->pending[stack->n_pending];
    if (run != &bookings->statement)
        memmove(bookings, run, n * sizeof *bookings);
    if (bookings->file != file)
        for (uint32_t i = 0; i < n; i++)
            bookings[i].file = file;
    bookings->what = what;
    stack->n_pending += n;
    return true;
}

static inline bool add_line(struct nytp_callstack *stack, uint32_t node,
                            const struct nytp_booking *statement)
{
    const struct nytp_tree_line more = {
        .node = node,
        .file = statement->file,
        .line = statement->line,
        .ticks = statement->ticks,
        .statements = statement->what & NYTP_BOOK_COUNTS,
        .after_leave = statement->what / NYTP_BOOK_AFTER_LEAVE,
    };
    return nytp_calltree_add_line(&stack->tree, &more);
}

/* The statement that runs began in a call that has returned. */
static bool add_running(struct nytp_callstack *stack, const struct nytp_booking *statement)
{
    if (stack->running == NYTP_NO_BOOKING)
        return add_line(stack, stack->tree.owner, statement);
    stack->pending[stack->running] = *statement;
    stack->running = NYTP_NO_BOOKING;
    return true;
}

bool nytp_callstack_statement(struct nytp_callstack *stack, uint32_t file, uint32_t line,
                              int32_t ticks, uint32_t what)
{
    const struct nytp_booking statement = {
        .what = what, .ticks = ticks, .file = file, .line = line};
    const uint32_t owner = stack->owner_frame;
    stack->owner_frame = stack->top;
    if (owner > stack->top)
        return add_running(stack, &statement);
    if (!make_room(stack, 1))
        return false;
    if (pending_end(stack, owner) == stack->n_pending) {
        stack->pending[stack->n_pending++] = statement;
        for (uint32_t i = owner + 1; i <= stack->top; i++)
            stack->frames[i].first_pending = stack->n_pending;
        return true;
    }
    const uint32_t node = frame_node(stack, owner);
    return node != NYTP_NO_NODE && add_line(stack, node, &statement);
}

/* Memory of the top frame waits: on its line if the running statement began there. */
static bool add_memory(struct nytp_callstack *stack, struct nytp_booking memory)
{
    if (!make_room(stack, 1))
        return false;
    if (stack->owner_frame != stack->top || memory.line == 0)
        memory.file = memory.line = 0;
    stack->pending[stack->n_pending++] = memory;
    return true;
}

bool nytp_callstack_svs(struct nytp_callstack *stack, uint32_t file, uint32_t line, int32_t svs)
{
    return add_memory(
        stack,
        (struct nytp_booking){.what = NYTP_BOOK_SVS, .svs = svs, .file = file, .line = line});
}

bool nytp_callstack_sample(struct nytp_callstack *stack, uint32_t file, uint32_t line,
                           struct nytp_tree_sample sample)
{
    const uint32_t index = nytp_calltree_new_sample(&stack->tree, sample);
    return index != 0 && add_memory(stack, (struct nytp_booking){.what = NYTP_BOOK_SAMPLE,
                                                                 .sample = index,
                                                                 .file = file,
                                                                 .line = line});
}

bool nytp_callstack_line_wait(struct nytp_callstack *stack, uint32_t file, uint32_t line,
                              int64_t ticks)
{
    if (stack->running != NYTP_NO_BOOKING && !book_all_pending(stack))
        return false;
    const uint32_t node = stack->owner_frame <= stack->top
                              ? frame_node(stack, stack->owner_frame)
                              : stack->tree.owner;
    const struct nytp_tree_line none = {.node = node, .file = file, .line = line};
    /* The line itself may wait still; its wait moves with it where the node is merged. */
    return node != NYTP_NO_NODE && nytp_calltree_add_line(&stack->tree, &none) &&
           nytp_tick_sums_add(&stack->tree.waits, nytp_wait_of_line(node, file, line), ticks);
}

bool nytp_callstack_waiter(struct nytp_callstack *stack)
{
    stack->tree.waiter = frame_node(stack, stack->top - 1);
    return stack->tree.waiter != NYTP_NO_NODE;
}

bool nytp_callstack_call_wait(struct nytp_callstack *stack, uint32_t sub, uint32_t file,
                              uint32_t line, int64_t ticks)
{
    const uint32_t node =
        nytp_calltree_add_child(&stack->tree, stack->tree.waiter, sub, file, line);
    return node != NYTP_NO_NODE &&
           nytp_tick_sums_add(&stack->tree.waits, nytp_wait_of_node(node), ticks);
}

/* The statement that runs was begun in frame `index`, which now becomes `node`. */
static void move_owner(struct nytp_callstack *stack, uint32_t index, uint32_t node)
{
    if (stack->owner_frame != index)
        return;
    stack->owner_frame = UINT32_MAX;
    stack->tree.owner = node;
}

/* Gives the nameless subtree of a frame, or a new one, its name and its place below the top
 * frame's node. The node gets what the frame has: its exclusive time, whether it never
 * returned, and what waits to be booked in it. */
static bool name_node(struct nytp_callstack *stack, const struct nytp_frame *frame,
                      uint32_t index, uint32_t sub, int64_t excl_ticks, bool unreturned)
{
    const uint32_t parent = frame_node(stack, stack->top);
    const uint32_t node = parent == NYTP_NO_NODE
                              ? NYTP_NO_NODE
                              : nytp_calltree_attach(&stack->tree, parent, frame->node, sub,
                                                     frame->file, frame->line);
    if (node == NYTP_NO_NODE)
        return false;
    struct nytp_tree_node *n = &stack->tree.nodes[node];
    n->calls += !frame->resumed;
    n->excl_ticks += excl_ticks;
    n->unreturned |= unreturned;
    n->hangs |= frame->hangs;
    if (unreturned && frame->recorded_name != 0)
        n->recorded_name = frame->recorded_name;
    move_owner(stack, index, node);
    return book_pending(stack, frame->first_pending, node);
}

/* Turns the pending bookings of a frame into a pending call of the top frame. The caller made
 * room for three bookings. */
static void close_call(struct nytp_callstack *stack, const struct nytp_frame *frame,
                       uint32_t index, uint32_t sub, int64_t excl_ticks)
{
    if (stack->owner_frame == index) {
        stack->owner_frame = UINT32_MAX;
        stack->running = stack->n_pending;
        stack->pending[stack->n_pending++] = (struct nytp_booking){.what = NYTP_BOOK_RUNNING};
    }
    struct nytp_booking *const call = &stack->pending[stack->n_pending];
    call[0] = (struct nytp_booking){.excl_ticks = excl_ticks,
                                    .inside = stack->n_pending - frame->first_pending};
    call[1] =
        (struct nytp_booking){.what = NYTP_BOOK_CALL | (frame->resumed ? 0 : NYTP_BOOK_COUNTS),
                              .sub = sub,
                              .file = frame->file,
                              .line = frame->line};
    stack->n_pending += 2;
}

/* A frame, which was at `index` and is off the stack, was a call of `sub` by the top frame. */
static bool name_frame(struct nytp_callstack *stack, const struct nytp_frame *frame,
                       uint32_t index, uint32_t sub, int64_t excl_ticks, bool unreturned)
{
    bool ok = true;
    if (frame->node != NYTP_NO_NODE || unreturned)
        ok = name_node(stack, frame, index, sub, excl_ticks, unreturned);
    else
        close_call(stack, frame, index, sub, excl_ticks);
    if (stack->frames[stack->top].first_pending > frame->first_pending)
        stack->frames[stack->top].first_pending = frame->first_pending;
    return ok;
}

/* The frame, off the stack, was no call of its own: it all happened in the top frame. */
static bool dissolve_frame(struct nytp_callstack *stack, const struct nytp_frame *frame,
                           uint32_t index)
{
    if (frame->node == NYTP_NO_NODE && stack->owner_frame != index)
        return true;
    const uint32_t parent = frame_node(stack, stack->top);
    if (parent == NYTP_NO_NODE)
        return false;
    move_owner(stack, index, parent);
    return frame->node == NYTP_NO_NODE ||
           nytp_calltree_merge(&stack->tree, frame->node, parent);
}

/* An implied frame that never returned: a run of them is one. */
static bool close_implied(struct nytp_callstack *stack, const struct nytp_frame *frame,
                          uint32_t index)
{
    if (frame->node == NYTP_NO_NODE)
        return dissolve_frame(stack, frame, index);
    const struct nytp_tree_node *n = &stack->tree.nodes[frame->node];
    const uint32_t child = n->first_child;
    if (n->first_line == 0 && child != NYTP_NO_NODE &&
        stack->tree.nodes[child].next_sibling == NYTP_NO_NODE &&
        stack->tree.nodes[child].sub == NYTP_NO_SUB)
        return dissolve_frame(stack, frame, index);
    return name_frame(stack, frame, index, NYTP_NO_SUB, 0, true);
}

/* Returns the difference of a frame's open time from a return's inclusive time. */
static int64_t mismatch(const struct nytp_frame *frame, int64_t incl_ticks, int64_t clock)
{
    const int64_t diff = clock - frame->entry_clock - incl_ticks;
    return diff < 0 ? -diff : diff;
}

/* Open frames were called from frames without an entry, which were open before the recording (a
 * fork, a late start). Before the first return of a process all of the root's belongs to the
 * deepest of them. */
static bool insert_missing(struct nytp_callstack *stack, uint32_t missing)
{
    if (stack->base_depth + (uint64_t)missing > NYTP_MAX_DEPTH || !book_all_pending(stack))
        return false;
    stack->base_depth += missing;
    const bool is_inserted =
        stack->top > 0 && !stack->frames[1].entered && stack->frames[1].depth == 0;
    if (stack->returned_before || is_inserted) /* frame 1 lies deeper now, too */
        return true;

    if (!nytp_grow(&stack->frames, &stack->frames_capacity, stack->top + 1,
                   sizeof *stack->frames))
        return false;
    memmove(&stack->frames[2], &stack->frames[1], stack->top * sizeof *stack->frames);
    stack->top++;
    if (stack->owner_frame > 0 && stack->owner_frame < stack->top)
        stack->owner_frame++;
    stack->frames[1] = (struct nytp_frame){0}; /* depth = base_depth */
    const uint32_t root = stack->frames[0].node, deepest = frame_node(stack, 1);
    if (deepest == NYTP_NO_NODE)
        return false;
    if (stack->owner_frame == 0)
        stack->owner_frame = 1;
    if (stack->owner_frame > stack->top && stack->tree.owner == root)
        stack->tree.owner = deepest;
    return nytp_calltree_move_content(&stack->tree, root, deepest);
}

/* A call at `depth` returns while deeper frames are open. Either the current frame returns, and
 * those between failed before they began (entries without a return); or an outer one, and the
 * current goes on in its place (goto &sub). It is the one that was open as long as the call
 * took. */
static bool is_goto(const struct nytp_callstack *stack, uint32_t depth, int64_t incl_ticks,
                    int64_t clock)
{
    if (stack->top < 2 || nytp_callstack_depth(stack, stack->top) != depth + 1 ||
        nytp_callstack_depth(stack, stack->top - 1) != depth)
        return false;
    const struct nytp_frame *outer = &stack->frames[stack->top - 1];
    const struct nytp_frame *current = &stack->frames[stack->top];
    return outer->entered && current->entered &&
           nytp_callstack_frame_is_fresh(stack, stack->top) &&
           mismatch(outer, incl_ticks, clock) < mismatch(current, incl_ticks, clock);
}

/* The returning frame gets the facts recorded about its return. */
static struct nytp_frame *returning_frame(struct nytp_callstack *stack, uint32_t index)
{
    struct nytp_frame *const frame = &stack->frames[index];
    frame->resumed = stack->resumed;
    stack->resumed = false;
    return frame;
}

/* The frame below the top returns, and the top one takes its place. */
static bool return_by_goto(struct nytp_callstack *stack, uint32_t depth, uint32_t sub,
                           int64_t excl_ticks)
{
    const struct nytp_frame target = stack->frames[stack->top];
    const uint32_t index = stack->top - 1;
    const struct nytp_frame jumper = *returning_frame(stack, index);
    const bool owns = stack->owner_frame == stack->top;
    stack->top -= 2;
    if (!imply_frame(stack, depth - 1) ||
        !name_frame(stack, &jumper, index, sub, excl_ticks, false) ||
        !push_frame(stack, depth, target))
        return false;
    if (owns)
        stack->owner_frame = stack->top;
    return true;
}

/* The top frame returns, and the frame below it is its caller. */
static inline bool return_to_caller(struct nytp_callstack *stack, uint32_t sub,
                                    int64_t excl_ticks)
{
    const uint32_t index = stack->top--;
    return name_frame(stack, returning_frame(stack, index), index, sub, excl_ticks, false);
}

/* The top frame returns at `depth`. Frames below it that are not less deep were calls that
 * failed before they began. */
static bool return_top(struct nytp_callstack *stack, uint32_t depth, uint32_t sub,
                       int64_t excl_ticks)
{
    const uint32_t index = stack->top;
    if (index > 1 && nytp_callstack_depth(stack, index - 1) >= depth &&
        !book_all_pending(stack))
        return false;
    const struct nytp_frame frame = *returning_frame(stack, index);
    uint32_t n_failed = 0;
    while (stack->top > 1 && nytp_callstack_depth(stack, stack->top - 1) >= depth) {
        stack->top--;
        n_failed++;
    }
    stack->top--;
    if (n_failed == 0)
        return imply_frame(stack, depth - 1) &&
               name_frame(stack, &frame, index, sub, excl_ticks, false);
    if (nytp_callstack_depth(stack, stack->top) !=
        depth - 1) { /* keep the failed ones clear of the push */
        stack->frames[stack->top + 1].entered = false;
        stack->frames[stack->top + 1].first_pending = stack->n_pending;
        stack->frames[++stack->top].depth = depth - 1 - stack->base_depth;
        n_failed--;
    }
    for (uint32_t i = index - n_failed; i < index; i++) {
        const struct nytp_frame failed = stack->frames[i];
        if (!dissolve_frame(stack, &failed, i))
            return false;
    }
    return name_frame(stack, &frame, index, sub, excl_ticks, false);
}

/* A call of which nothing else was told returns: it happened now. */
static bool return_unseen(struct nytp_callstack *stack, uint32_t depth, uint32_t sub,
                          int64_t excl_ticks)
{
    const struct nytp_frame frame = {.resumed = stack->resumed,
                                     .first_pending = stack->n_pending};
    const uint32_t index = stack->top + 1;
    stack->resumed = false;
    return imply_frame(stack, depth - 1) &&
           name_frame(stack, &frame, index, sub, excl_ticks, false);
}

bool nytp_callstack_return(struct nytp_callstack *stack, uint32_t depth, uint32_t sub,
                           int64_t incl_ticks, int64_t excl_ticks, int64_t clock)
{
    if (depth == 0)
        depth = 1;
    if (depth > NYTP_MAX_DEPTH || !make_room(stack, 3))
        return false;
    if (nytp_callstack_depth(stack, stack->top) == depth &&
        nytp_callstack_depth(stack, stack->top - 1) == depth - 1) { /* as nearly always */
        stack->returned_before = true;
        return return_to_caller(stack, sub, excl_ticks);
    }
    if (nytp_callstack_depth(stack, stack->top) < depth && stack->top > 0 &&
        stack->frames[stack->top].entered &&
        !insert_missing(stack, depth - nytp_callstack_depth(stack, stack->top)))
        return false;
    stack->returned_before = true;
    if (nytp_callstack_depth(stack, stack->top) < depth)
        return return_unseen(stack, depth, sub, excl_ticks);
    if (is_goto(stack, depth, incl_ticks, clock))
        return return_by_goto(stack, depth, sub, excl_ticks);

    /* implied frames deeper than this hold calls whose caller never returned */
    while (nytp_callstack_depth(stack, stack->top) > depth &&
           !stack->frames[stack->top].entered) {
        const uint32_t index = stack->top;
        if (!book_all_pending(stack))
            return false;
        const struct nytp_frame frame = stack->frames[index];
        stack->top--;
        if (nytp_callstack_depth(stack, stack->top) < depth && !imply_frame(stack, depth))
            return false;
        if (!close_implied(stack, &frame, index))
            return false;
    }
    return imply_frame(stack, nytp_callstack_depth(stack, stack->top) > depth
                                  ? nytp_callstack_depth(stack, stack->top)
                                  : depth) &&
           return_top(stack, depth, sub, excl_ticks);
}

/* The index of the last frame that is not deeper than this. */
static uint32_t deepest_up_to(const struct nytp_callstack *stack, uint32_t depth)
{
    uint32_t low = 0, high = stack->top;
    while (low < high) {
        const uint32_t middle = high - (high - low) / 2;
        if (nytp_callstack_depth(stack, middle) <= depth)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

bool nytp_callstack_note_name(struct nytp_callstack *stack, uint32_t depth, uint32_t sub)
{
    if (stack->top == 0 || depth == 0 || depth > NYTP_MAX_DEPTH)
        return true;
    const uint32_t deepest = nytp_callstack_depth(stack, stack->top);
    if (deepest < depth && stack->frames[stack->top].entered &&
        !insert_missing(stack, depth - deepest))
        return false;
    const uint32_t i = deepest_up_to(stack, depth);
    if (i > 0 && nytp_callstack_depth(stack, i) == depth && stack->frames[i].entered)
        stack->frames[i].recorded_name = sub;
    return true;
}

void nytp_callstack_resumed(struct nytp_callstack *stack)
{
    stack->resumed = true;
}

bool nytp_callstack_hangs_in_top(struct nytp_callstack *stack, int64_t ticks,
                                 int64_t wait_ticks)
{
    const uint32_t node = frame_node(stack, stack->top);
    stack->frames[stack->top].hangs = true;
    stack->frames[stack->top].excl_ticks = ticks;
    return node != NYTP_NO_NODE &&
           (wait_ticks == 0 ||
            nytp_tick_sums_add(&stack->tree.waits, nytp_wait_of_node(node), wait_ticks));
}

bool nytp_callstack_leave(struct nytp_callstack *stack, uint32_t top)
{
    if (!book_all_pending(stack))
        return false;
    while (stack->top > top) {
        const uint32_t index = stack->top;
        const struct nytp_frame frame = stack->frames[index];
        stack->top--;
        if (!(frame.entered
                  ? name_frame(stack, &frame, index, NYTP_NO_SUB, frame.excl_ticks, true)
                  : close_implied(stack, &frame, index)))
            return false;
    }
    return true;
}
