/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Stacks of frames; see stacktree.h.
 *
 * One pass over the nodes, whose parents come first: of every node the stack that it is called
 * from is known when its turn comes, so that nothing recurses however deep the tree is.
 */
#include "stacktree.h"

#include "exporters/base/sides.h"

#include "formats/base/arena.h"
#include "formats/model/profile.h"
#include "formats/model/svs.h"
#include "formats/base/table.h"
#include "formats/base/wide.h"
#include "formats/base/strings.h"

#include <stdlib.h>

#define NONE UINT32_MAX

struct builder {
    const struct nytp_profile *profile;
    const struct nytp_export_options *options;
    struct nytp_stacktree *tree;
    const uint8_t *side_of_recording; /* of two sides, or NULL */
    bool counts_bytes;
    struct nytp_stacks bounds;
    uint32_t frame_capacity, stack_capacity, bytes_capacity;
    struct nytp_table frame_ids; /* sub, unreturned, file, line -> frame */
    struct nytp_table stack_ids; /* parent, frame -> stack */
    bool of_base;                /* the nodes at hand are of the base's side */
    uint32_t *name_sub;          /* of each sub, the first with its name; NULL = itself */
};

static uint32_t intern_frame(struct builder *b, uint32_t sub, bool unreturned, uint32_t file,
                             uint32_t line)
{
    const struct nytp_key key = {sub, unreturned, file, line};
    uint32_t id = nytp_table_get(&b->frame_ids, key);
    if (id != NYTP_TABLE_NONE)
        return id;

    id = b->tree->n_frames;
    if (!nytp_grow(&b->tree->frames, &b->frame_capacity, id, sizeof *b->tree->frames) ||
        !nytp_table_put(&b->frame_ids, key, id))
        return NONE;
    b->tree->frames[id] = (struct nytp_stack_frame){
        .sub = sub, .unreturned = unreturned, .file = file, .line = line};
    b->tree->n_frames++;
    return id;
}

/* Adds a stack, with no bytes. */
static bool make_room(struct builder *b, uint32_t id)
{
    struct nytp_stacktree *const tree = b->tree;
    if (!nytp_grow(&tree->stacks, &b->stack_capacity, id, sizeof *tree->stacks))
        return false;
    if (!b->counts_bytes)
        return true;
    if (!nytp_grow(&tree->bytes, &b->bytes_capacity, id, sizeof *tree->bytes))
        return false;
    tree->bytes[id] = (struct nytp_stack_bytes){0, 0};
    return true;
}

/* The stack that is `parent` with one more frame, made if it is not there; NONE when memory is
 * out. */
static uint32_t intern_stack(struct builder *b, uint32_t parent, uint32_t frame)
{
    if (parent == NONE || frame == NONE)
        return NONE;
    const struct nytp_key key = {parent, frame, 0, 0};
    uint32_t id = nytp_table_get(&b->stack_ids, key);
    if (id != NYTP_TABLE_NONE)
        return id;

    id = b->tree->n_stacks;
    if (!make_room(b, id) || !nytp_table_put(&b->stack_ids, key, id))
        return NONE;
    const uint32_t depth = b->tree->stacks[parent].depth + 1;
    b->tree->stacks[id] = (struct nytp_stack){.parent = parent, .frame = frame, .depth = depth};
    b->tree->n_stacks++;
    if (depth > b->tree->max_depth)
        b->tree->max_depth = depth;
    return id;
}

static uint32_t node_frame(struct builder *b, const struct nytp_node *node, uint32_t file,
                           uint32_t line)
{
    const uint32_t sub = b->name_sub == NULL ? node->sub : b->name_sub[node->sub];
    const bool unreturned = (node->flags & NYTP_NODE_UNRETURNED) != 0;
    if (!b->options->lines || line == 0)
        return intern_frame(b, sub, unreturned, 0, 0);
    return intern_frame(b, sub, unreturned, file, line);
}

