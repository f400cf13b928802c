/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Takes off what recording cost; see correction.h.
 *
 * Nothing is taken off single statements or calls. A tick is 100 ns and recording a statement
 * costs about 10, so a single short statement often cannot give what its recording cost, and
 * the rest would be lost. The sum over a context can: it has as many statements as it has
 * costs. So costs are taken off contexts, and what is left is apportioned to the lines, the
 * arcs and the time line as it was before.
 *
 * An example, in ticks. A statement costs 0.2, a call of a perl sub 0.3 inside it and 0.2
 * outside. Line 1 ran four times, 16 ticks in all, and each time called f, whose line 5 took 3,
 * 2, 2 and 3. Then line 2 ran once, 4 ticks.
 *
 *     f      10 - 4 x 0.2 - 4 x 0.3 = 8     line 5 has all of it
 *     main   20 - 5 x 0.2 - 4 x 0.2 = 18.2, which becomes 18
 *     its lines have 16 - 4 x 0.2 - 4 x 0.2 = 14.4 and 4 - 0.2 = 3.8, and share the 18 by that:
 *     14 and 4
 *
 * The total was 30 and is 26; main's inclusive time is that, too.
 */
#include "correction.h"

#include "formats/model/profile.h"
#include "formats/model/totals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The cost of recording an event of each kind, in ticks. struct nytp_costs has picoseconds. */
struct costs {
    double stmt, leave, call_in, call_out, xsub_in, xsub_out, op_in, op_out;
};

static struct costs in_ticks(const struct nytp_costs *costs, int64_t ticks_per_sec)
{
    const double scale = (double)ticks_per_sec / 1e12;
    return (struct costs){
#define NYTP_COST(kind) .kind = (double)costs->kind * scale,
#include "formats/stream/comments/cost_kinds.def"
    };
}

static double cost_in(const struct costs *costs, enum nytp_sub_kind kind)
{
    return kind == NYTP_SUB_XSUB     ? costs->xsub_in
           : kind == NYTP_SUB_OPCODE ? costs->op_in
                                     : costs->call_in;
}

static double cost_out(const struct costs *costs, enum nytp_sub_kind kind)
{
    return kind == NYTP_SUB_XSUB     ? costs->xsub_out
           : kind == NYTP_SUB_OPCODE ? costs->op_out
                                     : costs->call_out;
}

/* The state that the steps share. */
struct correction {
    struct nytp_profile *p;
    int64_t *incl_before; /* per node */
    double *weights;      /* of the lines of one node */
};

/* ---- contexts and their lines ---- */

/* Returns the cost of the calls made from a context, which is their caller. */
static double calls_out_of(const struct nytp_profile *p, uint32_t node,
                           const struct costs *costs)
{
    const struct nytp_node *n = &p->nodes[node];
    double sum = 0;
    for (uint32_t c = n->first_child; c < n->first_child + n->n_children; c++) {
        const struct nytp_node *child = &p->nodes[p->children[c]];
        sum += (double)child->calls * cost_out(costs, p->subs[child->sub].kind);
    }
    return sum;
}

/* Returns the cost of being called, for a context as the callee. */
static double calls_into(const struct nytp_profile *p, uint32_t node, const struct costs *costs)
{
    const struct nytp_node *n = &p->nodes[node];
    return (double)n->calls * cost_in(costs, p->subs[n->sub].kind);
}

/* Returns the cost of a line's statements. */
static double line_cost(const struct nytp_node_line *line, const struct costs *costs)
{
    return (double)line->statements * costs->stmt + (double)line->after_leave * costs->leave;
}

/* Returns the cost of all statements of a context. */
static double statements_of(const struct nytp_profile *p, uint32_t node,
                            const struct costs *costs)
{
    const struct nytp_node *n = &p->nodes[node];
    double sum = 0;
    for (uint32_t i = 0; i < n->n_node_lines; i++)
        sum += line_cost(&p->node_lines[n->first_node_line + i], costs);
    return sum;
}

