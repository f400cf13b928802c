/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Selections; see select.h. Each one decides the action of every node and has the tree grown
 * anew. What the expressions mean is what pprof does with them (profile/filter.go in
 * github.com/google/pprof): focus and ignore look at whole stacks before hide and show remove
 * frames, a stack without a frame left is dropped, show_from comes last.
 */
#include "select.h"

#include "../../formats/core/strings.h"
#include "../core/waits.h"
#include "rewrite.h"

#include <stdlib.h>
#include <string.h>

/* ---- one rewrite ---- */

struct plan {
    struct nytp_profile *profile;
    struct nytp_rewriting rewriting;
    struct nytp_arcs_before before;
    bool *drop;
    bool changes;
};

static bool plan_begin(struct plan *plan, struct nytp_profile *profile)
{
    *plan = (struct plan){.profile = profile};
    plan->rewriting.action =
        calloc((size_t)profile->n_nodes + 1, sizeof *plan->rewriting.action);
    plan->drop = calloc((size_t)profile->n_nodes + 1, sizeof *plan->drop);
    plan->rewriting.drop = plan->drop;
    plan->rewriting.before = &plan->before;
    return plan->rewriting.action != NULL && plan->drop != NULL &&
           nytp_arcs_before_init(&plan->before, profile);
}

static void plan_action(struct plan *plan, uint32_t node, enum nytp_rewrite_action action)
{
    plan->rewriting.action[node] = (uint8_t)action;
    plan->changes |= action != NYTP_KEEP;
}

static void plan_drop(struct plan *plan, uint32_t node)
{
    plan->drop[node] = true;
    plan->changes = true;
}

static void plan_free(struct plan *plan)
{
    nytp_arcs_before_free(&plan->before);
    free(plan->rewriting.action);
    free(plan->drop);
}

/* Carry the plan out if it says anything. `planned` false: planning failed, for want of memory
 * unless *error is set already. */
static bool plan_end(struct plan *plan, bool planned, struct nytp_error *error)
{
    bool ok = planned;
    if (!planned)
        nytp_error_set(error, NYTP_ERR_MEMORY, "out of memory");
    else if (plan->changes)
        ok = nytp_rewrite(plan->profile, &plan->rewriting, error);
    plan_free(plan);
    return ok;
}

static bool is_root(const struct nytp_profile *profile, uint32_t node)
{
    return profile->nodes[node].parent == node;
}

/* ---- focus, ignore, no_builtins, hide, show ---- */

enum stack_seen {
    SEEN_FOCUS = 1,
    SEEN_IGNORE = 2,
    SEEN_SHOWN = 4
};

/* What a list of expressions matches. The root frame of a process is one sub in all processes,
 * but its file is the script of the process's own input. */
struct matches {
    bool *subs;  /* per sub; not asked of sub 0 */
    bool *roots; /* per part: the roots of its processes */
};

/* `alone`: in an input of several processes, whose scripts are not told apart, a root does not
 * match by its file. */
static bool find_matches(const struct nytp_profile *profile,
                         const struct nytp_patterns *patterns, bool alone,
                         struct matches *matches, struct nytp_error *error)
{
    struct nytp_error failed = {0};
    *matches = (struct matches){
        .subs = nytp_patterns_match_subs(patterns, profile, error),
        .roots = calloc((size_t)profile->n_parts + 1, sizeof *matches->roots),
    };
    if (matches->subs == NULL || matches->roots == NULL)
        return false;
    for (uint32_t i = 0; i < profile->n_parts && patterns->n > 0; i++) {
        const struct nytp_part *part = &profile->parts[i];
        const bool by_file = part->script != 0 && (!alone || part->n_processes == 1);
        matches->roots[i] =
            nytp_patterns_match(patterns, profile->subs[0].name, &failed) ||
            (by_file &&
             nytp_patterns_match(patterns, profile->files[part->script].name, &failed));
    }
    if (failed.status != NYTP_OK)
        *error = failed;
    return failed.status == NYTP_OK;
}

static void free_matches(struct matches *matches)
{
    free(matches->subs);
    free(matches->roots);
}

/* Whether a node matches; `part` is that of its process. */
static bool is_match(const struct nytp_profile *profile, const struct matches *matches,
                     uint32_t node, uint32_t part)
{
    return is_root(profile, node) ? matches->roots[part]
                                  : matches->subs[profile->nodes[node].sub];
}