static bool add(struct builder *b, uint32_t below, const struct nytp_node *node, uint32_t file,
                uint32_t line, int64_t value)
{
    const uint32_t stack = intern_stack(b, below, node_frame(b, node, file, line));
    if (stack == NONE)
        return false;
    struct nytp_stack *target = &b->tree->stacks[stack];
    *(b->of_base ? &target->base : &target->value) += value;
    return true;
}

static int64_t node_line_value(const struct builder *b, uint32_t index, enum nytp_weight weight)
{
    const struct nytp_svs memory = nytp_svs_of_line(b->profile, index);
    return nytp_measures[weight].weight(&b->profile->node_lines[index], &memory);
}

/* Put the node's own value on the stack of `kept` or, with lines, on those of its lines. */
static bool add_node(struct builder *b, uint32_t below, const struct nytp_node *kept,
                     const struct nytp_node *node)
{
    const enum nytp_weight weight = b->options->weight;
    if (weight == NYTP_WEIGHT_CALLS)
        return add(b, below, kept, 0, 0, (int64_t)node->calls);
    if (weight == NYTP_WEIGHT_OPS && node->calls > 0 &&
        !add(b, below, kept, 0, 0, (int64_t)node->calls))
        return false;
    if (weight == NYTP_WEIGHT_TIME && (!b->options->lines || node->n_node_lines == 0))
        return add(b, below, kept, 0, 0, node->excl_ticks);

    const struct nytp_node_line *lines = b->profile->node_lines + node->first_node_line;
    for (uint32_t i = 0; i < node->n_node_lines; i++)
        if (!add(b, below, kept, lines[i].file, lines[i].line,
                 node_line_value(b, node->first_node_line + i, weight)))
            return false;
    return true;
}

/* The bytes of the node's lines are on the stacks that have their time. */
static bool add_bytes(struct builder *b, uint32_t below, const struct nytp_node *kept,
                      const struct nytp_node *node)
{
    for (uint32_t i = node->first_node_line; i < node->first_node_line + node->n_node_lines;
         i++) {
        const struct nytp_node_line *const line = &b->profile->node_lines[i];
        const uint32_t stack =
            intern_stack(b, below, node_frame(b, kept, line->file, line->line));
        if (stack == NONE)
            return false;
        b->tree->bytes[stack].allocated += node_line_value(b, i, NYTP_WEIGHT_ALLOC_SPACE);
        b->tree->bytes[stack].in_use += node_line_value(b, i, NYTP_WEIGHT_INUSE_SPACE);
    }
    return true;
}

/* below[i] is the stack that node first + i is called from. */
static bool add_to(uint32_t *below, struct builder *b, uint32_t first, uint32_t end)
{
    const struct nytp_node *nodes = b->profile->nodes;
    for (uint32_t i = first; i < end; i++) {
        const uint32_t kept = nytp_stacks_kept(&b->bounds, i);
        const uint32_t outer = nytp_stacks_outer(&b->bounds, kept);
        const struct nytp_node *site = &nodes[nytp_stacks_site(&b->bounds, kept)];
        if (kept == i)
            below[i - first] =
                outer == i ? 0
                           : intern_stack(b, below[outer - first],
                                          node_frame(b, &nodes[outer], site->file, site->line));
        if (!add_node(b, below[kept - first], &nodes[kept], &nodes[i]) ||
            (b->counts_bytes && !add_bytes(b, below[kept - first], &nodes[kept], &nodes[i])))
            return false;
    }
    return true;
}

static bool add_nodes(struct builder *b, uint32_t first, uint32_t end)
{
    uint32_t *below = malloc(((size_t)(end - first) + 1) * sizeof *below);
    const bool ok = below != NULL && add_to(below, b, first, end);
    free(below);
    return ok;
}

