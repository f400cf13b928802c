/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Arcs, line costs and totals of subs; see totals.h.
 */
#include "totals.h"

#include "formats/base/arena.h"
#include "profile.h"
#include "svs.h"

#include <stdlib.h>
#include <string.h>

/* Per callee: recorded arcs minus arcs of the tree. All zero = they agree. */
struct difference {
    int64_t calls, excl_ticks;
    bool recorded;
};

static bool choose_arcs(struct nytp_profile *p, struct nytp_arc_list *list,
                        const struct nytp_arc *recorded, uint32_t n_recorded)
{
    struct difference *diff = calloc(p->n_subs, sizeof *diff);
    if (diff == NULL)
        return false;
    for (uint32_t i = 0; i < n_recorded; i++) {
        diff[recorded[i].callee].calls += (int64_t)recorded[i].calls;
        diff[recorded[i].callee].excl_ticks += recorded[i].excl_ticks;
        diff[recorded[i].callee].recorded = true;
    }
    for (uint32_t i = 0; i < list->n; i++) {
        diff[list->arcs[i].callee].calls -= (int64_t)list->arcs[i].calls;
        diff[list->arcs[i].callee].excl_ticks -= list->arcs[i].excl_ticks;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        const struct difference *d = &diff[list->arcs[i].callee];
        if (!d->recorded || d->calls != 0 || d->excl_ticks != 0)
            list->arcs[kept++] = list->arcs[i];
    }
    list->n = kept;
    bool ok = true;
    for (uint32_t i = 0; ok && i < n_recorded; i++) {
        const struct difference *d = &diff[recorded[i].callee];
        if (d->calls != 0 || d->excl_ticks != 0)
            continue;
        ok = nytp_grow(&list->arcs, &list->capacity, list->n, sizeof *list->arcs);
        if (ok)
            list->arcs[list->n++] = recorded[i];
    }
    free(diff);
    return ok;
}

/* A sub that calls others without being called gets an arc from the root: its call was not
 * counted, as with a block that List::Util runs. So there is one root. */
static bool root_orphans(struct nytp_profile *p, struct nytp_arc_list *list)
{
    struct {
        bool is_called, calls;
        int64_t outgoing;
    } *const subs = calloc(p->n_subs, sizeof *subs);
    bool ok = subs != NULL;
    for (uint32_t i = 0; ok && i < list->n; i++) {
        subs[list->arcs[i].callee].is_called = true;
        subs[list->arcs[i].caller].calls = true;
        subs[list->arcs[i].caller].outgoing += list->arcs[i].incl_ticks;
    }
    for (uint32_t i = 1; ok && i < p->n_subs; i++) {
        if (subs[i].is_called || !subs[i].calls)
            continue;
        ok = nytp_grow(&list->arcs, &list->capacity, list->n, sizeof *list->arcs);
        if (ok)
            list->arcs[list->n++] =
                (struct nytp_arc){.caller = 0, .callee = i, .incl_ticks = subs[i].outgoing};
    }
    free(subs);
    return ok;
}

static bool install_arcs(struct nytp_profile *p, struct nytp_arc_list *list, bool ok)
{
    ok = ok && root_orphans(p, list);
    free(p->arcs);
    p->arcs = list->arcs;
    p->n_arcs = list->n;
    if (ok)
        nytp_profile_sum_arcs(p);
    return ok;
}

bool nytp_profile_make_arcs(struct nytp_profile *p, const struct nytp_arc *recorded,
                            uint32_t n_recorded)
{
    struct nytp_arc_list list = {0};
    const bool ok = nytp_profile_tree_arcs(p, &list) &&
                    (n_recorded == 0 || choose_arcs(p, &list, recorded, n_recorded));
    return install_arcs(p, &list, ok);
}

static bool keep_arcs(struct nytp_profile *p, const struct nytp_arcs_before *before)
{
    struct nytp_arc_list now = {0}, list = {0};
    const bool ok =
        nytp_profile_tree_arcs(p, &now) && nytp_arcs_before_choose(p, before, &now, &list);
    free(now.arcs);
    return install_arcs(p, &list, ok);
}

static int by_caller_callee_place(const void *x, const void *y)
{
    const struct nytp_arc *a = x, *b = y;
    NYTP_RETURN_ORDER(a->caller, b->caller);
    NYTP_RETURN_ORDER(a->callee, b->callee);
    NYTP_RETURN_ORDER(a->recording, b->recording);
    NYTP_RETURN_ORDER(a->file, b->file);
    return a->line < b->line ? -1 : a->line > b->line;
}

