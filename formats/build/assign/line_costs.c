/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The step of the assignment that puts every context's time on lines (assignment.h).
 *
 * A context whose lines were measured in it keeps them. Where lines are known only for a whole
 * sub, the sub's contexts share them: times per line and times per context are both known, and
 * both come out exactly.
 */
#include "assignment.h"
#include "formats/model/profile.h"
#include "formats/model/totals.h"

#include <stdlib.h>
#include <string.h>

/* Note that a node has this time and these statements on this line. */
static bool add_entry(struct nytp_assignment *s, struct nytp_tree_line e)
{
    if (!NYTP_GROW(&s->entries))
        return false;
    s->entries.at[s->entries.n++] = e;
    return true;
}

/* A line of a node, with its SVs; or one that is dealt out to nodes. */
struct weighted {
    struct nytp_tree_line line;
    int64_t weight;
    struct nytp_svs svs;
    int64_t budget;       /* ticks that are not dealt out yet */
    uint32_t first_entry; /* that got some, index + 1 */
};

static int by_line(const void *x, const void *y)
{
    const struct weighted *a = x, *b = y;
    NYTP_RETURN_ORDER(a->line.file, b->line.file);
    return a->line.line < b->line.line ? -1 : a->line.line > b->line.line;
}

/* Make the weights sum to more than 0, in the order in which measurements say most: time less
 * calls, time, executions, anything. Returns the sum. */
static int64_t weigh_lines(struct weighted *lines, uint32_t n)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += lines[i].weight = nytp_at_least_0(lines[i].weight);
    for (uint32_t i = 0; sum == 0 && i < n; i++)
        sum += lines[i].weight = nytp_at_least_0(lines[i].line.ticks);
    if (sum == 0)
        for (uint32_t i = 0; i < n; i++)
            sum += lines[i].weight = (int64_t)(lines[i].line.statements & INT32_MAX);
    if (sum == 0 && n > 0)
        sum = lines[0].weight = 1;
    return sum;
}

/* A node whose lines were measured in its own context. */
static bool apportion_measured(struct nytp_assignment *s, uint32_t node, struct weighted *lines)
{
    const struct nytp_profile *p = s->p;
    const struct nytp_calltree *t = &s->b->stack.tree;
    const struct nytp_node *n = &p->nodes[node];
    uint32_t n_lines = 0;
    for (uint32_t l = t->nodes[s->raw_of_node[node]].first_line; l != 0; l = t->lines[l].next)
        lines[n_lines++] = (struct weighted){.line = t->lines[l],
                                             .weight = t->lines[l].ticks,
                                             .svs = nytp_calltree_svs(t, &t->line_memory, l)};
    if (n_lines > 0)
        qsort(lines, n_lines, sizeof *lines, by_line);
    for (uint32_t c = 0; c < n->n_children; c++) {
        const uint32_t child = p->children[n->first_child + c];
        const struct weighted key = {
            .line = {.file = p->nodes[child].file, .line = p->nodes[child].line}};
        struct weighted *at = bsearch(&key, lines, n_lines, sizeof *lines, by_line);
        if (at != NULL)
            at->weight -= s->deficit[child];
    }
    struct nytp_sharing sharing = {.total = n->excl_ticks, .sum = weigh_lines(lines, n_lines)};
    for (uint32_t i = 0; i < n_lines; i++) {
        struct nytp_tree_line entry = lines[i].line;
        entry.node = node;
        entry.ticks = nytp_next_share(&sharing, lines[i].weight);
        if (entry.ticks == 0 && entry.statements == 0 && nytp_svs_are_empty(lines[i].svs))
            continue;
        if (!add_entry(s, entry) ||
            !nytp_svs_rows_add(
                &s->svs, (struct nytp_svs_row){node, entry.file, entry.line, lines[i].svs}))
            return false;
    }
    return true;
}

/* Nodes of one sub in one process whose lines are known only in total: budgets per line, dealt
 * out to the nodes. Big nodes get every line in proportion; small ones take what comes, so
 * that there are not more entries than nodes and lines. Both the totals per line and those
 * per node are exact. */
struct dealing {
    struct weighted *lines;
    uint32_t n_lines, at;
    int64_t remaining;
};

static bool deal_line(struct nytp_assignment *s, struct dealing *d, uint32_t node,
                      struct weighted *line, int64_t ticks)
{
    if (ticks == 0)
        return true;
    line->budget -= ticks;
    d->remaining -= ticks;
    if (!add_entry(s, (struct nytp_tree_line){.node = node,
                                              .file = line->line.file,
                                              .line = line->line.line,
                                              .next = line->first_entry,
                                              .ticks = ticks}))
        return false;
    line->first_entry = s->entries.n;
    return true;
}