/* Sets each line's own time: its time less its part of the call's cost, its statements' cost,
 * and the cost of the calls made from it. Returns the sum. */
static double weigh_lines(const struct correction *c, uint32_t node, const struct costs *costs,
                          double call_cost)
{
    const struct nytp_profile *p = c->p;
    const struct nytp_node *n = &p->nodes[node];
    const struct nytp_node_line *lines = p->node_lines + n->first_node_line;
    const double own_share = 1 - call_cost / (double)n->excl_ticks;
    for (uint32_t i = 0; i < n->n_node_lines; i++)
        c->weights[i] = (double)lines[i].ticks * (own_share > 0 ? own_share : 0) -
                        line_cost(&lines[i], costs);
    for (uint32_t i = n->first_child; i < n->first_child + n->n_children; i++) {
        const struct nytp_node *child = &p->nodes[p->children[i]];
        const struct nytp_node_line *l = nytp_node_line_at(p, n, child->file, child->line);
        if (l != NULL)
            c->weights[l - lines] -=
                (double)child->calls * cost_out(costs, p->subs[child->sub].kind);
    }
    double sum = 0;
    for (uint32_t i = 0; i < n->n_node_lines; i++)
        sum += c->weights[i] = c->weights[i] > 0 ? c->weights[i] : 0;
    if (sum > 0)
        return sum;
    for (uint32_t i = 0; i < n->n_node_lines; i++)
        sum += c->weights[i] = lines[i].ticks > 0 ? (double)lines[i].ticks : 0;
    return sum;
}

/* The node's lines share its new time by weight, to the tick. */
static void correct_lines(const struct correction *c, uint32_t node, const struct costs *costs,
                          double call_cost, int64_t ticks)
{
    struct nytp_node *n = &c->p->nodes[node];
    struct nytp_node_line *lines = c->p->node_lines + n->first_node_line;
    if (n->n_node_lines == 0)
        return;
    const double sum = weigh_lines(c, node, costs, call_cost);
    double cumulated = 0;
    int64_t given = 0;
    for (uint32_t i = 0; i < n->n_node_lines; i++) {
        cumulated += c->weights[i];
        const bool is_last = i + 1 == n->n_node_lines;
        int64_t upto = is_last || sum <= 0 ? ticks : (int64_t)((double)ticks * cumulated / sum);
        if (upto > ticks)
            upto = ticks;
        lines[i].ticks = upto - given;
        given = upto;
    }
}

/* Returns the cost of all events of a context. *call_cost is the part for being called. */
static double cost_of_node(const struct nytp_profile *p, uint32_t node, bool is_root,
                           const struct costs *costs, double *call_cost)
{
    *call_cost = is_root ? 0 : calls_into(p, node, costs);
    return *call_cost + calls_out_of(p, node, costs) + statements_of(p, node, costs);
}

double *nytp_recording_by_sub(const struct nytp_profile *p)
{
    double *by_sub = calloc((size_t)p->n_subs + 1, sizeof *by_sub);
    for (uint32_t process = 0; by_sub != NULL && process < p->n_processes; process++) {
        const uint32_t root = p->processes[process].root;
        const uint32_t end = nytp_process_nodes_end(p, process);
        const struct costs costs = in_ticks(&p->processes[process].costs, p->ticks_per_sec);
        double call_cost;
        if (p->processes[process].recording_ticks == 0)
            continue;
        for (uint32_t i = root; i < end; i++)
            by_sub[p->nodes[i].sub] += cost_of_node(p, i, i == root, &costs, &call_cost);
    }
    return by_sub;
}

/* The exclusive time of a node without what recording cost. */
static int64_t rest_of(const struct nytp_node *node, double cost)
{
    const double rest = (double)node->excl_ticks - cost;
    return rest > 0 ? llround(rest) : 0;
}

