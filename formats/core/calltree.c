/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The growing calling-context tree; see calltree.h.
 */
#include "calltree.h"

#include "arena.h"

#include <stdlib.h>
#include <string.h>

bool nytp_calltree_init(struct nytp_calltree *tree, uint64_t max_nodes)
{
    *tree = (struct nytp_calltree){
        .max_nodes =
            max_nodes == 0 || max_nodes > NYTP_MAX_NODES ? NYTP_MAX_NODES : (uint32_t)max_nodes,
        .n_nodes = 1, /* index 0 means none */
        .n_lines = 1,
    };
    return nytp_grow(&tree->nodes, &tree->nodes_capacity, 0, sizeof *tree->nodes) &&
           nytp_grow(&tree->lines, &tree->lines_capacity, 0, sizeof *tree->lines) &&
           nytp_grow(&tree->frames, &tree->frames_capacity, 0, sizeof *tree->frames);
}

void nytp_calltree_free(struct nytp_calltree *tree)
{
    free(tree->nodes);
    free(tree->lines);
    free(tree->frames);
    free(tree->work);
    free(tree->pending);
    nytp_table_free(&tree->by_call);
    nytp_table_free(&tree->by_line);
    *tree = (struct nytp_calltree){0};
}

static uint32_t new_node(struct nytp_calltree *tree)
{
    uint32_t node = tree->free_nodes;
    if (tree->live_nodes >= tree->max_nodes)
        return NYTP_NO_NODE;
    if (node != NYTP_NO_NODE) {
        tree->free_nodes = tree->nodes[node].next_sibling;
    } else {
        if (!nytp_grow(&tree->nodes, &tree->nodes_capacity, tree->n_nodes, sizeof *tree->nodes))
            return NYTP_NO_NODE;
        node = tree->n_nodes++;
    }
    tree->live_nodes++;
    tree->nodes[node] = (struct nytp_tree_node){.sub = NYTP_NO_SUB};
    return node;
}

static void free_node(struct nytp_calltree *tree, uint32_t node)
{
    tree->live_nodes--;
    tree->nodes[node] = (struct nytp_tree_node){.sub = NYTP_NO_SUB};
    tree->nodes[node].next_sibling = tree->free_nodes;
    tree->free_nodes = node;
}

static struct nytp_key call_key(uint32_t parent, const struct nytp_tree_node *n)
{
    return (struct nytp_key){parent, n->sub, n->file, n->line};
}

static bool link_child(struct nytp_calltree *tree, uint32_t parent, uint32_t node)
{
    struct nytp_tree_node *n = &tree->nodes[node];
    n->parent = parent;
    n->next_sibling = tree->nodes[parent].first_child;
    tree->nodes[parent].first_child = node;
    return nytp_table_put(&tree->by_call, call_key(parent, n), node);
}

void nytp_calltree_unlink(struct nytp_calltree *tree, uint32_t node)
{
    const uint32_t parent = tree->nodes[node].parent;
    nytp_table_remove(&tree->by_call, call_key(parent, &tree->nodes[node]));
    uint32_t *link = &tree->nodes[parent].first_child;
    while (*link != node)
        link = &tree->nodes[*link].next_sibling;
    *link = tree->nodes[node].next_sibling;
}

uint32_t nytp_calltree_child(const struct nytp_calltree *tree, uint32_t parent, uint32_t sub,
                             uint32_t file, uint32_t line)
{
    const uint32_t node =
        nytp_table_get(&tree->by_call, (struct nytp_key){parent, sub, file, line});
    return node == NYTP_TABLE_NONE ? NYTP_NO_NODE : node;
}

uint32_t nytp_calltree_add_child(struct nytp_calltree *tree, uint32_t parent, uint32_t sub,
                                 uint32_t file, uint32_t line)
{
    uint32_t node = nytp_calltree_child(tree, parent, sub, file, line);
    if (node != NYTP_NO_NODE)
        return node;
    node = new_node(tree);
    if (node == NYTP_NO_NODE)
        return NYTP_NO_NODE;
    struct nytp_tree_node *n = &tree->nodes[node];
    n->sub = sub;
    n->file = file;
    n->line = line;
    return link_child(tree, parent, node) ? node : NYTP_NO_NODE;
}

