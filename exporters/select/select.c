/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Selections; see select.h. Each one decides the action of every node and has the tree grown
 * anew. What the expressions mean is what pprof does with them (profile/filter.go in
 * github.com/google/pprof): focus and ignore look at whole stacks before hide and show remove
 * frames, a stack without a frame left is dropped, show_from comes last.
 */
#include "select.h"

#include "detail.h"
#include "formats/base/strings.h"
#include "exporters/base/waits.h"
#include "rename.h"
#include "rewrite.h"

#include <stdlib.h>

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

/* The subs and roots that a list of expressions matches. Root frames of all processes are one
 * sub, but each has the script of its own input as file. */
struct matches {
    bool *subs;  /* per sub; not asked of sub 0 */
    bool *roots; /* per recording: the roots of its processes */
};

/* `alone`: in an input of several processes, whose scripts are not told apart, a root does not
 * match by its file. */
static bool find_matches(const struct nytp_profile *profile,
                         const struct nytp_patterns *patterns, bool alone,
                         struct matches *matches, struct nytp_error *error)
{
    struct nytp_error failed = {0};
    *matches = (struct matches){
        .subs = nytp_patterns_match_subs(patterns, profile, false, error),
        .roots = calloc((size_t)profile->n_recordings + 1, sizeof *matches->roots),
    };
    if (matches->subs == NULL || matches->roots == NULL)
        return false;
    for (uint32_t i = 0; i < profile->n_recordings && patterns->n > 0; i++) {
        const struct nytp_recording *recording = &profile->recordings[i];
        const bool by_file = recording->script != 0 && (!alone || recording->n_processes == 1);
        matches->roots[i] =
            nytp_patterns_match(patterns, profile->subs[0].name, &failed) ||
            (by_file &&
             nytp_patterns_match(patterns, profile->files[recording->script].name, &failed));
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

/* Returns whether a node matches; `recording` is that of its process. */
static bool is_match(const struct nytp_profile *profile, const struct matches *matches,
                     uint32_t node, uint32_t recording)
{
    return is_root(profile, node) ? matches->roots[recording]
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

static void plan_filters(struct nytp_plan *plan, const struct nytp_selection *selection,
                         const struct filters *filters)
{
    const struct nytp_profile *profile = plan->profile;
    uint32_t process = 0;
    for (uint32_t i = 0; i < profile->n_nodes; i++) {
        process = next_process(profile, process, i);
        const uint32_t recording = profile->processes[process].recording;
        const bool builtin = profile->subs[profile->nodes[i].sub].kind == NYTP_SUB_OPCODE &&
                             !is_root(profile, i);
        const bool hidden =
            is_match(profile, &filters->hide, i, recording) ||
            (selection->no_builtins && builtin) ||
            (selection->show.n > 0 && !is_match(profile, &filters->show, i, recording));
        uint8_t seen = is_root(profile, i) ? 0 : filters->seen[profile->nodes[i].parent];
        seen |= is_match(profile, &filters->focus, i, recording) ? SEEN_FOCUS : 0;
        const bool ignored = is_match(profile, &filters->ignore, i, recording);
        seen |= ignored ? SEEN_IGNORE : 0;
        plan->profile->subs[profile->nodes[i].sub].is_lost |= ignored;
        seen |= hidden ? 0 : SEEN_SHOWN;
        filters->seen[i] = seen;
        if (hidden && !is_root(profile, i))
            nytp_plan_action(plan, i, NYTP_HIDE);
        if ((selection->focus.n > 0 && (seen & SEEN_FOCUS) == 0) || (seen & SEEN_IGNORE) != 0 ||
            (seen & SEEN_SHOWN) == 0)
            nytp_plan_drop(plan, i);
    }
}

/* Carry out focus, ignore, hide and show, and hide builtins if asked to, in one rewrite. */
static bool filter_names(struct nytp_profile *profile, const struct nytp_selection *selection,
                         struct nytp_error *error)
{
    if (selection->focus.n + selection->ignore.n + selection->hide.n + selection->show.n == 0 &&
        !selection->no_builtins)
        return true;
    struct nytp_plan plan;
    struct filters filters = {
        .seen = calloc((size_t)profile->n_nodes + 1, sizeof *filters.seen),
    };
    const bool planned =
        nytp_plan_begin(&plan, profile) && filters.seen != NULL &&
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
    return nytp_plan_end(&plan, planned, error);
}

/* ---- show_from ---- */

static bool show_from(struct nytp_profile *profile, const struct nytp_patterns *patterns,
                      struct nytp_error *error)
{
    if (patterns->n == 0)
        return true;
    struct nytp_plan plan;
    struct matches matches = {0};
    bool *below = calloc((size_t)profile->n_nodes + 1, sizeof *below);
    const bool planned = nytp_plan_begin(&plan, profile) && below != NULL &&
                         find_matches(profile, patterns, false, &matches, error);
    uint32_t process = 0;
    for (uint32_t i = 0; planned && i < profile->n_nodes; i++) {
        const struct nytp_node *node = &profile->nodes[i];
        process = next_process(profile, process, i);
        below[i] = is_match(profile, &matches, i, profile->processes[process].recording) ||
                   (!is_root(profile, i) && below[node->parent]);
        if (!below[i] && is_root(profile, i))
            nytp_plan_drop(&plan, i);
        else if (!below[i])
            nytp_plan_action(&plan, i, NYTP_DROP);
    }
    free_matches(&matches);
    free(below);
    return nytp_plan_end(&plan, planned, error);
}

/* ---- waiting ---- */

static bool drop_waits(struct nytp_profile *profile, const struct nytp_patterns *more,
                       struct nytp_error *error)
{
    struct nytp_plan plan;
    struct nytp_waits waits;
    bool planned = nytp_plan_begin(&plan, profile);
    planned = nytp_waits_init(&waits, profile, more, error) && planned;
    for (uint32_t i = 0; planned && i < profile->n_nodes; i++)
        if (waits.kinds[i] != NYTP_WAIT_NONE) {
            profile->subs[profile->nodes[i].sub].is_lost = true;
            nytp_plan_drop(&plan, i);
        }
    nytp_waits_free(&waits);
    return nytp_plan_end(&plan, planned, error);
}

/* ---- recursion, depth ---- */

static bool collapse_recursion(struct nytp_profile *profile, struct nytp_error *error)
{
    struct nytp_plan plan;
    const bool planned = nytp_plan_begin(&plan, profile);
    for (uint32_t i = 0; planned && i < profile->n_nodes; i++) {
        const struct nytp_node *node = &profile->nodes[i];
        if (!is_root(profile, i) && node->sub == profile->nodes[node->parent].sub)
            nytp_plan_action(&plan, i, NYTP_MERGE_INTO_CALLER);
    }
    return nytp_plan_end(&plan, planned, error);
}

static bool limit_depth(struct nytp_profile *profile, uint32_t max_depth,
                        struct nytp_error *error)
{
    struct nytp_plan plan;
    const bool planned = nytp_plan_begin(&plan, profile);
    for (uint32_t i = 0; planned && i < profile->n_nodes; i++)
        if (profile->nodes[i].depth >= max_depth && !is_root(profile, i))
            nytp_plan_action(&plan, i, NYTP_HIDE);
    return nytp_plan_end(&plan, planned, error);
}

/* ---- min_percent ---- */

/* Adds the sub "(pruned)" for small calls. */
static bool add_pruned_sub(struct nytp_profile *profile, uint32_t *sub_of, uint32_t *pruned)
{
    static const char name[] = "(pruned)";
    const uint32_t n = profile->n_subs;
    const uint32_t id = nytp_strings_intern(profile->strings, name, sizeof name - 1);
    struct nytp_listed_sub *const list = id != UINT32_MAX ? nytp_list_subs(profile, 1) : NULL;
    if (list == NULL)
        return false;
    list[n].old = n;
    list[n].sub.name = nytp_strings_get(profile->strings, id);
    if (!nytp_install_subs(profile, list, n + 1, sub_of))
        return false;
    *pruned = sub_of[n];
    return true;
}

/* Calls whose inclusive time is below the limit become calls of "(pruned)", with all that is
 * below them. */
static bool prune_small_calls(struct nytp_profile *profile, double min_percent, double of_s,
                              struct nytp_error *error)
{
    struct nytp_plan plan;
    uint32_t *sub_of = calloc((size_t)profile->n_subs + 1, sizeof *sub_of);
    bool planned = nytp_plan_begin(&plan, profile) && sub_of != NULL;
    const double total =
        of_s > 0 ? of_s * (double)profile->ticks_per_sec : (double)profile->total.ticks;
    const double limit = total * min_percent / 100;
    for (uint32_t i = 0; planned && i < profile->n_nodes; i++) {
        const struct nytp_node *node = &profile->nodes[i];
        const uint8_t above = plan.action[node->parent];
        if (is_root(profile, i))
            continue;
        if (above == NYTP_PRUNE || above == NYTP_PRUNE_BELOW)
            nytp_plan_action(&plan, i, NYTP_PRUNE_BELOW);
        else if ((double)node->incl_ticks < limit)
            nytp_plan_action(&plan, i, NYTP_PRUNE);
    }
    if (planned && plan.changes) {
        planned = add_pruned_sub(profile, sub_of, &plan.pruned_sub);
        plan.sub_of = sub_of;
    }
    const bool ok = nytp_plan_end(&plan, planned, error);
    free(sub_of);
    return ok;
}

/* ---- all of them ---- */

static void report_misses(const struct nytp_profile *profile,
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
    if (selection->merge_evals && !nytp_merge_evals(profile, error))
        return false;
    if (selection->detail && !nytp_add_details(profile, error))
        return false;
    report_misses(profile, selection);
    if (selection->no_wait && !drop_waits(profile, &selection->waits, error))
        return false;
    if (!filter_names(profile, selection, error) ||
        !show_from(profile, &selection->show_from, error))
        return false;
    if (selection->collapse_recursion && !collapse_recursion(profile, error))
        return false;
    if (selection->max_depth > 0 && !limit_depth(profile, selection->max_depth, error))
        return false;
    return selection->min_percent <= 0 ||
           prune_small_calls(profile, selection->min_percent, selection->of_s, error);
}
