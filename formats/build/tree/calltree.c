/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The calling-context tree while it grows; see calltree.h.
 */
#include "calltree.h"

#include "formats/base/arena.h"
#include "formats/model/svs.h"

#include <stdlib.h>

#define CACHE_FIRST 1024u /* entries */
#define CACHE_MOST  262144u
#define CACHE_SHARE 16u /* entries for each that is to be found */

/* The cache for this many. What it knew is found again without it, and so is all if there is no
 * memory for more. */
static bool cache_for(struct nytp_tree_cache *cache, uint32_t n)
{
    uint32_t size = cache->of == NULL ? CACHE_FIRST : cache->mask + 1;
    if (cache->of != NULL && (size == CACHE_MOST || n <= size / CACHE_SHARE))
        return true;
    while (size < CACHE_MOST && n > size / CACHE_SHARE)
        size *= 4;
    uint32_t *const wider = calloc(size, sizeof *wider);
    if (wider == NULL)
        return cache->of != NULL;
    free(cache->of);
    *cache = (struct nytp_tree_cache){wider, size - 1};
    return true;
}

bool nytp_calltree_init(struct nytp_calltree *tree, uint64_t max_nodes)
{
    *tree = (struct nytp_calltree){
        .max_nodes =
            max_nodes == 0 || max_nodes > NYTP_MAX_NODES ? NYTP_MAX_NODES : (uint32_t)max_nodes,
        .n_nodes = 1, /* index 0 means none */
        .n_lines = 1,
    };
    if (!cache_for(&tree->line_cache, 0) || !cache_for(&tree->call_cache, 0) ||
        !nytp_grow(&tree->nodes, &tree->nodes_capacity, 0, sizeof *tree->nodes) ||
        !nytp_grow(&tree->lines, &tree->lines_capacity, 0, sizeof *tree->lines))
        return false;
    tree->nodes[0] = (struct nytp_tree_node){.sub = NYTP_NO_SUB};
    tree->lines[0] = (struct nytp_tree_line){.node = NYTP_NO_NODE};
    return true;
}

void nytp_calltree_free(struct nytp_calltree *tree)
{
    free(tree->nodes);
    free(tree->lines);
    free(tree->node_memory.of);
    free(tree->line_memory.of);
    free(tree->samples.at);
    free(tree->work.at);
    free(tree->booked_calls.at);
    free(tree->line_cache.of);
    free(tree->call_cache.of);
    nytp_table_free(&tree->by_call);
    nytp_table_free(&tree->by_line);
    nytp_tick_sums_free(&tree->waits);
    *tree = (struct nytp_calltree){0};
}

uint32_t nytp_calltree_new_node(struct nytp_calltree *tree)
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
        cache_for(&tree->call_cache, tree->n_nodes);
    }
    tree->live_nodes++;
    tree->nodes[node] = (struct nytp_tree_node){.sub = NYTP_NO_SUB};
    return node;
}

/* Freed nodes are a list by next_sibling. */
static void free_node(struct nytp_calltree *tree, uint32_t node)
{
    tree->live_nodes--;
    tree->nodes[node] = (struct nytp_tree_node){.sub = NYTP_NO_SUB};
    tree->nodes[node].next_sibling = tree->free_nodes;
    tree->free_nodes = node;
}

/* Returns the key that finds a named node among its siblings. */
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

/* Where a node has its place in the cache. */
static inline uint32_t *cached_call(const struct nytp_calltree *tree, uint32_t parent,
                                    uint32_t sub, uint32_t file, uint32_t line)
{
    const uint32_t slot = parent * 61 + sub * 17 + file * 7 + line;
    return &tree->call_cache.of[slot & tree->call_cache.mask];
}