static bool find_name_subs(struct builder *b)
{
    const struct nytp_profile *profile = b->profile;
    b->name_sub = malloc((profile->n_subs + 1) * sizeof *b->name_sub);
    if (b->name_sub == NULL)
        return false;
    for (uint32_t i = 0; i < profile->n_subs; i++) {
        /* Sorted by name from 1 on. 0 is the root; a sub may have its name. */
        b->name_sub[i] = i;
        if (i > 0 && profile->subs[i].name.ptr == profile->subs[0].name.ptr)
            b->name_sub[i] = 0;
        else if (i > 1 && profile->subs[i].name.ptr == profile->subs[i - 1].name.ptr)
            b->name_sub[i] = b->name_sub[i - 1];
    }
    return true;
}

/* The nodes of each process, which knows its side. */
static bool add_sides(struct builder *b)
{
    const struct nytp_profile *profile = b->profile;
    bool ok = true;
    for (uint32_t i = 0; ok && i < profile->n_processes; i++) {
        const struct nytp_process *const process = &profile->processes[i];
        b->of_base = b->side_of_recording[process->recording] == NYTP_DIFF_BASE;
        ok = add_nodes(b, process->root, nytp_process_nodes_end(profile, i));
    }
    return ok;
}

static bool build(struct builder *b, uint32_t first, uint32_t end, bool by_name)
{
    if (!make_room(b, 0))
        return false;
    b->tree->stacks[0] = (struct nytp_stack){.frame = NONE};
    b->tree->n_stacks = 1;
    if (by_name && !find_name_subs(b))
        return false;
    return b->side_of_recording != NULL ? add_sides(b) : add_nodes(b, first, end);
}

/* `b` has what was asked for. */
static struct nytp_stacktree *new_tree(struct builder b, uint32_t process, bool by_name)
{
    const struct nytp_profile *const profile = b.profile;
    b.tree = calloc(1, sizeof *b.tree);
    if (b.tree == NULL)
        return NULL;

    uint32_t first = 0, end = profile->n_nodes;
    if (process != NYTP_ALL_PROCESSES) {
        first = profile->processes[process].root;
        end = nytp_process_nodes_end(profile, process);
    }
    const bool ok = nytp_stacks_init_nodes(&b.bounds, profile, b.options, first, end) &&
                    build(&b, first, end, by_name);
    nytp_stacks_free(&b.bounds);
    nytp_table_free(&b.frame_ids);
    nytp_table_free(&b.stack_ids);
    free(b.name_sub);
    if (ok)
        return b.tree;
    nytp_stacktree_free(b.tree);
    return NULL;
}

bool nytp_stacktree_merge_frames(struct nytp_stacktree *tree, const uint32_t *same)
{
    struct nytp_table stack_ids = {0}; /* parent, frame -> stack */
    uint32_t *stack_of = malloc(tree->n_stacks * sizeof *stack_of);
    bool ok = stack_of != NULL;
    uint32_t n = 1; /* a parent's index is lower: it has its new place already */
    for (uint32_t i = 1; ok && i < tree->n_stacks; i++) {
        struct nytp_stack stack = tree->stacks[i];
        stack.parent = stack.parent == 0 ? 0 : stack_of[stack.parent];
        stack.frame = same[stack.frame];
        const struct nytp_key key = {stack.parent, stack.frame, 0, 0};
        stack_of[i] = nytp_table_get(&stack_ids, key);
        if (stack_of[i] != NYTP_TABLE_NONE) {
            tree->stacks[stack_of[i]].value += stack.value;
            tree->stacks[stack_of[i]].base += stack.base;
            continue;
        }
        ok = nytp_table_put(&stack_ids, key, n);
        tree->stacks[n] = stack;
        stack_of[i] = n++;
    }
    if (ok)
        tree->n_stacks = n;
    nytp_table_free(&stack_ids);
    free(stack_of);
    return ok;
}