/* The process that a node belongs to, for nodes asked in order. */
static uint32_t next_process(const struct nytp_profile *profile, uint32_t process,
                             uint32_t node)
{
    return process + 1 < profile->n_processes && profile->processes[process + 1].root == node
               ? process + 1
               : process;
}

struct filters {
    struct matches focus, ignore, hide, show;
    uint8_t *seen; /* per node: enum stack_seen of it and its callers */
};

static void plan_filters(struct plan *plan, const struct nytp_selection *selection,
                         const struct filters *filters)
{
    const struct nytp_profile *profile = plan->profile;
    uint32_t process = 0;
    for (uint32_t i = 0; i < profile->n_nodes; i++) {
        process = next_process(profile, process, i);
        const uint32_t part = profile->processes[process].part;
        const bool builtin = profile->subs[profile->nodes[i].sub].kind == NYTP_SUB_OPCODE &&
                             !is_root(profile, i);
        const bool hidden =
            is_match(profile, &filters->hide, i, part) || (selection->no_builtins && builtin) ||
            (selection->show.n > 0 && !is_match(profile, &filters->show, i, part));
        uint8_t seen = is_root(profile, i) ? 0 : filters->seen[profile->nodes[i].parent];
        seen |= is_match(profile, &filters->focus, i, part) ? SEEN_FOCUS : 0;
        seen |= is_match(profile, &filters->ignore, i, part) ? SEEN_IGNORE : 0;
        seen |= hidden ? 0 : SEEN_SHOWN;
        filters->seen[i] = seen;
        if (hidden && !is_root(profile, i))
            plan_action(plan, i, NYTP_HIDE);
        if ((selection->focus.n > 0 && (seen & SEEN_FOCUS) == 0) || (seen & SEEN_IGNORE) != 0 ||
            (seen & SEEN_SHOWN) == 0)
            plan_drop(plan, i);
    }
}

static bool filter_names(struct nytp_profile *profile, const struct nytp_selection *selection,
                         struct nytp_error *error)
{
    if (selection->focus.n + selection->ignore.n + selection->hide.n + selection->show.n == 0 &&
        !selection->no_builtins)
        return true;
    struct plan plan;
    struct filters filters = {
        .seen = calloc((size_t)profile->n_nodes + 1, sizeof *filters.seen),
    };
    const bool planned =
        plan_begin(&plan, profile) && filters.seen != NULL &&
        find_matches(profile, &selection->focus, false, &filters.focus, error) &&
        find_matches(profile, &selection->ignore, true, &filters.ignore, error) &&
        find_matches(profile, &selection->hide, false, &filters.hide, error) &&
        find_matches(profile, &selection->show, false, &filters.show, error);
    if (planned)
        plan_filters(&plan, selection, &filters);
    free_matches(&filters.focus);
    free_matches(&filters.ignore);
    free_matches(&filters.hide);
    free_matches(&filters.show);
    free(filters.seen);
    return plan_end(&plan, planned, error);
}

/* ---- show_from ---- */

static bool show_from(struct nytp_profile *profile, const struct nytp_patterns *patterns,
                      struct nytp_error *error)
{
    if (patterns->n == 0)
        return true;
    struct plan plan;
    struct matches matches = {0};
    bool *below = calloc((size_t)profile->n_nodes + 1, sizeof *below);
    const bool planned = plan_begin(&plan, profile) && below != NULL &&
                         find_matches(profile, patterns, false, &matches, error);
    uint32_t process = 0;
    for (uint32_t i = 0; planned && i < profile->n_nodes; i++) {
        const struct nytp_node *node = &profile->nodes[i];
        process = next_process(profile, process, i);
        below[i] = is_match(profile, &matches, i, profile->processes[process].part) ||
                   (!is_root(profile, i) && below[node->parent]);
        if (!below[i] && is_root(profile, i))
            plan_drop(&plan, i);
        else if (!below[i])
            plan_action(&plan, i, NYTP_DROP);
    }
    free_matches(&matches);
    free(below);
    return plan_end(&plan, planned, error);
}

/* ---- waiting ---- */

static bool drop_waits(struct nytp_profile *profile, const struct nytp_patterns *more,
                       struct nytp_error *error)
{
    struct plan plan;
    struct nytp_waits waits;
    bool planned = plan_begin(&plan, profile);
    planned = nytp_waits_init(&waits, profile, more, error) && planned;
    for (uint32_t i = 0; planned && i < profile->n_nodes; i++)
        if (waits.kinds[i] != NYTP_WAIT_NONE)
            plan_drop(&plan, i);
    nytp_waits_free(&waits);
    return plan_end(&plan, planned, error);
}