static bool deal_in_proportion(struct nytp_assignment *s, struct dealing *d, uint32_t node,
                               int64_t ticks)
{
    struct nytp_sharing sharing = {.total = ticks, .sum = d->remaining};
    for (uint32_t i = 0; i < d->n_lines; i++)
        if (!deal_line(s, d, node, &d->lines[i], nytp_next_share(&sharing, d->lines[i].budget)))
            return false;
    return true;
}

static bool deal_what_comes(struct nytp_assignment *s, struct dealing *d, uint32_t node,
                            int64_t ticks)
{
    while (ticks > 0) {
        while (d->lines[d->at].budget == 0)
            d->at = (d->at + 1) % d->n_lines;
        struct weighted *const line = &d->lines[d->at];
        const int64_t part = ticks < line->budget ? ticks : line->budget;
        if (!deal_line(s, d, node, line, part))
            return false;
        ticks -= part;
    }
    return true;
}

/* Executions of each line go where its time went; without time to the busiest node. */
static bool deal_statements(struct nytp_assignment *s, struct dealing *d, uint32_t busiest)
{
    for (uint32_t i = 0; i < d->n_lines; i++) {
        const struct nytp_tree_line *l = &d->lines[i].line;
        const uint32_t first = d->lines[i].first_entry;
        if (l->statements == 0)
            continue;
        if (first == 0) {
            if (!add_entry(s, (struct nytp_tree_line){.node = busiest,
                                                      .file = l->file,
                                                      .line = l->line,
                                                      .statements = l->statements,
                                                      .after_leave = l->after_leave}))
                return false;
            continue;
        }
        int64_t sum = 0, cumulated = 0;
        uint64_t given = 0;
        for (uint32_t e = first; e != 0; e = s->entries.at[e - 1].next)
            sum += s->entries.at[e - 1].ticks;
        for (uint32_t e = first; e != 0; e = s->entries.at[e - 1].next) {
            struct nytp_tree_line *const entry = &s->entries.at[e - 1];
            cumulated += entry->ticks;
            const uint64_t upto =
                nytp_mul_div(l->statements, (uint64_t)cumulated, (uint64_t)sum);
            entry->statements = upto - given;
            entry->after_leave = nytp_mul_div(l->after_leave, upto - given, l->statements);
            given = upto;
        }
    }
    return true;
}

/* A node of which no line is known: its sub's first line. */
static bool apportion_on_first_line(struct nytp_assignment *s, uint32_t node)
{
    const struct nytp_sub *sub = &s->p->subs[s->p->nodes[node].sub];
    return s->p->nodes[node].excl_ticks == 0 ||
           add_entry(s, (struct nytp_tree_line){.node = node,
                                                .file = sub->file,
                                                .line = sub->first_line,
                                                .ticks = s->p->nodes[node].excl_ticks});
}

/* SVs that were made in no line of a node: on its sub's first line, too. */
static bool place_svs(struct nytp_assignment *s, uint32_t node)
{
    const struct nytp_sub *sub = &s->p->subs[s->p->nodes[node].sub];
    const struct nytp_calltree *t = &s->b->stack.tree;
    const struct nytp_svs svs = nytp_calltree_svs(t, &t->node_memory, s->raw_of_node[node]);
    const struct nytp_tree_line e = {.node = node, .file = sub->file, .line = sub->first_line};
    return nytp_svs_are_empty(svs) ||
           (add_entry(s, e) &&
            nytp_svs_rows_add(&s->svs, (struct nytp_svs_row){node, e.file, e.line, svs}));
}

#define MOST_CALLS         (UINT64_C(1) << 40)
#define CALL_PARTS         64
#define PROPORTIONAL_SHARE 64 /* nodes with at least 1/64 of their sub's time are "big" */

/* Returns what lines are dealt out by: parts of calls, if no times were recorded.
 * make_node_lines() drops such ticks. */
static int64_t part_of(const struct nytp_assignment *s, const struct nytp_node *node)
{
    return (s->b->p->has & NYTP_HAS_TIMES) != 0
               ? node->excl_ticks
               : (int64_t)(node->calls < MOST_CALLS ? node->calls : MOST_CALLS) * CALL_PARTS;
}