static struct nytp_key line_key(const struct nytp_calltree *tree, uint32_t node,
                                uint32_t record)
{
    return (struct nytp_key){node, tree->lines[record].file, tree->lines[record].line, 0};
}

/* The record of a line of a node, or 0. */
static uint32_t find_line(const struct nytp_calltree *tree, uint32_t node, uint32_t file,
                          uint32_t line)
{
    const struct nytp_tree_node *n = &tree->nodes[node];
    if (n->n_lines > NYTP_UNINDEXED_LINES) {
        const uint32_t record =
            nytp_table_get(&tree->by_line, (struct nytp_key){node, file, line, 0});
        return record == NYTP_TABLE_NONE ? 0 : record;
    }
    uint32_t record = n->first_line;
    while (record != 0 &&
           (tree->lines[record].line != line || tree->lines[record].file != file))
        record = tree->lines[record].next;
    return record;
}

/* A node's lines are in by_line from the one on that makes them too many to walk. */
static bool index_lines(struct nytp_calltree *tree, uint32_t node)
{
    const struct nytp_tree_node *n = &tree->nodes[node];
    if (n->n_lines <= NYTP_UNINDEXED_LINES)
        return true;
    uint32_t record = n->first_line; /* the newest */
    const uint32_t last = n->n_lines == NYTP_UNINDEXED_LINES + 1 ? 0 : tree->lines[record].next;
    for (; record != last; record = tree->lines[record].next)
        if (!nytp_table_put(&tree->by_line, line_key(tree, node, record), record))
            return false;
    return true;
}

/* The record of a line of a node, made if need be; 0 when memory is out. */
static uint32_t line_record(struct nytp_calltree *tree, uint32_t node, uint32_t file,
                            uint32_t line)
{
    uint32_t record = find_line(tree, node, file, line);
    if (record != 0)
        return record;
    record = tree->free_lines;
    if (record != 0) {
        tree->free_lines = tree->lines[record].next;
    } else {
        if (!nytp_grow(&tree->lines, &tree->lines_capacity, tree->n_lines, sizeof *tree->lines))
            return 0;
        record = tree->n_lines++;
    }
    struct nytp_tree_node *n = &tree->nodes[node];
    tree->lines[record] =
        (struct nytp_tree_line){.file = file, .line = line, .next = n->first_line};
    n->first_line = record;
    n->n_lines++;
    return index_lines(tree, node) ? record : 0;
}

static uint32_t line_slot(uint32_t node, uint32_t file, uint32_t line)
{
    return (node * 61 + file * 17 + line) % NYTP_LINE_CACHE;
}

bool nytp_calltree_add_line(struct nytp_calltree *tree, uint32_t node, uint32_t file,
                            uint32_t line, int64_t ticks, uint64_t statements, uint64_t left)
{
    const uint32_t slot = line_slot(node, file, line);
    uint32_t record;
    if (tree->line_cache[slot].record != 0 && tree->line_cache[slot].node == node &&
        tree->line_cache[slot].file == file && tree->line_cache[slot].line == line) {
        record = tree->line_cache[slot].record;
    } else {
        record = line_record(tree, node, file, line);
        if (record == 0)
            return false;
        tree->line_cache[slot].node = node;
        tree->line_cache[slot].file = file;
        tree->line_cache[slot].line = line;
        tree->line_cache[slot].record = record;
    }
    tree->lines[record].ticks += ticks;
    tree->lines[record].statements += statements;
    tree->lines[record].left += left;
    return true;
}

/* Free a line record of a node that is about to go. */
static void drop_line(struct nytp_calltree *tree, uint32_t node, uint32_t record)
{
    struct nytp_tree_line *l = &tree->lines[record];
    if (tree->nodes[node].n_lines > NYTP_UNINDEXED_LINES)
        nytp_table_remove(&tree->by_line, line_key(tree, node, record));
    const uint32_t slot = line_slot(node, l->file, l->line);
    if (tree->line_cache[slot].record == record)
        tree->line_cache[slot].record = 0;
    l->next = tree->free_lines;
    tree->free_lines = record;
}