uint32_t nytp_calltree_child(const struct nytp_calltree *tree, uint32_t parent, uint32_t sub,
                             uint32_t file, uint32_t line)
{
    /* A node that is not linked has another parent: none, or, a root, itself. */
    const uint32_t cached = *cached_call(tree, parent, sub, file, line);
    const struct nytp_tree_node *const n = &tree->nodes[cached];
    if (n->parent == parent && n->line == line && n->sub == sub && n->file == file &&
        cached != parent)
        return cached;
    const uint32_t node =
        nytp_table_get(&tree->by_call, (struct nytp_key){parent, sub, file, line});
    return node == NYTP_TABLE_NONE ? NYTP_NO_NODE : node;
}

uint32_t nytp_calltree_attach(struct nytp_calltree *tree, uint32_t parent, uint32_t subtree,
                              uint32_t sub, uint32_t file, uint32_t line)
{
    uint32_t node = nytp_calltree_child(tree, parent, sub, file, line);
    if (node == NYTP_NO_NODE) {
        node = subtree != NYTP_NO_NODE ? subtree : nytp_calltree_new_node(tree);
        if (node == NYTP_NO_NODE)
            return NYTP_NO_NODE;
        tree->nodes[node].sub = sub;
        tree->nodes[node].file = file;
        tree->nodes[node].line = line;
        return link_child(tree, parent, node) ? node : NYTP_NO_NODE;
    }
    if (subtree != NYTP_NO_NODE && !nytp_calltree_merge(tree, subtree, node))
        return NYTP_NO_NODE;
    return node;
}

uint32_t nytp_calltree_add_child(struct nytp_calltree *tree, uint32_t parent, uint32_t sub,
                                 uint32_t file, uint32_t line)
{
    uint32_t node = nytp_calltree_child(tree, parent, sub, file, line);
    if (node == NYTP_NO_NODE)
        node = nytp_calltree_attach(tree, parent, NYTP_NO_NODE, sub, file, line);
    *cached_call(tree, parent, sub, file, line) = node;
    return node;
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

/* The same, made if need be; 0 when memory is out. */
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
        cache_for(&tree->line_cache, tree->n_lines);
    }
    struct nytp_tree_node *n = &tree->nodes[node];
    tree->lines[record] = (struct nytp_tree_line){
        .node = node, .file = file, .line = line, .next = n->first_line};
    n->first_line = record;
    n->n_lines++;
    return index_lines(tree, node) ? record : 0;
}

/* Where a line has its place in the cache: the lines of a node stand side by side, anywhere.
 * Its low bits are meant. */
static inline uint32_t line_slot(uint32_t node, uint32_t file, uint32_t line)
{
    return (node * 0x9E3779B1u >> 12) + file * 8 + line;
}

/* The record of a line of a node, made if need be; 0 when memory is out. */
static inline uint32_t cached_line_record(struct nytp_calltree *tree, uint32_t slot,
                                          uint32_t node, uint32_t file, uint32_t line)
{
    const uint32_t cached = tree->line_cache.of[slot & tree->line_cache.mask];
    const struct nytp_tree_line *const l = &tree->lines[cached];
    if (l->line == line && l->node == node && l->file == file)
        return cached;
    const uint32_t record = line_record(tree, node, file, line);
    tree->line_cache.of[slot & tree->line_cache.mask] = record;
    return record;
}

bool nytp_calltree_add_line(struct nytp_calltree *tree, const struct nytp_tree_line *more)
{
    const uint32_t node = more->node, file = more->file, line = more->line;
    const uint32_t record =
        cached_line_record(tree, line_slot(node, file, line), node, file, line);
    if (record == 0)
        return false;
    tree->lines[record].ticks += more->ticks;
    tree->lines[record].statements += more->statements;
    tree->lines[record].after_leave += more->after_leave;
    return true;
}

uint32_t nytp_calltree_new_sample(struct nytp_calltree *tree, struct nytp_tree_sample sample)
{
    const uint32_t index = tree->samples.n == 0 ? 1 : tree->samples.n;
    tree->samples.n = index;
    if (index > NYTP_MAX_SAMPLES || !NYTP_GROW(&tree->samples))
        return 0;
    tree->samples.n++;
    sample.next = index;
    tree->samples.at[index] = sample;
    return index;
}