/* `nodes` are sorted by part_of(), largest first. */
static bool deal_lines(struct nytp_assignment *s, struct dealing *d, const uint32_t *nodes,
                       uint32_t n_nodes)
{
    const struct nytp_profile *p = s->p;
    int64_t total = 0;
    for (uint32_t i = 0; i < n_nodes; i++)
        total += nytp_at_least_0(part_of(s, &p->nodes[nodes[i]]));
    struct nytp_sharing sharing = {.total = total, .sum = weigh_lines(d->lines, d->n_lines)};
    for (uint32_t i = 0; i < d->n_lines; i++)
        d->lines[i].budget = nytp_next_share(&sharing, d->lines[i].weight);
    d->remaining = total;
    d->at = 0;
    for (uint32_t i = 0; i < n_nodes; i++) {
        const int64_t ticks = part_of(s, &p->nodes[nodes[i]]);
        bool ok;
        if (ticks < 0)
            ok = apportion_on_first_line(s, nodes[i]);
        else if (ticks >= total / PROPORTIONAL_SHARE && ticks > 0)
            ok = deal_in_proportion(s, d, nodes[i], ticks);
        else
            ok = deal_what_comes(s, d, nodes[i], ticks);
        if (!ok)
            return false;
    }
    return deal_statements(s, d, nodes[0]);
}

struct group {
    uint32_t process, sub, node;
    int64_t excl_ticks;
};

static int by_group(const void *x, const void *y)
{
    const struct group *a = x, *b = y;
    NYTP_RETURN_ORDER(a->process, b->process);
    NYTP_RETURN_ORDER(a->sub, b->sub);
    NYTP_RETURN_ORDER(b->excl_ticks, a->excl_ticks);
    return a->node < b->node ? -1 : a->node > b->node;
}

/* Time of xsubs and opcodes called from each line of a sub, to be taken off its weight. */
static bool sum_leaf_calls(const struct nytp_assignment *s, struct nytp_tick_sums *leaf_ticks)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < s->b->arcs.n; i++) {
        const struct nytp_arc *a = &s->b->arcs.at[i];
        const struct nytp_key key = {a->caller, a->file, a->line, 0};
        if (nytp_is_leaf_kind(s, a->callee))
            ok = nytp_tick_sums_add(leaf_ticks, key, a->excl_ticks);
    }
    return ok;
}

/* The loose lines of one sub in one process become the lines that are dealt out. They are
 * sorted as the groups are: *next is the first that was not passed yet. */
static void gather_loose_lines(const struct nytp_assignment *s, const struct group *group,
                               const struct nytp_tick_sums *leaf_ticks, struct dealing *d,
                               uint32_t *next)
{
    const uint32_t process = group->process, sub = group->sub;
    uint32_t loose = *next;
    while (loose < s->loose.n &&
           (s->loose.at[loose].process < process ||
            (s->loose.at[loose].process == process && s->loose.at[loose].sub < sub)))
        loose++;
    d->n_lines = 0;
    for (; loose < s->loose.n && s->loose.at[loose].process == process &&
           s->loose.at[loose].sub == sub;
         loose++) {
        const struct nytp_loose_line *l = &s->loose.at[loose];
        const struct nytp_key key = {sub, l->file, l->line, 0};
        d->lines[d->n_lines++] =
            (struct weighted){.line = {.file = l->file,
                                       .line = l->line,
                                       .ticks = l->ticks,
                                       .statements = l->statements,
                                       .after_leave = l->after_leave},
                              .weight = l->ticks - nytp_tick_sums_get(leaf_ticks, key)};
    }
    *next = loose;
}

/* Contexts whose lines are not known, in groups of one sub in one process: share the sub's
 * loose lines among them. */
static bool apportion_groups(struct nytp_assignment *s, const struct group *groups,
                             uint32_t n_groups)
{
    struct nytp_tick_sums leaf_ticks = {0};
    struct dealing d = {.lines = malloc((s->loose.n + 1) * sizeof *d.lines)};
    uint32_t *nodes = malloc((n_groups + 1) * sizeof *nodes);
    bool ok = d.lines != NULL && nodes != NULL && sum_leaf_calls(s, &leaf_ticks);
    uint32_t loose = 0;
    for (uint32_t i = 0, end; ok && i < n_groups; i = end) {
        const uint32_t process = groups[i].process, sub = groups[i].sub;
        uint32_t n_nodes = 0;
        for (end = i;
             end < n_groups && groups[end].process == process && groups[end].sub == sub; end++)
            nodes[n_nodes++] = groups[end].node;
        gather_loose_lines(s, &groups[i], &leaf_ticks, &d, &loose);
        if (d.n_lines > 0)
            ok = deal_lines(s, &d, nodes, n_nodes);
        else
            for (uint32_t n = 0; ok && n < n_nodes; n++)
                ok = apportion_on_first_line(s, nodes[n]);
    }
    free(d.lines);
    free(nodes);
    nytp_tick_sums_free(&leaf_ticks);
    return ok;
}

