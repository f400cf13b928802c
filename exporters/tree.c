/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The call tree with inclusive times, for the terminal. Calls of one sub from several lines of
 * one caller are one row. Branches below half a percent (--min-percent) are summed up in one
 * row, so that rows always add up to the row above. A chain of subs that each call only one
 * other is one row; the small rest of its members, less than that half percent together, is in
 * its exclusive time. In a tree by SVs or bytes the percentages are of those.
 */
#include "exporters/base/exporter.h"
#include "exporters/base/text.h"
#include "exporters/stacks/inclusive.h"
#include "exporters/stacks/samples.h"
#include "exporters/table/sheet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_MIN_PERCENT 0.5
#define MAX_ROW_DEPTH       100 /* deeper frames get no row of their own */
#define FIXED_COLUMNS       38
#define MEMORY_COLUMNS      10
#define MIN_NAME            24 /* columns of a terminal that are kept for names */
#define MIN_CHAIN           3  /* the shortest chain that becomes one row */

/* One row: all nodes of one sub below another row. */
struct branch {
    uint32_t sub;
    const uint32_t *nodes;
    uint32_t n_nodes;
    int64_t incl_ticks, excl_ticks, memory; /* of the memory column, inclusive */
    uint64_t count;                         /* of calls, or of samples if these are counted */
    double key;                             /* sibling rows are sorted by it, descending */
    uint32_t n_above;                       /* members of the chain above this one */
    uint32_t first, second;                 /* subs of the first two */
};

struct tree {
    const struct nytp_profile *profile;
    const struct nytp_export_options *options;
    struct nytp_out *out;
    const uint64_t *samples; /* by node, or NULL if calls are counted */
    const uint64_t *memory;  /* by node, inclusive; NULL if not recorded */
    const char *title;       /* of the memory column */
    bool is_space;           /* it is bytes */
    bool by_memory;          /* sizes of branches are memory, not time */
    double min_size;         /* smaller branches get no row */
};

static double size_of(const struct tree *tree, const struct branch *branch)
{
    return tree->by_memory ? (double)branch->memory : (double)branch->incl_ticks;
}

static uint32_t fixed_columns(const struct tree *tree)
{
    return FIXED_COLUMNS + (tree->memory != NULL ? MEMORY_COLUMNS : 0);
}

static void put_numbers(const struct tree *tree, const struct branch *branch)
{
    const struct nytp_profile *profile = tree->profile;
    nytp_text_time(tree->out, branch->incl_ticks, profile->ticks_per_sec, tree->options->unit,
                   10);
    nytp_putc(tree->out, ' ');
    nytp_text_percent(tree->out, branch->incl_ticks, profile->total.ticks);
    nytp_putc(tree->out, ' ');
    nytp_text_time(tree->out, branch->excl_ticks, profile->ticks_per_sec, tree->options->unit,
                   10);
    nytp_printf(tree->out, " %8llu ", (unsigned long long)branch->count);
    if (tree->memory == NULL)
        return;
    if (tree->is_space)
        nytp_text_bytes(tree->out, branch->memory, 9);
    else
        nytp_printf(tree->out, "%9lld", (long long)branch->memory);
    nytp_putc(tree->out, ' ');
}

/* Writes the lines that lead to a row, or its depth as a number if they would leave no room
 * for its name. Returns the columns used. */
static uint32_t put_indent(const struct tree *tree, uint32_t depth)
{
    const uint32_t columns = tree->options->columns;
    const uint32_t taken = fixed_columns(tree) + MIN_NAME;
    const uint32_t room = columns > taken ? columns - taken : 0;
    nytp_text_style(tree->out, tree->options->color, NYTP_STYLE_DIM);
    const uint64_t styled = tree->out->n_bytes;
    if (columns > 0 && depth * 2 > room)
        nytp_printf(tree->out, "[%lu]-", (unsigned long)depth);
    else
        for (uint32_t i = 0; i < depth; i++)
            nytp_puts(tree->out, i + 1 < depth ? "| " : "+-");
    const uint32_t width = (uint32_t)(tree->out->n_bytes - styled);
    nytp_text_style(tree->out, tree->options->color, NYTP_STYLE_PLAIN);
    return width;
}

/* Writes the part before the last name in "first > (3 more) > last". A single member in
 * between is shown by name. `left` is the number of columns, 0 for any. Returns the columns
 * used. */