/* Book on a line of a node where many lines are booked in a row: mostly in the same order as
 * the last time, so each line remembers which came next. `*previous` is the line booked
 * before, 0 at first. */
static bool book_line(struct nytp_calltree *tree, uint32_t node, uint32_t *previous,
                      const struct nytp_pending *e)
{
    const uint32_t expected =
        *previous == 0 ? tree->nodes[node].follow : tree->lines[*previous].follow;
    uint32_t record = expected;
    if (expected == 0 || tree->lines[expected].line != e->line ||
        tree->lines[expected].file != e->file) {
        record = line_record(tree, node, e->file, e->line);
        if (record == 0)
            return false;
        *(*previous == 0 ? &tree->nodes[node].follow : &tree->lines[*previous].follow) = record;
    }
    tree->lines[record].ticks += e->ticks;
    tree->lines[record].statements += e->count;
    tree->lines[record].left += e->left;
    *previous = record;
    return true;
}

static bool merge_lines(struct nytp_calltree *tree, uint32_t from, uint32_t to)
{
    uint32_t previous = 0;
    for (uint32_t r = tree->nodes[from].first_line, next; r != 0; r = next) {
        const struct nytp_tree_line l = tree->lines[r];
        next = l.next;
        drop_line(tree, from, r);
        if (!book_line(
                tree, to, &previous,
                &(struct nytp_pending){
                    .file = l.file, .line = l.line, .ticks = l.ticks, .count = l.statements}))
            return false;
        tree->lines[previous].left += l.left;
    }
    tree->nodes[from].first_line = 0;
    tree->nodes[from].n_lines = 0;
    tree->nodes[from].follow = 0;
    return true;
}

static bool push_work(struct nytp_calltree *tree, uint32_t from, uint32_t to)
{
    if (!nytp_grow(&tree->work, &tree->work_capacity, tree->n_work + 1, sizeof *tree->work))
        return false;
    tree->work[tree->n_work++] = from;
    tree->work[tree->n_work++] = to;
    return true;
}

/* Hand each child of `from` to `to`, queueing those whose twin is there already. */
static bool merge_children(struct nytp_calltree *tree, uint32_t from, uint32_t to)
{
    for (uint32_t c = tree->nodes[from].first_child, next; c != NYTP_NO_NODE; c = next) {
        struct nytp_tree_node *n = &tree->nodes[c];
        next = n->next_sibling;
        nytp_table_remove(&tree->by_call, call_key(from, n));
        const uint32_t twin = nytp_calltree_child(tree, to, n->sub, n->file, n->line);
        if (!(twin == NYTP_NO_NODE ? link_child(tree, to, c) : push_work(tree, c, twin)))
            return false;
    }
    tree->nodes[from].first_child = NYTP_NO_NODE;
    return true;
}

/* Do what is queued: a list, not recursion, since trees can be a million deep. */
static bool drain_work(struct nytp_calltree *tree)
{
    while (tree->n_work > 0) {
        const uint32_t to = tree->work[--tree->n_work];
        const uint32_t from = tree->work[--tree->n_work];
        if (!merge_lines(tree, from, to) || !merge_children(tree, from, to))
            return false;
        tree->nodes[to].calls += tree->nodes[from].calls;
        tree->nodes[to].excl_ticks += tree->nodes[from].excl_ticks;
        if (tree->nodes[to].told == 0)
            tree->nodes[to].told = tree->nodes[from].told;
        if (tree->owner_node == from)
            tree->owner_node = to;
        free_node(tree, from);
    }
    return true;
}

bool nytp_calltree_merge(struct nytp_calltree *tree, uint32_t from, uint32_t to)
{
    return push_work(tree, from, to) && drain_work(tree);
}

uint32_t nytp_calltree_begin(struct nytp_calltree *tree, uint32_t sub)
{
    const uint32_t root = new_node(tree);
    if (root == NYTP_NO_NODE)
        return NYTP_NO_NODE;
    tree->nodes[root].sub = sub;
    tree->nodes[root].parent = root;
    tree->nodes[root].calls = 1;
    tree->top = 0;
    tree->base_depth = 0;
    tree->n_pending = 0;
    tree->frames[0] = (struct nytp_frame){.node = root, .entered = true};
    tree->owner_frame = 0;
    tree->owner_node = root;
    tree->returned_before = false;
    return root;
}