/* Take the cost of a context's events off its exclusive time, and off its lines. */
static void correct_node(const struct correction *c, uint32_t node, bool is_root,
                         const struct costs *costs)
{
    struct nytp_profile *p = c->p;
    struct nytp_node *n = &p->nodes[node];
    if (n->excl_ticks <= 0) /* nothing there, or a clock that ran back: left as it is */
        return;
    double call_cost;
    const int64_t ticks = rest_of(n, cost_of_node(p, node, is_root, costs, &call_cost));
    correct_lines(c, node, costs, call_cost, ticks);
    n->excl_ticks = ticks;
}

static void correct_tree(struct correction *c)
{
    struct nytp_profile *p = c->p;
    for (uint32_t process = 0; process < p->n_processes; process++) {
        const uint32_t root = p->processes[process].root;
        const uint32_t end = nytp_process_nodes_end(p, process);
        const struct costs costs = in_ticks(&p->processes[process].costs, p->ticks_per_sec);
        for (uint32_t i = root; costs.stmt > 0 && i < end; i++)
            correct_node(c, i, i == root, &costs);
    }
    nytp_profile_sum_tree(p);
    for (uint32_t i = 0; i < p->n_processes; i++)
        p->processes[i].recording_ticks =
            c->incl_before[p->processes[i].root] - p->nodes[p->processes[i].root].incl_ticks;
}

/* ---- arcs ---- */

/* A time of the arcs into a sub: the sum that was known, what of it was gone through so far;
 * the sum in the corrected tree, and what of it was given away. */
struct shared {
    double known, seen;
    int64_t now, given;
};

struct callee {
    struct shared excl, incl, reci;
};

static void add_known(struct shared *s, int64_t ticks)
{
    s->known += ticks > 0 ? (double)ticks : 0;
}

/* The part of the corrected sum that belongs to the next arc, which had `ticks`. */
static int64_t next_share(struct shared *s, int64_t ticks)
{
    s->seen += ticks > 0 ? (double)ticks : 0;
    int64_t upto = s->known > 0 ? (int64_t)llround((double)s->now * (s->seen / s->known)) : 0;
    if (upto > s->now || s->seen >= s->known)
        upto = s->now;
    const int64_t share = upto - s->given;
    s->given = upto;
    return share;
}

/* Call sites stay as they were known; the time of the calls of a sub, which the corrected tree
 * tells, is apportioned to them as it was before. */
static bool correct_arcs(struct nytp_profile *p)
{
    struct nytp_arc_list now = {0};
    struct callee *callees = calloc((size_t)p->n_subs + 1, sizeof *callees);
    bool ok = callees != NULL && nytp_profile_tree_arcs(p, &now);
    for (uint32_t i = 0; ok && i < now.n; i++) {
        struct callee *s = &callees[now.arcs[i].callee];
        s->excl.now += now.arcs[i].excl_ticks;
        s->incl.now += now.arcs[i].incl_ticks;
        s->reci.now = nytp_ticks_sum(s->reci.now, now.arcs[i].reci_ticks);
    }
    for (uint32_t i = 0; ok && i < p->n_arcs; i++) {
        struct callee *s = &callees[p->arcs[i].callee];
        add_known(&s->excl, p->arcs[i].excl_ticks);
        add_known(&s->incl, p->arcs[i].incl_ticks);
        add_known(&s->reci, p->arcs[i].reci_ticks);
    }
    for (uint32_t i = 0; ok && i < p->n_arcs; i++) {
        struct nytp_arc *a = &p->arcs[i];
        struct callee *s = &callees[a->callee];
        a->excl_ticks = next_share(&s->excl, a->excl_ticks);
        a->incl_ticks = next_share(&s->incl, a->incl_ticks);
        a->reci_ticks = next_share(&s->reci, a->reci_ticks);
    }
    free(callees);
    free(now.arcs);
    return ok;
}

/* With entry events the tree knows every call site, too. */
static bool make_sums(struct nytp_profile *p)
{
    if ((p->has & NYTP_HAS_ENTRIES) != 0)
        return nytp_profile_make_arcs(p, NULL, 0) && nytp_profile_make_line_costs(p);
    if (!correct_arcs(p))
        return false;
    nytp_profile_sum_arcs(p);
    return nytp_profile_make_line_costs(p);
}