/* Adds SVs, and appends the list of samples. */
static bool add_memory(struct nytp_calltree *tree, struct nytp_tree_memories *memories,
                       uint32_t index, struct nytp_tree_memory more)
{
    if (more.svs == 0 && more.last_sample == 0)
        return true;
    if (!nytp_reserve_zeroed(&memories->of, &memories->capacity, (uint64_t)index + 1,
                             sizeof *memories->of))
        return false;
    struct nytp_tree_memory *const sum = &memories->of[index];
    sum->svs += more.svs;
    if (sum->last_sample != 0 && more.last_sample != 0) {
        const uint32_t first = tree->samples.at[sum->last_sample].next;
        tree->samples.at[sum->last_sample].next = tree->samples.at[more.last_sample].next;
        tree->samples.at[more.last_sample].next = first;
    }
    if (more.last_sample != 0)
        sum->last_sample = more.last_sample;
    return true;
}

static struct nytp_tree_memory memory_of(const struct nytp_tree_memories *memories,
                                         uint32_t index)
{
    return index < memories->capacity ? memories->of[index] : (struct nytp_tree_memory){0};
}

/* Returns the memory at an index, which has none afterwards. */
static struct nytp_tree_memory take_memory(struct nytp_tree_memories *memories, uint32_t index)
{
    const struct nytp_tree_memory memory = memory_of(memories, index);
    if (index < memories->capacity)
        memories->of[index] = (struct nytp_tree_memory){0};
    return memory;
}

/* Adds memory to a node's line record, or with line 0 to the node. */
static bool add_memory_at(struct nytp_calltree *tree, uint32_t node, uint32_t file,
                          uint32_t line, struct nytp_tree_memory more)
{
    if (line == 0)
        return add_memory(tree, &tree->node_memory, node, more);
    const uint32_t record =
        cached_line_record(tree, line_slot(node, file, line), node, file, line);
    return record != 0 && add_memory(tree, &tree->line_memory, record, more);
}

bool nytp_calltree_book_sample(struct nytp_calltree *tree, uint32_t node, uint32_t file,
                               uint32_t line, uint32_t sample)
{
    return add_memory_at(tree, node, file, line,
                         (struct nytp_tree_memory){.last_sample = sample});
}

static void add_sample(struct nytp_svs *sum, const struct nytp_tree_sample *sample)
{
    const int64_t objects = (int64_t)sample->objects, space = (int64_t)sample->space;
    if (!sample->is_from_before) {
        sum->bytes.of[NYTP_ALLOC_OBJECTS] += objects;
        sum->bytes.of[NYTP_ALLOC_SPACE] += space;
    }
    sum->peak_space += sample->is_of_peak ? space : 0;
    if (sample->freed_as != 0)
        return;
    sum->bytes.of[NYTP_INUSE_OBJECTS] += objects;
    sum->bytes.of[NYTP_INUSE_SPACE] += space;
    if (sample->is_inherited)
        nytp_in_use_add(&sum->inherited, (struct nytp_in_use){objects, space});
}

struct nytp_svs nytp_calltree_svs(const struct nytp_calltree *tree,
                                  const struct nytp_tree_memories *memories, uint32_t index)
{
    const struct nytp_tree_memory memory = memory_of(memories, index);
    struct nytp_svs svs = {.net = memory.svs};
    for (uint32_t i = memory.last_sample; i != 0;) {
        add_sample(&svs, &tree->samples.at[i]);
        i = tree->samples.at[i].next == memory.last_sample ? 0 : tree->samples.at[i].next;
    }
    return svs;
}