void nytp_profile_sum_arcs(struct nytp_profile *p)
{
    if (p->n_arcs > 0)
        qsort(p->arcs, p->n_arcs, sizeof *p->arcs, by_caller_callee_place);
    for (uint32_t i = 0; i < p->n_subs; i++) {
        struct nytp_sub *s = &p->subs[i];
        s->calls = 0;
        s->excl_ticks = s->incl_ticks = s->reci_ticks = 0;
        s->rec_depth = s->first_arc = s->n_arcs = 0;
    }
    p->total.calls = 0;
    for (uint32_t i = p->n_arcs; i-- > 0;) {
        const struct nytp_arc *a = &p->arcs[i];
        struct nytp_sub *callee = &p->subs[a->callee], *caller = &p->subs[a->caller];
        callee->calls += a->calls;
        callee->excl_ticks += a->excl_ticks;
        callee->incl_ticks += a->incl_ticks;
        callee->reci_ticks = nytp_ticks_sum(callee->reci_ticks, a->reci_ticks);
        if (callee->rec_depth < a->rec_depth)
            callee->rec_depth = a->rec_depth;
        caller->first_arc = i;
        caller->n_arcs++;
        p->total.calls += a->calls;
    }
    for (uint32_t i = 0; i < p->n_processes; i++) {
        p->subs[0].excl_ticks += p->nodes[p->processes[i].root].excl_ticks;
        p->subs[0].calls += p->nodes[p->processes[i].root].calls;
    }
    p->subs[0].incl_ticks = p->total.ticks;
}

static int by_place(const void *x, const void *y)
{
    const struct nytp_line_cost *a = x, *b = y;
    NYTP_RETURN_ORDER(a->recording, b->recording);
    NYTP_RETURN_ORDER(a->file, b->file);
    return a->line < b->line ? -1 : a->line > b->line;
}

/* Makes a line cost for each node line, sub by sub: those of a sub are at costs[first[sub]] up
 * to costs[first[sub + 1]]. `first` is zeroed and has one element more than that. */
static void collect_line_costs(const struct nytp_profile *p, uint32_t *first,
                               struct nytp_line_cost *costs)
{
    for (uint32_t i = 0; i < p->n_nodes; i++)
        first[p->nodes[i].sub + 2] += p->nodes[i].n_node_lines;
    for (uint32_t i = 2; i < p->n_subs + 2; i++)
        first[i] += first[i - 1];
    for (uint32_t process = 0; process < p->n_processes; process++) {
        const uint32_t end = nytp_process_nodes_end(p, process);
        for (uint32_t i = p->processes[process].root; i < end; i++) {
            const struct nytp_node *n = &p->nodes[i];
            for (uint32_t l = n->first_node_line; l < n->first_node_line + n->n_node_lines; l++)
                costs[first[n->sub + 1]++] =
                    (struct nytp_line_cost){n->sub,
                                            p->processes[process].recording,
                                            p->node_lines[l].file,
                                            p->node_lines[l].line,
                                            p->node_lines[l].ticks,
                                            p->node_lines[l].statements,
                                            p->node_lines[l].cpu_ticks};
        }
    }
}

/* Sorts the n costs of a sub and adds up those of one place. The results go to costs[*n_kept]
 * and following, which never overtakes `own`. */
static void merge_line_costs(struct nytp_sub *s, struct nytp_line_cost *costs,
                             struct nytp_line_cost *own, uint32_t n, uint32_t *n_kept)
{
    uint32_t kept = *n_kept;
    qsort(own, n, sizeof *own, by_place);
    s->first_line_cost = kept;
    s->statements = 0;
    s->cpu_ticks = 0;
    for (uint32_t i = 0; i < n; i++) {
        s->statements += own[i].statements;
        s->cpu_ticks += own[i].cpu_ticks;
        if (kept > s->first_line_cost && by_place(&costs[kept - 1], &own[i]) == 0) {
            costs[kept - 1].excl_ticks += own[i].excl_ticks;
            costs[kept - 1].statements += own[i].statements;
            costs[kept - 1].cpu_ticks += own[i].cpu_ticks;
        } else {
            costs[kept++] = own[i];
        }
    }
    s->n_line_costs = kept - s->first_line_cost;
    *n_kept = kept;
}