/* ---- the time line ---- */

/* The time of a node's spans outside the spans within them: as recorded, and as corrected. */
struct self_time {
    double before, after;
};

struct axis {
    struct self_time *of_node;
    uint32_t *stack; /* open spans */
    int64_t **ends;  /* of stretches under labels, and points of memory, the earliest first */
    uint32_t n_ends, next_end;
};

static double corrected(const struct correction *c, uint32_t node, int64_t ticks)
{
    const int64_t before = c->incl_before[node];
    return before > 0 ? (double)ticks * ((double)c->p->nodes[node].incl_ticks / (double)before)
                      : (double)ticks;
}

/* Add up, per context, how long its spans in [from, to) were without the spans inside them, as
 * recorded and as it is to be. */
static void sum_self_times(const struct correction *c, struct axis *axis, uint32_t from,
                           uint32_t to, uint32_t root)
{
    const struct nytp_profile *p = c->p;
    axis->of_node[root].before += (double)c->incl_before[root];
    axis->of_node[root].after += (double)p->nodes[root].incl_ticks;
    uint32_t top = 0;
    for (uint32_t i = from; i < to; i++) {
        const struct nytp_span *s = &p->spans[i];
        while (top > 0 && p->spans[axis->stack[top - 1]].end_ticks <= s->start_ticks)
            top--;
        const uint32_t outer = top > 0 ? p->spans[axis->stack[top - 1]].node : root;
        const int64_t ticks = s->end_ticks - s->start_ticks;
        const double after = corrected(c, s->node, ticks);
        axis->of_node[s->node].before += (double)ticks;
        axis->of_node[s->node].after += after;
        axis->of_node[outer].before -= (double)ticks;
        axis->of_node[outer].after -= after;
        axis->stack[top++] = i;
    }
}

static double shrinks_to(const struct self_time *self)
{
    if (self->before <= 0 || self->after <= 0)
        return 0;
    return self->after < self->before ? self->after / self->before : 1;
}

/* Where the recorded axis was followed to, and what that is on the corrected one. */
struct position {
    int64_t recorded;
    double corrected;
};

static int64_t follow_axis(struct position *at, int64_t to, double shrinks)
{
    at->corrected += (double)(to - at->recorded) * shrinks;
    at->recorded = to;
    return llround(at->corrected);
}

/* Follow the axis to `to`, and move the ends that lie before it. */
static int64_t advance_position(struct axis *axis, struct position *at, int64_t to,
                                double shrinks)
{
    for (; axis->next_end < axis->n_ends && *axis->ends[axis->next_end] <= to; axis->next_end++)
        *axis->ends[axis->next_end] = follow_axis(at, *axis->ends[axis->next_end], shrinks);
    return follow_axis(at, to, shrinks);
}

/* Move the spans [from, to) of one process. Every stretch of the time axis between two ends of
 * spans belongs to the innermost span there, and shrinks by the factor by which the exclusive
 * time of that span's context did. So calls nest and follow one another as before. */
static void move_spans(struct nytp_profile *p, struct axis *axis, uint32_t from, uint32_t to,
                       uint32_t root)
{
    struct position at = {0};
    uint32_t top = 0;
    for (uint32_t i = from; i <= to; i++) {
        const bool is_end = i == to;
        while (top > 0 && (is_end || p->spans[axis->stack[top - 1]].end_ticks <=
                                         p->spans[i].start_ticks)) {
            struct nytp_span *open = &p->spans[axis->stack[--top]];
            open->end_ticks = advance_position(axis, &at, open->end_ticks,
                                               shrinks_to(&axis->of_node[open->node]));
        }
        if (is_end)
            break;
        const uint32_t outer = top > 0 ? p->spans[axis->stack[top - 1]].node : root;
        const int64_t start = p->spans[i].start_ticks;
        p->spans[i].start_ticks =
            advance_position(axis, &at, start, shrinks_to(&axis->of_node[outer]));
        axis->stack[top++] = i;
    }
    if (axis->next_end < axis->n_ends)
        advance_position(axis, &at, *axis->ends[axis->n_ends - 1],
                         shrinks_to(&axis->of_node[root]));
}

