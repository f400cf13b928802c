/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Estimates the contexts of a recording without call events (calls=0 or 1), of which only the
 * arcs are known: how often one sub called another, and how long that took in all.
 *
 * Each caller passes its own share on to what it calls, in proportion: a sub that has a third
 * of the time of B (of its calls, if no times were recorded) has a third of all that B called.
 * A share that is too small to place, or is reached only through a recursion, becomes a child of
 * the root. So the times of every sub are exact, though the paths between subs are a guess.
 */
#include "assignment.h"

#include <stdlib.h>

#define ESTIMATE_MAX_NODES 50000u
#define ESTIMATE_MAX_DEPTH 200u

struct estimate {
    struct nytp_assignment *s;
    const struct nytp_sub_sums *sums;
    bool by_calls; /* no times were recorded: in proportion to calls */
    uint32_t *first_arc; /* per caller, arcs sorted by caller */
    uint32_t *arc_order;
    struct {
        int64_t ticks;
        uint64_t calls;
        bool on_path;
    } * placed; /* per sub */
    uint32_t n_nodes;
    double min_ticks;
};

/* Returns a share in whole ticks, from 0 to all that is left, also in a damaged file. */
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

/* Make the children of a context: what `caller` calls, in the share that this context has of
 * it. Goes down from there. */
static bool estimate_below(struct estimate *e, uint32_t raw_parent, uint32_t caller,
                           double share, uint32_t depth)
{
    struct nytp_builder *b = e->s->b;
    if (depth >= ESTIMATE_MAX_DEPTH || e->n_nodes >= ESTIMATE_MAX_NODES)
        return true;
    e->placed[caller].on_path = true;
    for (uint32_t i = e->first_arc[caller]; i < e->first_arc[caller + 1]; i++) {
        const struct nytp_arc *a = &b->arcs.at[e->arc_order[i]];
        const uint32_t callee = a->callee;
        const double all = e->by_calls ? (double)e->sums[callee].arc_calls
                                       : (double)e->sums[callee].arc_incl;
        const double incl = share * (double)(e->by_calls ? (int64_t)a->calls : a->incl_ticks);
        if (e->placed[callee].on_path || !(all > 0) || incl < e->min_ticks ||
            e->n_nodes >= ESTIMATE_MAX_NODES)
            continue;
        const double child_share = incl / all;
        const int64_t excl =
            share_of_ticks(child_share * (double)e->sums[callee].arc_excl,
                           e->sums[callee].arc_excl - e->placed[callee].ticks);
        const uint64_t calls = share_of_calls(
            share * (double)a->calls, e->sums[callee].arc_calls - e->placed[callee].calls);
        const uint32_t node = nytp_calltree_add_child(
            &b->stack.tree, raw_parent, nytp_id_of_sub(e->s, callee), a->file, a->line);
        if (node == NYTP_NO_NODE)
            return false;
        e->n_nodes++;
        b->stack.tree.nodes[node].excl_ticks += excl;
        b->stack.tree.nodes[node].calls += calls;
        e->placed[callee].ticks += excl;
        e->placed[callee].calls += calls;
        if (!estimate_below(e, node, callee, child_share, depth + 1))
            return false;
    }
    e->placed[caller].on_path = false;
    return true;
}

/* Sorts the arcs by caller, and sets the limit below which calls are too small to be placed. */
static void index_arcs(struct estimate *e)
{
    const struct nytp_builder *b = e->s->b;
    const uint32_t n = e->s->p->n_subs;
    double total = 0;
    for (uint32_t i = 0; i < n; i++)
        total += (double)e->sums[i].arc_excl;
    e->min_ticks = total > 1e5 ? total / 1e5 : 1;
    for (uint32_t i = 0; i < b->arcs.n; i++)
        e->first_arc[b->arcs.at[i].caller + 2]++;
    for (uint32_t i = 2; i < n + 2; i++)
        e->first_arc[i] += e->first_arc[i - 1];
    for (uint32_t i = 0; i < b->arcs.n; i++)
        e->arc_order[e->first_arc[b->arcs.at[i].caller + 1]++] = i;
}

/* Makes a child of the root for the part of each sub that has no place. */
static bool place_rest(struct estimate *e, uint32_t root)
{
    struct nytp_calltree *tree = &e->s->b->stack.tree;
    for (uint32_t i = 1; i < e->s->p->n_subs; i++) {
        const int64_t ticks = e->sums[i].arc_excl - e->placed[i].ticks;
        const uint64_t calls = e->sums[i].arc_calls - e->placed[i].calls;
        if (ticks == 0 && calls == 0)
            continue;
        const uint32_t node =
            nytp_calltree_add_child(tree, root, nytp_id_of_sub(e->s, i), 0, 0);
        if (node == NYTP_NO_NODE)
            return false;
        tree->nodes[node].excl_ticks += ticks;
        tree->nodes[node].calls += calls;
    }
    return true;
}

bool nytp_estimate_tree(struct nytp_assignment *s, const struct nytp_sub_sums *sums)
{
    struct nytp_builder *b = s->b;
    const uint32_t n = s->p->n_subs, root = b->processes.at[0].root;
    struct estimate e = {
        .s = s,
        .sums = sums,
        .by_calls = (b->p->has & NYTP_HAS_TIMES) == 0,
        .first_arc = calloc(n + 2, sizeof *e.first_arc),
        .arc_order = malloc((b->arcs.n + 1) * sizeof *e.arc_order),
        .placed = calloc(n, sizeof *e.placed),
    };
    bool ok = e.first_arc != NULL && e.arc_order != NULL && e.placed != NULL;
    if (ok)
        index_arcs(&e);
    ok = ok && estimate_below(&e, root, 0, 1.0, 0) && place_rest(&e, root);
    free(e.first_arc);
    free(e.arc_order);
    free(e.placed);
    return ok;
}
