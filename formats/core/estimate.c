/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A recording without call events: contexts are estimated from the arcs, each caller passing
 * on its share in proportion. What is too small to place, or only reachable through
 * recursion, becomes a child of the root, so that every sub's total is exact.
 */
#include "attribution.h"

#include <stdlib.h>

#define ESTIMATE_MAX_NODES 50000u
#define ESTIMATE_MAX_DEPTH 200u

struct estimate {
    struct nytp_attribution *s;
    const struct nytp_sub_sums *sums;
    uint32_t *first_arc; /* per caller, arcs sorted by caller */
    uint32_t *arc_order;
    int64_t *placed_ticks;
    uint64_t *placed_calls;
    bool *on_path;
    uint32_t n_nodes;
    double min_ticks;
};

/* Whole ticks of a share: between none and all that is left, whatever a damaged file makes of
 * it. */
static int64_t share_of_ticks(double share, int64_t left)
{
    const double low = left < 0 ? (double)left : 0, high = left > 0 ? (double)left : 0;
    if (!(share > low))
        return left < 0 ? left : 0;
    if (share >= high)
        return left > 0 ? left : 0;
    return (int64_t)share;
}

static uint64_t share_of_calls(double share, uint64_t left)
{
    if (!(share > 0))
        return 0;
    return share < (double)left ? (uint64_t)share : left;
}

static bool estimate_below(struct estimate *e, uint32_t raw_parent, uint32_t caller,
                           double share, uint32_t depth)
{
    struct nytp_builder *b = e->s->b;
    if (depth >= ESTIMATE_MAX_DEPTH || e->n_nodes >= ESTIMATE_MAX_NODES)
        return true;
    e->on_path[caller] = true;
    for (uint32_t i = e->first_arc[caller]; i < e->first_arc[caller + 1]; i++) {
        const struct nytp_built_arc *a = &b->arcs[e->arc_order[i]];
        const uint32_t callee = a->callee;
        const double incl = share * (double)a->incl_ticks;
        if (e->on_path[callee] || e->sums->arc_incl[callee] <= 0 || incl < e->min_ticks ||
            e->n_nodes >= ESTIMATE_MAX_NODES)
            continue;
        const double child_share = incl / (double)e->sums->arc_incl[callee];
        const int64_t excl =
            share_of_ticks(child_share * (double)e->sums->arc_excl[callee],
                           e->sums->arc_excl[callee] - e->placed_ticks[callee]);
        const uint64_t calls = share_of_calls(
            share * (double)a->calls, e->sums->arc_calls[callee] - e->placed_calls[callee]);
        const uint32_t node = nytp_calltree_add_child(
            &b->tree, raw_parent, nytp_id_of_sub(e->s, callee), a->file, a->line);
        if (node == NYTP_NO_NODE)
            return false;
        e->n_nodes++;
        b->tree.nodes[node].excl_ticks += excl;
        b->tree.nodes[node].calls += calls;
        e->placed_ticks[callee] += excl;
        e->placed_calls[callee] += calls;
        if (!estimate_below(e, node, callee, child_share, depth + 1))
            return false;
    }
    e->on_path[caller] = false;
    return true;
}

bool nytp_estimate_tree(struct nytp_attribution *s, const struct nytp_sub_sums *sums)
{
    struct nytp_builder *b = s->b;
    const uint32_t n = s->p->n_subs, root = b->processes[0].root;
    struct estimate e = {
        .s = s,
        .sums = sums,
        .first_arc = calloc(n + 2, sizeof *e.first_arc),
        .arc_order = malloc((b->n_arcs + 1) * sizeof *e.arc_order),
        .placed_ticks = calloc(n, sizeof *e.placed_ticks),
        .placed_calls = calloc(n, sizeof *e.placed_calls),
        .on_path = calloc(n, sizeof *e.on_path),
    };
    bool ok = e.first_arc != NULL && e.arc_order != NULL && e.placed_ticks != NULL &&
              e.placed_calls != NULL && e.on_path != NULL;
    if (ok) {
        double total = 0;
        for (uint32_t i = 0; i < n; i++)
            total += (double)sums->arc_excl[i];
        e.min_ticks = total > 1e5 ? total / 1e5 : 1;
        for (uint32_t i = 0; i < b->n_arcs; i++)
            e.first_arc[b->arcs[i].caller + 2]++;
        for (uint32_t i = 2; i < n + 2; i++)
            e.first_arc[i] += e.first_arc[i - 1];
        for (uint32_t i = 0; i < b->n_arcs; i++)
            e.arc_order[e.first_arc[b->arcs[i].caller + 1]++] = i;
        ok = estimate_below(&e, root, 0, 1.0, 0);
    }
    for (uint32_t i = 1; ok && i < n; i++) {
        if (e.placed_ticks[i] == sums->arc_excl[i] && e.placed_calls[i] == sums->arc_calls[i])
            continue;
        const uint32_t node =
            nytp_calltree_add_child(&b->tree, root, nytp_id_of_sub(s, i), 0, 0);
        ok = node != NYTP_NO_NODE;
        if (ok) {
            b->tree.nodes[node].excl_ticks += sums->arc_excl[i] - e.placed_ticks[i];
            b->tree.nodes[node].calls += sums->arc_calls[i] - e.placed_calls[i];
        }
    }
    free(e.first_arc);
    free(e.arc_order);
    free(e.placed_ticks);
    free(e.placed_calls);
    free(e.on_path);
    return ok;
}