static int by_time(const void *x, const void *y)
{
    const int64_t a = **(int64_t *const *)x, b = **(int64_t *const *)y;
    return a < b ? -1 : a > b;
}

/* The ends of the stretches of a process, which begin with number *stretch, its points of
 * memory, likewise, and its peak. Both are set to where the next process's begin. */
static void list_ends(struct nytp_profile *p, struct axis *axis, uint32_t process,
                      uint32_t *stretch, uint32_t *point)
{
    axis->n_ends = axis->next_end = 0;
    for (; *stretch < p->n_stretches && p->stretches[*stretch].process == process; ++*stretch) {
        axis->ends[axis->n_ends++] = &p->stretches[*stretch].start_ticks;
        axis->ends[axis->n_ends++] = &p->stretches[*stretch].end_ticks;
    }
    for (; *point < p->n_memory_points && p->memory_points[*point].process == process; ++*point)
        axis->ends[axis->n_ends++] = &p->memory_points[*point].at_ticks;
    if (p->processes[process].peak_in_use > 0)
        axis->ends[axis->n_ends++] = &p->processes[process].peak_ticks;
    qsort(axis->ends, axis->n_ends, sizeof *axis->ends, by_time);
}

/* Move the spans of all processes, one process after the other, and the stretches with them. */
static bool correct_spans(const struct correction *c)
{
    struct nytp_profile *p = c->p;
    struct axis axis = {
        .of_node = calloc((size_t)p->n_nodes + 1, sizeof *axis.of_node),
        .stack = malloc(((size_t)p->n_spans + 1) * sizeof *axis.stack),
        .ends =
            malloc((2 * (size_t)p->n_stretches + p->n_memory_points + 2) * sizeof *axis.ends),
    };
    const bool ok = axis.of_node != NULL && axis.stack != NULL && axis.ends != NULL;
    uint32_t from = 0, to = 0, stretch = 0, point = 0;
    for (uint32_t i = 0; ok && i < p->n_processes; i++, from = to) {
        const uint32_t end = nytp_process_nodes_end(p, i);
        while (to < p->n_spans && p->spans[to].node < end)
            to++;
        list_ends(p, &axis, i, &stretch, &point);
        if (p->processes[i].costs.stmt == 0 || (from == to && axis.n_ends == 0))
            continue;
        sum_self_times(c, &axis, from, to, p->processes[i].root);
        move_spans(p, &axis, from, to, p->processes[i].root);
    }
    free(axis.of_node);
    free(axis.stack);
    free(axis.ends);
    return ok;
}

/* ---- all of it ---- */

static bool has_costs(const struct nytp_profile *p)
{
    for (uint32_t i = 0; i < p->n_processes; i++)
        if (p->processes[i].costs.stmt > 0)
            return true;
    return false;
}

static bool correct_all(struct correction *c)
{
    struct nytp_profile *p = c->p;
    c->incl_before = malloc(((size_t)p->n_nodes + 1) * sizeof *c->incl_before);
    c->weights = malloc(((size_t)p->n_node_lines + 1) * sizeof *c->weights);
    if (c->incl_before == NULL || c->weights == NULL)
        return false;
    for (uint32_t i = 0; i < p->n_nodes; i++)
        c->incl_before[i] = p->nodes[i].incl_ticks;
    correct_tree(c);
    return make_sums(p) && correct_spans(c);
}

bool nytp_take_off_recording(struct nytp_profile *p)
{
    if (!has_costs(p))
        return true;
    struct correction c = {.p = p};
    const bool ok = correct_all(&c);
    free(c.incl_before);
    free(c.weights);
    return ok;
}