struct nytp_stacktree *nytp_stacktree_new(const struct nytp_profile *profile,
                                          const struct nytp_export_options *options,
                                          uint32_t process, bool by_name)
{
    return new_tree((struct builder){.profile = profile, .options = options}, process, by_name);
}

struct nytp_stacktree *nytp_stacktree_new_with_bytes(const struct nytp_profile *profile,
                                                     const struct nytp_export_options *options,
                                                     uint32_t process)
{
    return new_tree(
        (struct builder){.profile = profile, .options = options, .counts_bytes = true}, process,
        false);
}

/* The base's values add up to what the new side's do, each in proportion; what rounding leaves
 * of one goes to the next. */
static void normalize(struct nytp_stacktree *tree)
{
    int64_t now = 0, base = 0, seen = 0, given = 0;
    for (uint32_t i = 0; i < tree->n_stacks; i++) {
        struct nytp_stack *stack = &tree->stacks[i];
        now = nytp_ticks_sum(now, stack->value > 0 ? stack->value : 0);
        base = nytp_ticks_sum(base, stack->base > 0 ? stack->base : 0);
    }
    for (uint32_t i = 0; now > 0 && base > 0 && i < tree->n_stacks; i++) {
        struct nytp_stack *stack = &tree->stacks[i];
        if (stack->base <= 0)
            continue;
        seen = nytp_ticks_sum(seen, stack->base);
        const int64_t due = seen < base ? nytp_mul_div_signed(seen, now, base) : now;
        stack->base = due - given;
        given = due;
    }
}

struct nytp_stacktree *nytp_stacktree_of_sides(const struct nytp_profile *profile,
                                               const struct nytp_export_options *options,
                                               const uint8_t *side_of_recording)
{
    const struct builder both = {
        .profile = profile, .options = options, .side_of_recording = side_of_recording};
    struct nytp_stacktree *const tree = new_tree(both, NYTP_ALL_PROCESSES, true);
    if (tree != NULL && options->normalize)
        normalize(tree);
    return tree;
}

void nytp_stacktree_free(struct nytp_stacktree *tree)
{
    if (tree == NULL)
        return;
    free(tree->frames);
    free(tree->stacks);
    free(tree->bytes);
    free(tree->entries);
    free(tree);
}

static int compare_entries(const void *left, const void *right)
{
    const struct nytp_stack_entry *a = left, *b = right;
    const int by_parent = nytp_compare_u64(a->parent, b->parent);
    return by_parent != 0 ? by_parent : nytp_compare_u64(a->rank, b->rank);
}

struct ranked_frame {
    struct nytp_stack_frame frame;
    uint32_t id;
};

static int compare_frames(const void *left, const void *right)
{
    const struct nytp_stack_frame *a = &((const struct ranked_frame *)left)->frame;
    const struct nytp_stack_frame *b = &((const struct ranked_frame *)right)->frame;
    NYTP_RETURN_ORDER(a->sub, b->sub);
    NYTP_RETURN_ORDER(a->file, b->file);
    NYTP_RETURN_ORDER(a->line, b->line);
    return (int)a->unreturned - (int)b->unreturned;
}

/* Ranks by sub and line, for callers that bring none. */
static uint32_t *default_ranks(const struct nytp_stacktree *tree)
{
    uint32_t *ranks = malloc(((size_t)tree->n_frames + 1) * 2 * sizeof *ranks);
    struct ranked_frame *order = malloc(((size_t)tree->n_frames + 1) * sizeof *order);
    if (ranks == NULL || order == NULL) {
        free(ranks);
        free(order);
        return NULL;
    }
    for (uint32_t i = 0; i < tree->n_frames; i++)
        order[i] = (struct ranked_frame){.frame = tree->frames[i], .id = i};
    if (tree->n_frames > 0)
        qsort(order, tree->n_frames, sizeof *order, compare_frames);
    for (uint32_t i = 0; i < tree->n_frames; i++) {
        ranks[2 * order[i].id] = 2 * i;
        ranks[2 * order[i].id + 1] = 2 * i + 1;
    }
    free(order);
    return ranks;
}