static uint32_t frame_node(struct nytp_calltree *tree, uint32_t index)
{
    struct nytp_frame *frame = &tree->frames[index];
    if (frame->node == NYTP_NO_NODE)
        frame->node = new_node(tree);
    return frame->node;
}

static uint32_t depth_of(const struct nytp_calltree *tree, uint32_t index)
{
    return index == 0 ? 0 : tree->frames[index].depth + tree->base_depth;
}

static bool push_frame(struct nytp_calltree *tree, uint32_t depth, struct nytp_frame frame)
{
    if (depth > NYTP_MAX_DEPTH ||
        !nytp_grow(&tree->frames, &tree->frames_capacity, tree->top + 1, sizeof *tree->frames))
        return false;
    frame.depth = depth - tree->base_depth;
    frame.first_pending = tree->n_pending;
    tree->frames[++tree->top] = frame;
    return true;
}

/* Make the top frame one of this depth, which is not less than the top's. */
static bool imply_frame(struct nytp_calltree *tree, uint32_t depth)
{
    return depth_of(tree, tree->top) == depth ||
           push_frame(tree, depth, (struct nytp_frame){0});
}

bool nytp_calltree_entry(struct nytp_calltree *tree, uint32_t file, uint32_t line,
                         int64_t clock)
{
    return push_frame(tree, depth_of(tree, tree->top) + 1,
                      (struct nytp_frame){.file = file,
                                          .line = line,
                                          .entered = true,
                                          .entry_clock = clock,
                                          .start_ticks = clock});
}

void nytp_calltree_next_statement(struct nytp_calltree *tree)
{
    tree->owner_frame = tree->top;
}

static bool book_calls(struct nytp_calltree *tree, const struct nytp_pending *entry,
                       uint32_t parent)
{
    const uint32_t node =
        nytp_calltree_add_child(tree, parent, entry->sub, entry->file, entry->line);
    if (node == NYTP_NO_NODE)
        return false;
    tree->nodes[node].calls += entry->count;
    tree->nodes[node].excl_ticks += entry->ticks;
    return true;
}

/* Book the pending entries from `first` on, which are the topmost, on a node. */
static bool book_pending(struct nytp_calltree *tree, uint32_t first, uint32_t node)
{
    uint32_t previous = 0;
    for (uint32_t i = first; i < tree->n_pending; i++) {
        const struct nytp_pending *e = &tree->pending[i];
        if (!(e->sub == NYTP_NO_SUB ? book_line(tree, node, &previous, e)
                                    : book_calls(tree, e, node)))
            return false;
    }
    if (tree->n_pending > first)
        tree->n_pending = first;
    return true;
}

static uint32_t pending_end(const struct nytp_calltree *tree, uint32_t index)
{
    return index == tree->top ? tree->n_pending : tree->frames[index + 1].first_pending;
}

bool nytp_calltree_frame_is_fresh(const struct nytp_calltree *tree, uint32_t index)
{
    return tree->frames[index].node == NYTP_NO_NODE &&
           pending_end(tree, index) == tree->frames[index].first_pending;
}

/* Book what is pending in the frames from the top down to `index` on their nodes. */
static bool book_frames(struct nytp_calltree *tree, uint32_t index)
{
    for (uint32_t i = tree->top; i >= index && i > 0; i--) {
        if (tree->n_pending <= tree->frames[i].first_pending)
            continue;
        const uint32_t node = frame_node(tree, i);
        if (node == NYTP_NO_NODE || !book_pending(tree, tree->frames[i].first_pending, node))
            return false;
    }
    return true;
}

#define MAX_PENDING 256 /* entries of one frame */

/* Add to a pending entry of the frame at `index`, whose entries must be the topmost. The hint
 * may miss an entry that is there: a second one does no harm. */