static uint32_t put_chain(const struct tree *tree, const struct branch *branch, uint32_t left)
{
    const struct nytp_sub *const subs = tree->profile->subs;
    const bool has_second = branch->n_above == 2;
    char middle[40] = " > ";
    if (branch->n_above > 2)
        snprintf(middle, sizeof middle, " > (%lu more) > ", (unsigned long)branch->n_above - 1);
    const uint32_t len = (uint32_t)strlen(middle) * (has_second ? 2 : 1);
    const uint32_t n_names = has_second ? 4 : 3; /* the last one has the room of two */
    const uint32_t most = left == 0 ? 0 : left > len + n_names ? (left - len) / n_names : 1;
    uint32_t width = nytp_text_put_tail(tree->out, subs[branch->first].name, most);
    nytp_puts(tree->out, middle);
    if (has_second) {
        width += nytp_text_put_tail(tree->out, subs[branch->second].name, most);
        nytp_puts(tree->out, middle);
    }
    return width + len;
}

static void put_branch(const struct tree *tree, const struct branch *branch, uint32_t depth)
{
    const struct nytp_profile *profile = tree->profile;
    const struct nytp_sub *sub = &profile->subs[branch->sub];
    const uint32_t columns = tree->options->columns;
    const bool hot = branch->excl_ticks > profile->total.ticks / 10;
    put_numbers(tree, branch);
    uint32_t used = fixed_columns(tree) + put_indent(tree, depth);
    if (branch->n_above > 0)
        used += put_chain(tree, branch, nytp_columns_left(columns, used, 1));
    nytp_text_style(tree->out, tree->options->color, hot ? NYTP_STYLE_HOT : NYTP_STYLE_PLAIN);
    used += nytp_text_put_tail(tree->out, sub->name, nytp_columns_left(columns, used, 1));
    nytp_text_style(tree->out, tree->options->color, NYTP_STYLE_PLAIN);
    nytp_text_put_place(tree->out, profile, tree->options, sub->file, sub->first_line, used);
    nytp_putc(tree->out, '\n');
}

static void put_pruned(const struct tree *tree, const struct branch *pruned, uint32_t n,
                       const char *what, uint32_t depth)
{
    put_numbers(tree, pruned);
    put_indent(tree, depth);
    nytp_printf(tree->out, "(%lu %s)\n", (unsigned long)n, what);
}

static uint64_t count_of(const struct tree *tree, uint32_t node)
{
    return tree->samples != NULL ? tree->samples[node] : tree->profile->nodes[node].calls;
}

static int64_t memory_of(const struct tree *tree, uint32_t node)
{
    return tree->memory != NULL ? (int64_t)tree->memory[node] : 0;
}

static void add_node(const struct tree *tree, struct branch *branch, uint32_t index)
{
    const struct nytp_node *node = &tree->profile->nodes[index];
    branch->incl_ticks += node->incl_ticks;
    branch->excl_ticks += node->excl_ticks;
    branch->count += count_of(tree, index);
    branch->memory += memory_of(tree, index);
}

static void add_branch(struct branch *sum, const struct branch *branch)
{
    sum->incl_ticks += branch->incl_ticks;
    sum->excl_ticks += branch->incl_ticks;
    sum->count += branch->count;
    sum->memory += branch->memory;
}

/* The row of branches below --min-percent comes last, whatever its time. */
static bool is_pruned(const struct tree *tree, const struct branch *branch)
{
    return strcmp(tree->profile->subs[branch->sub].name.ptr, "(pruned)") == 0;
}

static double key_of(const struct branch *branch, const char *sort)
{
    if (sort != NULL && strcmp(sort, "self") == 0)
        return (double)branch->excl_ticks;
    if (sort != NULL && strcmp(sort, "calls") == 0)
        return (double)branch->count;
    if (sort != NULL && strcmp(sort, "percall") == 0)
        return branch->count > 0 ? (double)branch->incl_ticks / (double)branch->count : 0;
    if (sort != NULL && strcmp(sort, "name") == 0)
        return 0;
    return (double)branch->incl_ticks;
}

/* Subs are sorted by name: the index breaks ties. */
static int by_key(const void *x, const void *y)
{
    const struct branch *a = x, *b = y;
    NYTP_RETURN_ORDER(b->key, a->key);
    return (a->sub > b->sub) - (a->sub < b->sub);
}

struct sub_node {
    uint32_t sub, node;
};

static int by_sub(const void *x, const void *y)
{
    const struct sub_node *a = x, *b = y;
    NYTP_RETURN_ORDER(a->sub, b->sub);
    return (a->node > b->node) - (a->node < b->node);
}

/* Makes rows of the nodes below a row, and returns how many. The arrays have room for all. */
static uint32_t make_branches(const struct tree *tree, const struct sub_node *below, uint32_t n,
                              uint32_t *nodes, struct branch *branches)
{
    uint32_t n_branches = 0;
    for (uint32_t i = 0; i < n; i++) {
        nodes[i] = below[i].node;
        if (i == 0 || below[i].sub != below[i - 1].sub)
            branches[n_branches++] = (struct branch){.sub = below[i].sub, .nodes = &nodes[i]};
        struct branch *branch = &branches[n_branches - 1];
        branch->n_nodes++;
        add_node(tree, branch, below[i].node);
    }
    for (uint32_t i = 0; i < n_branches; i++)
        branches[i].key = is_pruned(tree, &branches[i]) ? -HUGE_VAL
                          : tree->by_memory             ? (double)branches[i].memory
                                            : key_of(&branches[i], tree->options->sort);
    qsort(branches, n_branches, sizeof *branches, by_key);
    return n_branches;
}