/* Free a line record of a node that is about to go. */
static void drop_line(struct nytp_calltree *tree, uint32_t node, uint32_t record)
{
    struct nytp_tree_line *l = &tree->lines[record];
    if (tree->nodes[node].n_lines > NYTP_UNINDEXED_LINES)
        nytp_table_remove(&tree->by_line, line_key(tree, node, record));
    l->node = NYTP_NO_NODE;
    l->next = tree->free_lines;
    tree->free_lines = record;
}

/* Books the statements before index `at`, back to the call's first booking or to another kind
 * of booking. Returns the index of the last one booked; UINT32_MAX if memory is out. */
static uint32_t book_lines(struct nytp_calltree *tree, struct nytp_booked_call call,
                           const struct nytp_booking *bookings, uint32_t at)
{
    const uint32_t node = call.node, of_node = line_slot(node, 0, 0);
    const struct nytp_booking *e = &bookings[at], *const first = &bookings[call.first];
    struct nytp_tree_line *lines = tree->lines;
    struct nytp_tree_cache cache = tree->line_cache;
    for (; e > first && e[-1].what < NYTP_BOOK_SVS; e--) {
        const uint32_t file = e[-1].file, line = e[-1].line;
        const uint32_t slot = of_node + line_slot(0, file, line);
        struct nytp_tree_line *l = &lines[cache.of[slot & cache.mask]];
        if (l->line != line || l->node != node || l->file != file) {
            const uint32_t record = cached_line_record(tree, slot, node, file, line);
            if (record == 0)
                return UINT32_MAX;
            lines = tree->lines;
            cache = tree->line_cache;
            l = &lines[record];
        }
        l->ticks += e[-1].ticks;
        l->statements += e[-1].what & NYTP_BOOK_COUNTS;
        l->after_leave += e[-1].what / NYTP_BOOK_AFTER_LEAVE;
    }
    return (uint32_t)(e - bookings);
}

/* Add the lines of `from` to those of `to` and free them. */
static bool merge_lines(struct nytp_calltree *tree, uint32_t from, uint32_t to)
{
    for (uint32_t r = tree->nodes[from].first_line, next; r != 0; r = next) {
        struct nytp_tree_line l = tree->lines[r];
        next = l.next;
        l.node = to;
        drop_line(tree, from, r);
        if (!nytp_calltree_add_line(tree, &l) ||
            !add_memory_at(tree, to, l.file, l.line, take_memory(&tree->line_memory, r)))
            return false;
        if (tree->waits.n > 0 &&
            !nytp_tick_sums_move(&tree->waits, nytp_wait_of_line(from, l.file, l.line),
                                 nytp_wait_of_line(to, l.file, l.line)))
            return false;
    }
    tree->nodes[from].first_line = 0;
    tree->nodes[from].n_lines = 0;
    return true;
}

/* Queue two nodes: the first is to be merged into the second. */
static bool push_work(struct nytp_calltree *tree, uint32_t from, uint32_t to)
{
    if (!nytp_grow(&tree->work.at, &tree->work.capacity, tree->work.n + 1, sizeof from))
        return false;
    tree->work.at[tree->work.n++] = from;
    tree->work.at[tree->work.n++] = to;
    return true;
}

/* Hand each child of `from` to `to`, queueing those for which there is such a call already. */
static bool merge_children(struct nytp_calltree *tree, uint32_t from, uint32_t to)
{
    for (uint32_t c = tree->nodes[from].first_child, next; c != NYTP_NO_NODE; c = next) {
        struct nytp_tree_node *n = &tree->nodes[c];
        next = n->next_sibling;
        nytp_table_remove(&tree->by_call, call_key(from, n));
        const uint32_t there = nytp_calltree_child(tree, to, n->sub, n->file, n->line);
        if (!(there == NYTP_NO_NODE ? link_child(tree, to, c) : push_work(tree, c, there)))
            return false;
    }
    tree->nodes[from].first_child = NYTP_NO_NODE;
    return true;
}