/* ---- recursion, depth ---- */

static bool collapse_recursion(struct nytp_profile *profile, struct nytp_error *error)
{
    struct plan plan;
    const bool planned = plan_begin(&plan, profile);
    for (uint32_t i = 0; planned && i < profile->n_nodes; i++) {
        const struct nytp_node *node = &profile->nodes[i];
        if (!is_root(profile, i) && node->sub == profile->nodes[node->parent].sub)
            plan_action(&plan, i, NYTP_MERGE_INTO_CALLER);
    }
    return plan_end(&plan, planned, error);
}

static bool limit_depth(struct nytp_profile *profile, uint32_t max_depth,
                        struct nytp_error *error)
{
    struct plan plan;
    const bool planned = plan_begin(&plan, profile);
    for (uint32_t i = 0; planned && i < profile->n_nodes; i++)
        if (profile->nodes[i].depth >= max_depth && !is_root(profile, i))
            plan_action(&plan, i, NYTP_HIDE);
    return plan_end(&plan, planned, error);
}

/* ---- subs: a new list ---- */

struct listed_sub {
    struct nytp_sub sub;
    uint32_t old; /* UINT32_MAX: new */
};

static int compare_names(struct nytp_name x, struct nytp_name y)
{
    const uint32_t len = x.len < y.len ? x.len : y.len;
    const int order = memcmp(x.ptr, y.ptr, len);
    return order != 0 ? order : (x.len > y.len) - (x.len < y.len);
}

static int by_name_file(const void *x, const void *y)
{
    const struct listed_sub *a = x, *b = y;
    int order = compare_names(a->sub.name, b->sub.name);
    order = order != 0 ? order : (a->sub.file > b->sub.file) - (a->sub.file < b->sub.file);
    return order != 0 ? order : (a->old > b->old) - (a->old < b->old);
}

static bool same_identity(const struct nytp_sub *a, const struct nytp_sub *b)
{
    return a->file == b->file && compare_names(a->name, b->name) == 0;
}

/* Sort the list (root apart), make equal subs one, install it. sub_of[old] becomes the new
 * index; returns that of the added sub (old == UINT32_MAX), 0 if there is none. */
static uint32_t install_subs(struct nytp_profile *profile, struct listed_sub *list, uint32_t n,
                             struct nytp_sub *subs, uint32_t *sub_of)
{
    uint32_t added = 0, n_subs = 1;
    qsort(list + 1, n - 1, sizeof *list, by_name_file);
    subs[0] = list[0].sub;
    sub_of[0] = 0;
    for (uint32_t i = 1; i < n; i++) {
        const bool again = n_subs > 1 && same_identity(&subs[n_subs - 1], &list[i].sub);
        if (!again)
            subs[n_subs++] = list[i].sub;
        else
            subs[n_subs - 1].stmt_ticks += list[i].sub.stmt_ticks;
        if (list[i].old == UINT32_MAX)
            added = n_subs - 1;
        else
            sub_of[list[i].old] = n_subs - 1;
    }
    free(profile->subs);
    profile->subs = subs;
    profile->n_subs = n_subs;
    return added;
}

/* ---- min_percent ---- */

static bool add_pruned_sub(struct nytp_profile *profile, uint32_t *sub_of, uint32_t *pruned)
{
    static const char name[] = "(pruned)";
    const uint32_t id = nytp_strings_intern(profile->strings, name, sizeof name - 1);
    const uint32_t n = profile->n_subs;
    struct listed_sub *list = calloc((size_t)n + 1, sizeof *list);
    struct nytp_sub *subs = calloc((size_t)n + 1, sizeof *subs);
    if (id == UINT32_MAX || list == NULL || subs == NULL) {
        free(list);
        free(subs);
        return false;
    }
    for (uint32_t i = 0; i < n; i++)
        list[i] = (struct listed_sub){profile->subs[i], i};
    list[n].old = UINT32_MAX;
    list[n].sub.name = nytp_strings_get(profile->strings, id);
    *pruned = install_subs(profile, list, n + 1, subs, sub_of);
    free(list);
    return true;
}