static bool put_rows(const struct tree *tree, const struct branch *row, uint32_t depth);

static bool put_level(const struct tree *tree, struct sub_node *below, uint32_t n,
                      uint32_t depth)
{
    uint32_t *nodes = malloc(((size_t)n + 1) * sizeof *nodes);
    struct branch *branches = malloc(((size_t)n + 1) * sizeof *branches);
    bool ok = nodes != NULL && branches != NULL;
    struct branch pruned = {0};
    uint32_t n_pruned = 0, n_branches = 0;
    if (ok) {
        qsort(below, n, sizeof *below, by_sub);
        n_branches = make_branches(tree, below, n, nodes, branches);
    }
    for (uint32_t i = 0; ok && i < n_branches; i++) {
        if (depth > 0 && size_of(tree, &branches[i]) < tree->min_size) {
            add_branch(&pruned, &branches[i]);
            n_pruned++;
            continue;
        }
        ok = put_rows(tree, &branches[i], depth);
    }
    if (ok && n_pruned > 0)
        put_pruned(tree, &pruned, n_pruned, "more", depth);
    free(nodes);
    free(branches);
    return ok && tree->out->error.status == NYTP_OK;
}

/* Returns the nodes called from a row, or NULL if memory is out. *n is their number; if it is
 * 0, the result is not NULL but empty. */
static struct sub_node *nodes_below(const struct tree *tree, const struct branch *row,
                                    uint32_t *n)
{
    const struct nytp_profile *profile = tree->profile;
    size_t count = 0;
    for (uint32_t i = 0; i < row->n_nodes; i++)
        count += profile->nodes[row->nodes[i]].n_children;
    struct sub_node *below = malloc((count + 1) * sizeof *below);
    *n = 0;
    for (uint32_t i = 0; below != NULL && i < row->n_nodes; i++) {
        const struct nytp_node *node = &profile->nodes[row->nodes[i]];
        for (uint32_t c = 0; c < node->n_children; c++) {
            const uint32_t child = profile->children[node->first_child + c];
            below[(*n)++] = (struct sub_node){profile->nodes[child].sub, child};
        }
    }
    return below;
}

static bool put_below(const struct tree *tree, const struct branch *row, uint32_t depth)
{
    uint32_t n;
    struct sub_node *below = nodes_below(tree, row, &n);
    struct branch sum = {0};
    bool ok = below != NULL;
    for (uint32_t i = 0; ok && i < n; i++)
        add_node(tree, &sum, below[i].node);
    sum.excl_ticks = sum.incl_ticks;
    if (ok && n > 0 && depth > MAX_ROW_DEPTH)
        put_pruned(tree, &sum, n, "and what is below", depth);
    else if (ok && n > 0)
        ok = put_level(tree, below, n, depth);
    free(below);
    return ok;
}

/* ---- chains ---- */

/* Finds the only branch below a row with more than a small share. Returns false if there are
 * several or none, or memory is out. Its nodes are moved to the front of `nodes`, to which it
 * refers. */
static bool only_branch(const struct tree *tree, const struct branch *row, struct branch *only,
                        uint32_t **nodes)
{
    uint32_t n, n_large = 0;
    struct sub_node *below = nodes_below(tree, row, &n);
    struct branch *branches = malloc(((size_t)n + 1) * sizeof *branches);
    *nodes = malloc(((size_t)n + 1) * sizeof **nodes);
    if (below != NULL && branches != NULL && *nodes != NULL && n > 0) {
        qsort(below, n, sizeof *below, by_sub);
        const uint32_t n_branches = make_branches(tree, below, n, *nodes, branches);
        for (uint32_t i = 0; i < n_branches; i++)
            if (size_of(tree, &branches[i]) >= tree->min_size) {
                *only = branches[i];
                n_large++;
            }
    }
    free(below);
    free(branches);
    if (n_large == 1 && !is_pruned(tree, only))
        return true;
    free(*nodes);
    *nodes = NULL;
    return false;
}

/* Follows a row down while there is only one way. *nodes are then those of the last member.
 * The rest of the members, exclusive time and small callees, must stay small. */