static bool add_pending(struct nytp_calltree *tree, uint32_t index,
                        const struct nytp_pending *added)
{
    const uint32_t first = tree->frames[index].first_pending;
    uint32_t *hint = &tree->pending_hint[(added->line * 5 + added->file + added->sub * 3) %
                                         NYTP_PENDING_HINTS];
    if (*hint >= first && *hint < tree->n_pending) {
        struct nytp_pending *e = &tree->pending[*hint];
        if (e->line == added->line && e->file == added->file && e->sub == added->sub &&
            e->left <= UINT32_MAX - added->left) {
            e->ticks += added->ticks;
            e->left += added->left;
            e->count += added->count;
            return true;
        }
    }
    if (tree->n_pending - first >= MAX_PENDING) {
        const uint32_t node = frame_node(tree, index);
        tree->frames[index].spilled = true;
        if (node == NYTP_NO_NODE || !book_pending(tree, first, node))
            return false;
    }
    if (!nytp_grow(&tree->pending, &tree->pending_capacity, tree->n_pending,
                   sizeof *tree->pending))
        return false;
    *hint = tree->n_pending;
    tree->pending[tree->n_pending++] = *added;
    return true;
}

bool nytp_calltree_statement(struct nytp_calltree *tree, uint32_t file, uint32_t line,
                             int64_t ticks, uint32_t statements, uint32_t left)
{
    const uint32_t owner = tree->owner_frame;
    uint32_t node = tree->owner_node;
    tree->owner_frame = tree->top;
    if (owner <= tree->top) {
        if (owner > 0 && !tree->frames[owner].spilled &&
            pending_end(tree, owner) == tree->n_pending) {
            const bool ok = add_pending(tree, owner,
                                        &(struct nytp_pending){.sub = NYTP_NO_SUB,
                                                               .file = file,
                                                               .line = line,
                                                               .left = left,
                                                               .ticks = ticks,
                                                               .count = statements});
            for (uint32_t i = owner + 1; i <= tree->top; i++)
                tree->frames[i].first_pending = tree->n_pending;
            return ok;
        }
        node = frame_node(tree, owner);
    }
    return node != NYTP_NO_NODE &&
           nytp_calltree_add_line(tree, node, file, line, ticks, statements, left);
}

/* The statement that runs was begun in frame `index`, which now becomes `node`. */
static void move_owner(struct nytp_calltree *tree, uint32_t index, uint32_t node)
{
    if (tree->owner_frame != index)
        return;
    tree->owner_frame = UINT32_MAX;
    tree->owner_node = node;
}

/* Turn the subtree of a frame, which was at `index` and is off the stack, into (part of) a
 * named child of the top frame. */
static bool name_subtree(struct nytp_calltree *tree, const struct nytp_frame *frame,
                         uint32_t index, uint32_t sub, int64_t excl_ticks, bool unreturned)
{
    if (frame->node == NYTP_NO_NODE && tree->n_pending == frame->first_pending && !unreturned &&
        tree->owner_frame != index && tree->top > 0 && !tree->frames[tree->top].spilled)
        return add_pending(tree, tree->top,
                           &(struct nytp_pending){.sub = sub,
                                                  .file = frame->file,
                                                  .line = frame->line,
                                                  .ticks = excl_ticks,
                                                  .count = 1});
    const uint32_t parent = frame_node(tree, tree->top);
    if (parent == NYTP_NO_NODE)
        return false;
    uint32_t node = nytp_calltree_child(tree, parent, sub, frame->file, frame->line);
    if (node == NYTP_NO_NODE) {
        node = frame->node != NYTP_NO_NODE ? frame->node : new_node(tree);
        if (node == NYTP_NO_NODE)
            return false;
        tree->nodes[node].sub = sub;
        tree->nodes[node].file = frame->file;
        tree->nodes[node].line = frame->line;
        if (!link_child(tree, parent, node))
            return false;
    } else if (frame->node != NYTP_NO_NODE && !nytp_calltree_merge(tree, frame->node, node)) {
        return false;
    }
    struct nytp_tree_node *n = &tree->nodes[node];
    n->calls += 1;
    n->excl_ticks += excl_ticks;
    n->unreturned |= unreturned;
    if (unreturned && frame->told != 0)
        n->told = frame->told;
    move_owner(tree, index, node);
    if (!book_pending(tree, frame->first_pending, node))
        return false;
    if (tree->frames[tree->top].first_pending > tree->n_pending)
        tree->frames[tree->top].first_pending = tree->n_pending;
    return true;
}