static bool prune(struct nytp_profile *profile, double min_percent, struct nytp_error *error)
{
    struct plan plan;
    uint32_t *sub_of = calloc((size_t)profile->n_subs + 1, sizeof *sub_of);
    bool planned = plan_begin(&plan, profile) && sub_of != NULL;
    const double limit = (double)profile->total_ticks * min_percent / 100;
    for (uint32_t i = 0; planned && i < profile->n_nodes; i++) {
        const struct nytp_node *node = &profile->nodes[i];
        const uint8_t above = plan.rewriting.action[node->parent];
        if (is_root(profile, i))
            continue;
        if (above == NYTP_PRUNE || above == NYTP_PRUNE_BELOW)
            plan_action(&plan, i, NYTP_PRUNE_BELOW);
        else if ((double)node->incl_ticks < limit)
            plan_action(&plan, i, NYTP_PRUNE);
    }
    if (planned && plan.changes) {
        planned = add_pruned_sub(profile, sub_of, &plan.rewriting.pruned_sub);
        plan.rewriting.sub_of = sub_of;
    }
    const bool ok = plan_end(&plan, planned, error);
    free(sub_of);
    return ok;
}

/* ---- merge_evals ---- */

/* `name` with the number of every "(eval N)" as 0, interned; the name itself if it has none.
 * NULL ptr when memory is out. */
static struct nytp_name without_eval_numbers(struct nytp_profile *profile,
                                             struct nytp_name name)
{
    static const char mark[] = "(eval ";
    const size_t mark_len = sizeof mark - 1;
    char *text = malloc((size_t)name.len + 1);
    if (text == NULL)
        return (struct nytp_name){0};
    size_t len = 0;
    bool found = false;
    for (uint32_t i = 0; i < name.len;) {
        text[len++] = name.ptr[i++];
        if (len < mark_len || memcmp(text + len - mark_len, mark, mark_len) != 0)
            continue;
        uint32_t end = i;
        while (end < name.len && name.ptr[end] >= '0' && name.ptr[end] <= '9')
            end++;
        if (end == i || end == name.len || name.ptr[end] != ')')
            continue;
        text[len++] = '0';
        i = end;
        found = true;
    }
    if (found) {
        const uint32_t id = nytp_strings_intern(profile->strings, text, len);
        name =
            id != UINT32_MAX ? nytp_strings_get(profile->strings, id) : (struct nytp_name){0};
    }
    free(text);
    return name;
}

struct named_file {
    struct nytp_name name;
    uint32_t part, file;
};

static int by_file_name(const void *x, const void *y)
{
    const struct named_file *a = x, *b = y;
    const int order = compare_names(a->name, b->name);
    return order != 0 ? order : (a->file > b->file) - (a->file < b->file);
}

/* Rename the files of string evals; file_of[] leads to the first of each name. */
static bool merge_files(struct nytp_profile *profile, uint32_t *file_of)
{
    struct named_file *list = malloc(((size_t)profile->n_files + 1) * sizeof *list);
    uint32_t n = 0;
    bool ok = list != NULL;
    for (uint32_t i = 0; ok && i < profile->n_files; i++) {
        file_of[i] = i;
        if (profile->files[i].eval_file == 0)
            continue;
        const struct nytp_name name = without_eval_numbers(profile, profile->files[i].name);
        ok = name.ptr != NULL;
        list[n++] = (struct named_file){.name = name, .file = i};
    }
    if (ok)
        qsort(list, n, sizeof *list, by_file_name);
    for (uint32_t i = 0, first = 0; ok && i < n; i++) {
        if (compare_names(list[first].name, list[i].name) != 0)
            first = i;
        file_of[list[i].file] = list[first].file;
        profile->files[list[i].file].name = list[i].name;
    }
    for (uint32_t i = 0; ok && i < profile->n_files; i++) {
        const uint32_t ran_by = file_of[profile->files[i].eval_file];
        profile->files[i].eval_file = ran_by != i ? ran_by : 0; /* two that ran each other */
    }
    free(list);
    return ok;
}

static bool merge_subs(struct nytp_profile *profile, const uint32_t *file_of, uint32_t *sub_of)
{
    const uint32_t n = profile->n_subs;
    struct listed_sub *list = calloc((size_t)n + 1, sizeof *list);
    struct nytp_sub *subs = calloc((size_t)n + 1, sizeof *subs);
    bool ok = list != NULL && subs != NULL;
    for (uint32_t i = 0; ok && i < n; i++) {
        list[i] = (struct listed_sub){profile->subs[i], i};
        list[i].sub.file = file_of[list[i].sub.file];
        list[i].sub.name = without_eval_numbers(profile, list[i].sub.name);
        ok = list[i].sub.name.ptr != NULL;
    }
    if (ok)
        install_subs(profile, list, n, subs, sub_of);
    else
        free(subs);
    free(list);
    return ok;
}