static bool apportion_all(struct nytp_assignment *s)
{
    const struct nytp_profile *p = s->p;
    const struct nytp_calltree *t = &s->b->stack.tree;
    struct group *groups = malloc((p->n_nodes + 1) * sizeof *groups);
    struct weighted *lines = malloc((t->n_lines + 1) * sizeof *lines);
    bool ok = groups != NULL && lines != NULL;
    uint32_t n_groups = 0;
    for (uint32_t i = 0; ok && i < p->n_processes; i++) {
        const uint32_t end = nytp_process_nodes_end(p, i);
        for (uint32_t n = p->processes[i].root; ok && n < end; n++) {
            ok = place_svs(s, n);
            if (!ok)
                break;
            if (t->nodes[s->raw_of_node[n]].first_line != 0)
                ok = apportion_measured(s, n, lines);
            else
                groups[n_groups++] =
                    (struct group){i, p->nodes[n].sub, n, part_of(s, &p->nodes[n])};
        }
    }
    if (ok) {
        qsort(groups, n_groups, sizeof *groups, by_group);
        ok = apportion_groups(s, groups, n_groups);
    }
    free(groups);
    free(lines);
    return ok;
}

/* The SVs that a node kept, on its lines that made any, in proportion. */
static void keep_svs(struct nytp_svs *lines, uint32_t n)
{
    int64_t made = 0, freed = 0;
    for (uint32_t i = 0; i < n; i++) {
        made += nytp_at_least_0(lines[i].net);
        freed += nytp_at_least_0(-lines[i].net);
    }
    struct nytp_sharing sharing = {.total = made - freed, .sum = made};
    for (uint32_t i = 0; made > freed && i < n; i++)
        lines[i].kept = nytp_next_share(&sharing, nytp_at_least_0(lines[i].net));
}

static bool make_node_line_svs(struct nytp_assignment *s)
{
    struct nytp_profile *const p = s->p;
    if (!nytp_svs_place(p, &s->svs))
        return false;
    for (uint32_t i = 0; p->node_line_svs != NULL && i < p->n_nodes; i++)
        keep_svs(p->node_line_svs + p->nodes[i].first_node_line, p->nodes[i].n_node_lines);
    return true;
}

/* Entries into node_lines: bucketed by node, sorted and merged within. */
static bool make_node_lines(struct nytp_assignment *s)
{
    struct nytp_profile *p = s->p;
    const bool has_times = (s->b->p->has & NYTP_HAS_TIMES) != 0;
    uint32_t *first = calloc(p->n_nodes + 2, sizeof *first);
    p->node_lines = malloc((s->entries.n + 1) * sizeof *p->node_lines);
    if (first == NULL || p->node_lines == NULL) {
        free(first);
        return false;
    }
    for (uint32_t i = 0; i < s->entries.n; i++)
        first[s->entries.at[i].node + 2]++;
    for (uint32_t i = 2; i < p->n_nodes + 2; i++)
        first[i] += first[i - 1];
    for (uint32_t i = 0; i < s->entries.n; i++) {
        const struct nytp_tree_line *e = &s->entries.at[i];
        p->node_lines[first[e->node + 1]++] =
            (struct nytp_node_line){.file = e->file,
                                    .line = e->line,
                                    .ticks = has_times ? e->ticks : 0,
                                    .statements = e->statements,
                                    .after_leave = e->after_leave};
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        p->nodes[i].first_node_line = kept;
        kept =
            nytp_node_lines_merge(p, p->node_lines + first[i], first[i + 1] - first[i], kept);
        p->nodes[i].n_node_lines = kept - p->nodes[i].first_node_line;
    }
    p->n_node_lines = kept;
    free(first);
    return true;
}

bool nytp_apportion_lines(struct nytp_assignment *s)
{
    const bool ok = apportion_all(s) && make_node_lines(s) && make_node_line_svs(s);
    free(s->entries.at);
    free(s->svs.rows);
    s->entries.at = NULL;
    return ok;
}