/* The frame, off the stack, was no call of its own: it all happened in the top frame. */
static bool dissolve_frame(struct nytp_calltree *tree, const struct nytp_frame *frame,
                           uint32_t index)
{
    if (frame->node == NYTP_NO_NODE && tree->owner_frame != index)
        return true;
    const uint32_t parent = frame_node(tree, tree->top);
    if (parent == NYTP_NO_NODE)
        return false;
    move_owner(tree, index, parent);
    return frame->node == NYTP_NO_NODE || nytp_calltree_merge(tree, frame->node, parent);
}

/* An implied frame that never returned: a run of them is one. */
static bool close_implied(struct nytp_calltree *tree, const struct nytp_frame *frame,
                          uint32_t index)
{
    if (frame->node == NYTP_NO_NODE)
        return dissolve_frame(tree, frame, index);
    const struct nytp_tree_node *n = &tree->nodes[frame->node];
    const uint32_t child = n->first_child;
    if (n->first_line == 0 && child != NYTP_NO_NODE &&
        tree->nodes[child].next_sibling == NYTP_NO_NODE &&
        tree->nodes[child].sub == NYTP_NO_SUB)
        return dissolve_frame(tree, frame, index);
    return name_subtree(tree, frame, index, NYTP_NO_SUB, 0, true);
}

static int64_t mismatch(const struct nytp_frame *frame, int64_t incl_ticks, int64_t clock)
{
    const int64_t diff = clock - frame->entry_clock - incl_ticks;
    return diff < 0 ? -diff : diff;
}

/* Frames that no entry announced lie below those that are open: what is open now was called
 * from frames that were there before the recording (a fork, a late start). Before the first
 * return of a process all that was taken for the root's belongs to the deepest of them. */
static bool insert_missing(struct nytp_calltree *tree, uint32_t missing)
{
    if (tree->base_depth + (uint64_t)missing > NYTP_MAX_DEPTH)
        return false;
    tree->base_depth += missing;
    if (tree->returned_before)
        return true;

    if (!nytp_grow(&tree->frames, &tree->frames_capacity, tree->top + 1, sizeof *tree->frames))
        return false;
    memmove(&tree->frames[2], &tree->frames[1], tree->top * sizeof *tree->frames);
    tree->top++;
    if (tree->owner_frame > 0 && tree->owner_frame < tree->top)
        tree->owner_frame++;
    tree->frames[1] = (struct nytp_frame){0}; /* depth = base_depth */
    const uint32_t root = tree->frames[0].node, deepest = frame_node(tree, 1);
    if (deepest == NYTP_NO_NODE)
        return false;
    if (tree->owner_frame == 0)
        tree->owner_frame = 1;
    if (tree->owner_frame > tree->top && tree->owner_node == root)
        tree->owner_node = deepest;
    return merge_lines(tree, root, deepest) && merge_children(tree, root, deepest) &&
           drain_work(tree);
}

/* A call at `depth` returns while more frames than that are open. Either the current frame
 * returns and those between were calls that failed before they began (entries without a
 * return), or an outer frame does and the current one goes on in its place (goto &sub). The
 * time tells: the frame that was open for as long as the call took. */
static bool is_goto(const struct nytp_calltree *tree, uint32_t depth, int64_t incl_ticks,
                    int64_t clock)
{
    if (tree->top < 2 || depth_of(tree, tree->top) != depth + 1 ||
        depth_of(tree, tree->top - 1) != depth)
        return false;
    const struct nytp_frame *outer = &tree->frames[tree->top - 1];
    const struct nytp_frame *current = &tree->frames[tree->top];
    return outer->entered && current->entered &&
           nytp_calltree_frame_is_fresh(tree, tree->top) &&
           mismatch(outer, incl_ticks, clock) < mismatch(current, incl_ticks, clock);
}

static bool return_by_goto(struct nytp_calltree *tree, uint32_t depth, uint32_t sub,
                           int64_t excl_ticks)
{
    const struct nytp_frame target = tree->frames[tree->top];
    const uint32_t index = tree->top - 1;
    const struct nytp_frame jumper = tree->frames[index];
    tree->top -= 2;
    return imply_frame(tree, depth - 1) &&
           name_subtree(tree, &jumper, index, sub, excl_ticks, false) &&
           push_frame(tree, depth, target);
}