/* Some of n things became another one. */
static bool any_moved(const uint32_t *new_of, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (new_of[i] != i)
            return true;
    return false;
}

static bool merge_evals(struct nytp_profile *profile, struct nytp_error *error)
{
    const uint32_t n_subs = profile->n_subs;
    struct plan plan;
    uint32_t *file_of = calloc((size_t)profile->n_files + 1, sizeof *file_of);
    uint32_t *sub_of = calloc((size_t)profile->n_subs + 1, sizeof *sub_of);
    const bool planned = plan_begin(&plan, profile) && file_of != NULL && sub_of != NULL &&
                         merge_files(profile, file_of) && merge_subs(profile, file_of, sub_of);
    plan.rewriting.file_of = file_of;
    plan.rewriting.sub_of = sub_of;
    plan.changes =
        planned && (any_moved(file_of, profile->n_files) || any_moved(sub_of, n_subs));
    const bool ok = plan_end(&plan, planned, error);
    free(file_of);
    free(sub_of);
    return ok;
}

/* ---- all of them ---- */

static void tell_misses(const struct nytp_profile *profile,
                        const struct nytp_selection *selection)
{
    const struct nytp_patterns *const all[] = {&selection->focus,     &selection->ignore,
                                               &selection->hide,      &selection->show,
                                               &selection->show_from, &selection->waits};
    char text[512];
    for (size_t k = 0; selection->on_miss != NULL && k < sizeof all / sizeof *all; k++)
        for (uint32_t i = 0; i < all[k]->n; i++)
            if (nytp_patterns_describe_miss(all[k], i, profile, text, sizeof text))
                selection->on_miss(text);
}

bool nytp_select(struct nytp_profile *profile, const struct nytp_selection *selection,
                 struct nytp_error *error)
{
    if (selection->merge_evals && !merge_evals(profile, error))
        return false;
    tell_misses(profile, selection);
    if (selection->no_wait && !drop_waits(profile, &selection->waits, error))
        return false;
    if (!filter_names(profile, selection, error) ||
        !show_from(profile, &selection->show_from, error))
        return false;
    if (selection->collapse_recursion && !collapse_recursion(profile, error))
        return false;
    if (selection->max_depth > 0 && !limit_depth(profile, selection->max_depth, error))
        return false;
    return selection->min_percent <= 0 || prune(profile, selection->min_percent, error);
}

/* ---- one process ---- */

static void *copy_of(const void *array, size_t n, size_t size)
{
    void *copy = malloc((n + 1) * size);
    if (copy != NULL && n > 0)
        memcpy(copy, array, n * size);
    return copy;
}

#define COPY(array, first, n) copy_of((array) + (first), (n), sizeof *(array))

/* The part of the process alone, as part 0. */
static void take_part(struct nytp_profile *one, const struct nytp_profile *profile,
                      const struct nytp_process *process)
{
    one->parts[0] = profile->parts[process->part];
    one->parts[0].first_process = 0;
    one->parts[0].n_processes = 1;
    one->n_parts = 1;
    one->partial = one->parts[0].partial;
    one->processes[0] = *process;
    one->processes[0].part = 0;
    one->processes[0].root = 0;
    one->n_processes = 1;
    for (uint32_t i = 0; i < one->n_files; i++)
        one->files[i].part = 0;
}

static void take_nodes(struct nytp_profile *one, uint32_t first_node, uint32_t first_line,
                       uint32_t first_child)
{
    for (uint32_t i = 0; i < one->n_nodes; i++) {
        struct nytp_node *node = &one->nodes[i];
        node->parent -= first_node;
        node->first_child = node->n_children > 0 ? node->first_child - first_child : 0;
        node->first_node_line = node->n_node_lines > 0 ? node->first_node_line - first_line : 0;
    }
    for (uint32_t i = 0; i < one->n_children; i++)
        one->children[i] -= first_node;
}

/* The nodes of a process, their lines and children are each contiguous. */
struct slice {
    uint32_t first, n;
};