/* Adds the SVs of a node's lines to those of its sub's line costs. */
static void add_node_svs(struct nytp_profile *p, const struct nytp_node *n, uint32_t recording)
{
    struct nytp_sub *const s = &p->subs[n->sub];
    for (uint32_t l = n->first_node_line; l < n->first_node_line + n->n_node_lines; l++) {
        if (nytp_svs_are_none(p->node_line_svs[l]))
            continue;
        const struct nytp_line_cost key = {.recording = recording,
                                           .file = p->node_lines[l].file,
                                           .line = p->node_lines[l].line};
        const struct nytp_line_cost *const cost =
            bsearch(&key, p->line_costs + s->first_line_cost, s->n_line_costs,
                    sizeof *p->line_costs, by_place);
        if (cost != NULL)
            nytp_svs_add(&p->line_cost_svs[cost - p->line_costs], p->node_line_svs[l]);
        s->svs += p->node_line_svs[l].net;
        nytp_bytes_add(&s->bytes, p->node_line_svs[l].bytes);
    }
}

static bool sum_svs(struct nytp_profile *p)
{
    free(p->line_cost_svs);
    p->line_cost_svs = NULL;
    if (p->node_line_svs == NULL)
        return true;
    p->line_cost_svs = calloc((size_t)p->n_line_costs + 1, sizeof *p->line_cost_svs);
    if (p->line_cost_svs == NULL)
        return false;
    for (uint32_t i = 0; i < p->n_subs; i++) {
        p->subs[i].svs = 0;
        p->subs[i].bytes = (struct nytp_bytes){{0}};
    }
    for (uint32_t process = 0; process < p->n_processes; process++) {
        const uint32_t end = nytp_process_nodes_end(p, process);
        for (uint32_t i = p->processes[process].root; i < end; i++)
            add_node_svs(p, &p->nodes[i], p->processes[process].recording);
    }
    return true;
}

bool nytp_profile_make_line_costs(struct nytp_profile *p)
{
    uint32_t *first = calloc((size_t)p->n_subs + 2, sizeof *first);
    struct nytp_line_cost *costs = malloc(((size_t)p->n_node_lines + 1) * sizeof *costs);
    if (first == NULL || costs == NULL) {
        free(first);
        free(costs);
        return false;
    }
    collect_line_costs(p, first, costs);
    uint32_t kept = 0;
    for (uint32_t sub = 0; sub < p->n_subs; sub++)
        merge_line_costs(&p->subs[sub], costs, costs + first[sub], first[sub + 1] - first[sub],
                         &kept);
    free(first);
    free(p->line_costs);
    p->line_costs = costs;
    p->n_line_costs = kept;
    return sum_svs(p);
}

uint32_t nytp_node_lines_merge(struct nytp_profile *p, struct nytp_node_line *lines, uint32_t n,
                               uint32_t kept)
{
    const uint32_t first = kept;
    uint32_t n_sorted = 1; /* mostly all of them: those of one context come in order */
    while (n_sorted < n && nytp_compare_node_lines(&lines[n_sorted - 1], &lines[n_sorted]) <= 0)
        n_sorted++;
    if (n_sorted < n)
        qsort(lines, n, sizeof *lines, nytp_compare_node_lines);
    for (uint32_t l = 0; l < n; l++) {
        if (kept > first && nytp_compare_node_lines(&p->node_lines[kept - 1], &lines[l]) == 0) {
            p->node_lines[kept - 1].ticks += lines[l].ticks;
            p->node_lines[kept - 1].statements += lines[l].statements;
            p->node_lines[kept - 1].after_leave += lines[l].after_leave;
            p->node_lines[kept - 1].cpu_ticks += lines[l].cpu_ticks;
        } else {
            p->node_lines[kept++] = lines[l];
        }
    }
    return kept;
}

void nytp_profile_sum_tree(struct nytp_profile *p)
{
    for (uint32_t i = 0; i < p->n_nodes; i++)
        p->nodes[i].incl_ticks = p->nodes[i].excl_ticks;
    for (uint32_t i = p->n_nodes; i-- > 0;)
        if (p->nodes[i].parent != i)
            p->nodes[p->nodes[i].parent].incl_ticks += p->nodes[i].incl_ticks;
    p->total.ticks = 0;
    for (uint32_t i = 0; i < p->n_processes; i++)
        p->total.ticks += p->nodes[p->processes[i].root].incl_ticks;
}

bool nytp_profile_rebuild(struct nytp_profile *p, const struct nytp_arcs_before *before)
{
    nytp_profile_sum_tree(p);
    p->total.statements = 0;
    for (uint32_t i = 0; i < p->n_node_lines; i++)
        p->total.statements += p->node_lines[i].statements;
    return keep_arcs(p, before) && nytp_profile_make_line_costs(p);
}