/* The top frame returns at `depth`. Frames below it that are not less deep were calls that
 * failed before they began. */
static bool return_top(struct nytp_calltree *tree, uint32_t depth, uint32_t sub,
                       int64_t excl_ticks)
{
    const uint32_t index = tree->top;
    if (index > 1 && depth_of(tree, index - 1) >= depth) {
        uint32_t lowest = index;
        while (lowest > 1 && depth_of(tree, lowest - 1) >= depth)
            lowest--;
        if (!book_frames(tree, lowest))
            return false;
    }
    struct nytp_frame frame = tree->frames[index];
    uint32_t n_failed = 0;
    while (tree->top > 1 && depth_of(tree, tree->top - 1) >= depth) {
        tree->top--;
        n_failed++;
    }
    tree->top--;
    if (n_failed == 0)
        return imply_frame(tree, depth - 1) &&
               name_subtree(tree, &frame, index, sub, excl_ticks, false);
    if (depth_of(tree, tree->top) != depth - 1) { /* keep the failed ones clear of the push */
        tree->frames[tree->top + 1].entered = false;
        tree->frames[tree->top + 1].first_pending = tree->n_pending;
        tree->frames[++tree->top].depth = depth - 1 - tree->base_depth;
        n_failed--;
    }
    for (uint32_t i = index - n_failed; i < index; i++) {
        const struct nytp_frame failed = tree->frames[i];
        if (!dissolve_frame(tree, &failed, i))
            return false;
    }
    return name_subtree(tree, &frame, index, sub, excl_ticks, false);
}

bool nytp_calltree_return(struct nytp_calltree *tree, uint32_t depth, uint32_t sub,
                          int64_t incl_ticks, int64_t excl_ticks, int64_t clock)
{
    if (depth == 0)
        depth = 1;
    if (depth > NYTP_MAX_DEPTH)
        return false;
    if (depth_of(tree, tree->top) < depth && tree->top > 0 && tree->frames[tree->top].entered &&
        !insert_missing(tree, depth - depth_of(tree, tree->top)))
        return false;
    tree->returned_before = true;
    if (is_goto(tree, depth, incl_ticks, clock))
        return return_by_goto(tree, depth, sub, excl_ticks);

    /* implied frames deeper than this hold calls whose caller never returned */
    while (depth_of(tree, tree->top) > depth && !tree->frames[tree->top].entered) {
        const uint32_t index = tree->top;
        if (!book_frames(tree, index))
            return false;
        const struct nytp_frame frame = tree->frames[index];
        tree->top--;
        if (depth_of(tree, tree->top) < depth && !imply_frame(tree, depth))
            return false;
        if (!close_implied(tree, &frame, index))
            return false;
    }
    return imply_frame(tree,
                       depth_of(tree, tree->top) > depth ? depth_of(tree, tree->top) : depth) &&
           return_top(tree, depth, sub, excl_ticks);
}

bool nytp_calltree_tell(struct nytp_calltree *tree, uint32_t depth, uint32_t sub)
{
    if (tree->top == 0 || depth == 0 || depth > NYTP_MAX_DEPTH)
        return true;
    const uint32_t deepest = depth_of(tree, tree->top);
    if (deepest < depth && tree->frames[tree->top].entered &&
        !insert_missing(tree, depth - deepest))
        return false;
    uint32_t i = tree->top;
    while (i > 0 && depth_of(tree, i) > depth)
        i--;
    if (i > 0 && depth_of(tree, i) == depth && tree->frames[i].entered)
        tree->frames[i].told = sub;
    return true;
}

bool nytp_calltree_end(struct nytp_calltree *tree)
{
    while (tree->top > 0) {
        const uint32_t index = tree->top;
        if (!book_frames(tree, index))
            return false;
        const struct nytp_frame frame = tree->frames[index];
        tree->top--;
        if (!(frame.entered ? name_subtree(tree, &frame, index, NYTP_NO_SUB, 0, true)
                            : close_implied(tree, &frame, index)))
            return false;
    }
    return true;
}