/* Does the queued work. It is a list, not recursion, since trees can be a million deep. */
static bool drain_work(struct nytp_calltree *tree)
{
    while (tree->work.n > 0) {
        const uint32_t to = tree->work.at[--tree->work.n];
        const uint32_t from = tree->work.at[--tree->work.n];
        if (!merge_lines(tree, from, to) || !merge_children(tree, from, to) ||
            !nytp_tick_sums_move(&tree->waits, nytp_wait_of_node(from),
                                 nytp_wait_of_node(to)) ||
            !add_memory(tree, &tree->node_memory, to, take_memory(&tree->node_memory, from)))
            return false;
        tree->nodes[to].calls += tree->nodes[from].calls;
        tree->nodes[to].excl_ticks += tree->nodes[from].excl_ticks;
        tree->nodes[to].hangs |= tree->nodes[from].hangs;
        if (tree->nodes[to].recorded_name == 0)
            tree->nodes[to].recorded_name = tree->nodes[from].recorded_name;
        if (tree->owner == from)
            tree->owner = to;
        if (tree->waiter == from)
            tree->waiter = to;
        free_node(tree, from);
    }
    return true;
}

bool nytp_calltree_merge(struct nytp_calltree *tree, uint32_t from, uint32_t to)
{
    return push_work(tree, from, to) && drain_work(tree);
}

/* Book a call on a child; its node, or NYTP_NO_NODE. */
static uint32_t book_call(struct nytp_calltree *tree, uint32_t parent,
                          const struct nytp_booking *e, int64_t excl_ticks)
{
    const uint32_t node = nytp_calltree_add_child(tree, parent, e->sub, e->file, e->line);
    if (node != NYTP_NO_NODE) {
        tree->nodes[node].calls += e->what & NYTP_BOOK_COUNTS;
        tree->nodes[node].excl_ticks += excl_ticks;
    }
    return node;
}

bool nytp_calltree_book(struct nytp_calltree *tree, uint32_t node,
                        const struct nytp_booking *bookings, uint32_t n)
{
    struct nytp_booked_call call = {.node = node};
    tree->booked_calls.n = 0;
    for (uint32_t i = n; i > 0;) {
        i = book_lines(tree, call, bookings, i);
        if (i == UINT32_MAX)
            return false;
        if (i > call.first && bookings[i - 1].what == NYTP_BOOK_RUNNING) {
            tree->owner = call.node;
            i--;
        } else if (i > call.first && bookings[i - 1].what == NYTP_BOOK_SVS) {
            const struct nytp_booking *const e = &bookings[--i];
            if (!add_memory_at(tree, call.node, e->file, e->line,
                               (struct nytp_tree_memory){.svs = e->svs}))
                return false;
        } else if (i > call.first && bookings[i - 1].what == NYTP_BOOK_SAMPLE) {
            const struct nytp_booking *const e = &bookings[--i];
            if (!nytp_calltree_book_sample(tree, call.node, e->file, e->line, e->sample))
                return false;
        } else if (i > call.first) {
            i -= 2;
            const struct nytp_booking *const e = &bookings[i];
            const uint32_t child = book_call(tree, call.node, &e[1], e->excl_ticks);
            if (child == NYTP_NO_NODE)
                return false;
            if (e->inside > 0) {
                if (!NYTP_GROW(&tree->booked_calls))
                    return false;
                tree->booked_calls.at[tree->booked_calls.n++] = call;
                call = (struct nytp_booked_call){.node = child, .first = i - e->inside};
            }
        }
        while (tree->booked_calls.n > 0 && i == call.first)
            call = tree->booked_calls.at[--tree->booked_calls.n];
    }
    return true;
}

bool nytp_calltree_move_content(struct nytp_calltree *tree, uint32_t from, uint32_t to)
{
    return add_memory(tree, &tree->node_memory, to, take_memory(&tree->node_memory, from)) &&
           merge_lines(tree, from, to) && merge_children(tree, from, to) && drain_work(tree);
}