static struct branch follow_chain(const struct tree *tree, const struct branch *row,
                                  uint32_t **nodes)
{
    struct branch end = *row, next;
    uint32_t *below;
    end.first = row->sub;
    end.n_above = 0;
    while (only_branch(tree, &end, &next, &below)) {
        if (!(size_of(tree, row) - size_of(tree, &next) < tree->min_size)) {
            free(below);
            break;
        }
        next.first = row->sub;
        next.second = end.n_above == 1 ? end.sub : end.second;
        next.n_above = end.n_above + 1;
        free(*nodes);
        *nodes = below;
        end = next;
    }
    end.excl_ticks += row->incl_ticks - end.incl_ticks;
    end.incl_ticks = row->incl_ticks;
    end.memory = row->memory;
    return end;
}

/* Writes a row, alone or as the head of a chain, and everything below. */
static bool put_rows(const struct tree *tree, const struct branch *row, uint32_t depth)
{
    uint32_t *nodes = NULL;
    struct branch end = follow_chain(tree, row, &nodes);
    if (end.n_above + 1 < MIN_CHAIN)
        end = *row;
    put_branch(tree, &end, depth);
    const bool ok = put_below(tree, &end, depth + 1);
    free(nodes);
    return ok;
}

static double whole_of(const struct tree *tree)
{
    const struct nytp_profile *profile = tree->profile;
    if (!tree->by_memory)
        return (double)profile->total.ticks;
    double memory = 0;
    for (uint32_t i = 0; i < profile->n_processes; i++)
        memory += (double)memory_of(tree, profile->processes[i].root);
    return memory;
}

static bool put_tree(const struct tree *tree)
{
    const struct nytp_profile *profile = tree->profile;
    struct sub_node *roots = malloc(((size_t)profile->n_processes + 1) * sizeof *roots);
    if (roots == NULL)
        return false;
    for (uint32_t i = 0; i < profile->n_processes; i++)
        roots[i] = (struct sub_node){profile->nodes[profile->processes[i].root].sub,
                                     profile->processes[i].root};
    nytp_text_headline(tree->out, profile, tree->options);
    nytp_text_style(tree->out, tree->options->color, NYTP_STYLE_BOLD);
    nytp_printf(tree->out, "      incl  incl%%       self %8s ",
                tree->samples != NULL ? "samples" : nytp_text_calls(profile));
    if (tree->memory != NULL)
        nytp_printf(tree->out, "%9s ", tree->title);
    nytp_puts(tree->out, "sub");
    nytp_text_style(tree->out, tree->options->color, NYTP_STYLE_PLAIN);
    nytp_putc(tree->out, '\n');
    const bool ok = put_level(tree, roots, profile->n_processes, 0);
    free(roots);
    return ok;
}

/* Chooses the memory column: that of the sort key, else bytes in use if known, else SVs kept.
 * Returns false if memory is out. */
static bool fill_memory(struct tree *tree, uint64_t **memory)
{
    const enum nytp_weight asked = nytp_memory_named(tree->options->sort);
    const enum nytp_weight weight = asked != NYTP_N_WEIGHTS ? asked
                                    : nytp_profile_has(tree->profile, NYTP_WEIGHT_INUSE_SPACE)
                                        ? NYTP_WEIGHT_INUSE_SPACE
                                        : NYTP_WEIGHT_SVS;
    *memory = NULL;
    if (!nytp_profile_has(tree->profile, weight))
        return true;
    tree->by_memory = weight == asked;
    tree->title = weight == NYTP_WEIGHT_SVS ? "SVs kept"
                  : weight == NYTP_WEIGHT_ALLOC_OBJECTS || weight == NYTP_WEIGHT_ALLOC_SPACE
                      ? "allocated"
                      : "in use";
    tree->is_space = nytp_weight_is_space(weight);
    *memory = nytp_inclusive_of_nodes(tree->profile, nytp_measures[weight].weight);
    tree->memory = *memory;
    return *memory != NULL;
}

static bool tree_write(const struct nytp_profile *profile,
                       const struct nytp_export_options *options, struct nytp_out *out)
{
    const double percent =
        options->min_percent >= 0 ? options->min_percent : DEFAULT_MIN_PERCENT;
    const bool of_samples = nytp_is_of_samples(profile);
    uint64_t *samples = of_samples ? nytp_samples_by_node(profile) : NULL;
    uint64_t *memory;
    struct tree tree = {
        .profile = profile,
        .samples = samples,
        .options = options,
        .out = out,
    };
    const bool ok = fill_memory(&tree, &memory) && (samples != NULL || !of_samples);
    tree.min_size = whole_of(&tree) * percent / 100;
    if (!ok || !put_tree(&tree))
        nytp_out_of_memory(&out->error);
    free(samples);
    free(memory);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_tree = {
    .name = "tree",
    .title = "call tree with times, for the terminal",
    .needs = NYTP_HAS_ARCS | NYTP_HAS_CALLS,
    .no_diff = "use --top",
    .prunes_itself = true,
    .adds_processes = true,
    .write = tree_write,
    .takes = "sort unit wait",
};