static uint32_t collect_entries(struct nytp_stacktree *tree, const uint32_t *ranks)
{
    uint32_t n = 0;
    for (uint32_t i = 1; i < tree->n_stacks; i++) {
        const struct nytp_stack *stack = &tree->stacks[i];
        const uint32_t *rank = &ranks[2 * stack->frame];
        if (stack->value != 0 || stack->base != 0)
            tree->entries[n++] = (struct nytp_stack_entry){
                .parent = stack->parent, .rank = rank[0], .stack = i, .own = true};
        if (stack->n_entries > 0) /* marked below: some other stack goes on from it */
            tree->entries[n++] =
                (struct nytp_stack_entry){.parent = stack->parent, .rank = rank[1], .stack = i};
    }
    return n;
}

bool nytp_stacktree_sort(struct nytp_stacktree *tree, const uint32_t *ranks)
{
    uint32_t *own_ranks = ranks == NULL ? default_ranks(tree) : NULL;
    free(tree->entries);
    tree->entries = malloc((size_t)tree->n_stacks * 2 * sizeof *tree->entries);
    if ((ranks == NULL && own_ranks == NULL) || tree->entries == NULL) {
        free(own_ranks);
        return false;
    }
    for (uint32_t i = 0; i < tree->n_stacks; i++)
        tree->stacks[i].n_entries = 0;
    for (uint32_t i = 1; i < tree->n_stacks; i++)
        tree->stacks[tree->stacks[i].parent].n_entries = 1;
    tree->n_entries = collect_entries(tree, ranks == NULL ? own_ranks : ranks);
    free(own_ranks);
    if (tree->n_entries > 0)
        qsort(tree->entries, tree->n_entries, sizeof *tree->entries, compare_entries);

    for (uint32_t i = 0; i < tree->n_stacks; i++)
        tree->stacks[i].n_entries = 0;
    for (uint32_t i = tree->n_entries; i-- > 0;) {
        struct nytp_stack *parent = &tree->stacks[tree->entries[i].parent];
        parent->first_entry = i;
        parent->n_entries++;
    }
    return true;
}

bool nytp_stack_walk_begin(struct nytp_stack_walk *walk, const struct nytp_stacktree *tree)
{
    *walk = (struct nytp_stack_walk){.tree = tree};
    walk->path = malloc(((size_t)tree->max_depth + 1) * sizeof *walk->path);
    walk->next_entry = malloc(((size_t)tree->max_depth + 1) * sizeof *walk->next_entry);
    if (walk->path == NULL || walk->next_entry == NULL) {
        nytp_stack_walk_end(walk);
        return false;
    }
    walk->next_entry[0] = tree->stacks[0].first_entry;
    return true;
}

bool nytp_stack_walk_next(struct nytp_stack_walk *walk)
{
    const struct nytp_stacktree *tree = walk->tree;
    for (;;) {
        const struct nytp_stack *listed = &tree->stacks[walk->listed];
        const uint32_t at = walk->next_entry[listed->depth];
        if (at == listed->first_entry + listed->n_entries) {
            if (walk->listed == 0)
                return false;
            walk->listed = listed->parent;
            continue;
        }
        walk->next_entry[listed->depth] = at + 1;
        const struct nytp_stack_entry *entry = &tree->entries[at];
        const struct nytp_stack *stack = &tree->stacks[entry->stack];
        walk->path[listed->depth] = stack->frame;
        if (entry->own) {
            walk->stack = stack;
            return true;
        }
        walk->listed = entry->stack;
        walk->next_entry[stack->depth] = stack->first_entry;
    }
}

void nytp_stack_walk_end(struct nytp_stack_walk *walk)
{
    free(walk->path);
    free(walk->next_entry);
    *walk = (struct nytp_stack_walk){0};
}