static struct slice slice_lines(const struct nytp_profile *profile, struct slice nodes)
{
    struct slice lines = {0, 0};
    for (uint32_t i = nodes.first; i < nodes.first + nodes.n; i++) {
        const struct nytp_node *node = &profile->nodes[i];
        if (node->n_node_lines == 0)
            continue;
        if (lines.n == 0)
            lines.first = node->first_node_line;
        lines.n = node->first_node_line + node->n_node_lines - lines.first;
    }
    return lines;
}

static struct slice slice_children(const struct nytp_profile *profile, struct slice nodes)
{
    struct slice children = {0, 0};
    for (uint32_t i = nodes.first; i < nodes.first + nodes.n; i++) {
        const struct nytp_node *node = &profile->nodes[i];
        if (node->n_children == 0)
            continue;
        if (children.n == 0)
            children.first = node->first_child;
        children.n = node->first_child + node->n_children - children.first;
    }
    return children;
}

/* The part's calls, as far as this process made all of them or its tree tells. */
static bool take_arcs(struct nytp_profile *one, const struct nytp_profile *profile,
                      uint32_t part)
{
    struct nytp_arcs_before before;
    if (!nytp_arcs_before_init(&before, profile))
        return false;
    nytp_arcs_before_take_part(&before, part);
    const bool ok = nytp_profile_rebuild(one, &before);
    nytp_arcs_before_free(&before);
    return ok;
}

/* Spans are sorted by process. */
static struct slice slice_spans(const struct nytp_profile *profile, struct slice nodes)
{
    uint32_t low = 0, high = profile->n_spans;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (profile->spans[middle].node < nodes.first)
            low = middle + 1;
        else
            high = middle;
    }
    struct slice spans = {low, 0};
    while (low + spans.n < profile->n_spans &&
           profile->spans[low + spans.n].node < nodes.first + nodes.n)
        spans.n++;
    return spans;
}

static bool copy_process(struct nytp_profile *one, const struct nytp_profile *profile,
                         uint32_t process)
{
    const uint32_t root = profile->processes[process].root;
    const struct slice nodes = {root, nytp_process_nodes_end(profile, process) - root};
    const struct slice lines = slice_lines(profile, nodes);
    const struct slice children = slice_children(profile, nodes);
    *one = *profile;
    one->strings = NULL;
    one->arena = NULL;
    one->line_costs = NULL;
    one->arcs = NULL;
    one->n_line_costs = one->n_arcs = 0;
    one->n_nodes = nodes.n;
    one->n_node_lines = lines.n;
    one->n_children = children.n;
    one->parts = COPY(profile->parts, 0, 1);
    one->processes = COPY(profile->processes, 0, 1);
    one->attributes = COPY(profile->attributes, 0, profile->n_attributes);
    one->options = COPY(profile->options, 0, profile->n_options);
    one->files = COPY(profile->files, 0, profile->n_files);
    one->sources = COPY(profile->sources, 0, profile->n_sources);
    one->subs = COPY(profile->subs, 0, profile->n_subs);
    one->nodes = COPY(profile->nodes, nodes.first, nodes.n);
    one->node_lines = COPY(profile->node_lines, lines.first, lines.n);
    one->children = COPY(profile->children, children.first, children.n);
    const struct slice spans = slice_spans(profile, nodes);
    one->spans = COPY(profile->spans, spans.first, spans.n);
    one->n_spans = spans.n;
    if (one->parts == NULL || one->processes == NULL || one->attributes == NULL ||
        one->options == NULL || one->files == NULL || one->sources == NULL ||
        one->subs == NULL || one->nodes == NULL || one->node_lines == NULL ||
        one->children == NULL || one->spans == NULL)
        return false;
    take_part(one, profile, &profile->processes[process]);
    take_nodes(one, nodes.first, lines.first, children.first);
    for (uint32_t i = 0; i < spans.n; i++)
        one->spans[i].node -= nodes.first;
    return take_arcs(one, profile, profile->processes[process].part);
}

struct nytp_profile *nytp_select_process(const struct nytp_profile *profile, uint32_t process,
                                         struct nytp_error *error)
{
    struct nytp_profile *one = malloc(sizeof *one);
    if (one != NULL && copy_process(one, profile, process))
        return one;
    if (one != NULL)
        nytp_profile_free(one);
    nytp_error_set(error, NYTP_ERR_MEMORY, "out of memory");
    return NULL;
}
