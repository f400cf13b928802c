/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Stacks of bounded depth; see stacks.h.
 *
 * One pass in index order, so that a node's parent is pruned before the node. What a pruned
 * context leads to is remembered by (kept parent, sub, call site): the search for a frame of
 * the same sub runs once per distinct case, not once per level of a recursion.
 */
#include "stacks.h"

#include "formats/base/table.h"

#include <stdlib.h>

struct bounding {
    struct nytp_stacks *stacks;
    uint32_t *depths; /* by node from stacks->first on, of kept ones: frames below the root */
    struct nytp_table children;
    uint32_t max_depth; /* 0 = only bound */
    bool collapse_recursion;
};

static bool needs_bounding(const struct nytp_profile *profile,
                           const struct nytp_export_options *options, uint32_t first,
                           uint32_t end)
{
    if (options->collapse_recursion)
        return true;
    const uint32_t most = options->max_depth > 0 ? options->max_depth : NYTP_STACKS_BOUND;
    for (uint32_t n = first; n < end; n++)
        if (profile->nodes[n].depth >= most)
            return true;
    return false;
}

/* The nearest frame of the sub, from `node` outwards; NYTP_TABLE_NONE if there is none. */
static uint32_t same_sub_outside(const struct nytp_stacks *stacks, uint32_t node, uint32_t sub)
{
    for (;;) {
        if (stacks->profile->nodes[node].sub == sub)
            return node;
        const uint32_t outer = nytp_stacks_outer(stacks, node);
        if (outer == node)
            return NYTP_TABLE_NONE;
        node = outer;
    }
}

/* Where a node goes whose parent is at `outer`: itself, `outer`, or the same sub there. */
static uint32_t place_node(const struct bounding *bounding, uint32_t n, uint32_t outer)
{
    const struct nytp_stacks *stacks = bounding->stacks;
    const struct nytp_node *node = &stacks->profile->nodes[n];
    if (bounding->collapse_recursion && stacks->profile->nodes[outer].sub == node->sub)
        return outer;
    const uint32_t depth = bounding->depths[outer - stacks->first] + 1;
    if (bounding->max_depth > 0)
        return depth < bounding->max_depth ? n : outer;
    if (depth < NYTP_STACKS_BOUND)
        return n;
    const uint32_t same = same_sub_outside(stacks, outer, node->sub);
    return same != NYTP_TABLE_NONE ? same : n;
}

/* Decide where one context counts: on itself, or on an outer one that it is pruned into. */
static bool bound_node(struct bounding *bounding, uint32_t n)
{
    struct nytp_stacks *stacks = bounding->stacks;
    const uint32_t at = n - stacks->first;
    const struct nytp_node *node = &stacks->profile->nodes[n];
    if (node->parent == n) {
        stacks->kept[at] = stacks->outer[at] = stacks->site[at] = n;
        return true;
    }
    const uint32_t outer = nytp_stacks_kept(stacks, node->parent);
    const struct nytp_key key = {outer, node->sub, node->file, node->line};
    uint32_t kept = nytp_table_get(&bounding->children, key);
    if (kept == NYTP_TABLE_NONE) {
        kept = place_node(bounding, n, outer);
        if (!nytp_table_put(&bounding->children, key, kept))
            return false;
    }
    stacks->kept[at] = kept;
    if (kept == n) {
        /* a sub that is not on a full stack yet takes the place of the last frame */
        const bool full = bounding->max_depth == 0 &&
                          bounding->depths[outer - stacks->first] + 1 >= NYTP_STACKS_BOUND;
        stacks->site[at] = full ? nytp_stacks_site(stacks, outer) : n;
        stacks->outer[at] = full ? nytp_stacks_outer(stacks, outer) : outer;
        bounding->depths[at] = bounding->depths[stacks->outer[at] - stacks->first] + 1;
    } else {
        stacks->n_pruned++;
    }
    return true;
}

bool nytp_stacks_init(struct nytp_stacks *stacks, const struct nytp_profile *profile,
                      const struct nytp_export_options *options)
{
    return nytp_stacks_init_nodes(stacks, profile, options, 0, profile->n_nodes);
}

bool nytp_stacks_init_nodes(struct nytp_stacks *stacks, const struct nytp_profile *profile,
                            const struct nytp_export_options *options, uint32_t first,
                            uint32_t end)
{
    *stacks = (struct nytp_stacks){.profile = profile, .first = first};
    if (!needs_bounding(profile, options, first, end))
        return true;
    const size_t size = (size_t)(end - first) + 1;
    struct bounding bounding = {
        .stacks = stacks,
        .depths = calloc(size, sizeof *bounding.depths),
        .max_depth = options->max_depth,
        .collapse_recursion = options->collapse_recursion,
    };
    stacks->kept = calloc(size, sizeof *stacks->kept);
    stacks->outer = calloc(size, sizeof *stacks->outer);
    stacks->site = calloc(size, sizeof *stacks->site);
    bool ok = bounding.depths != NULL && stacks->kept != NULL && stacks->outer != NULL &&
              stacks->site != NULL;
    for (uint32_t n = first; ok && n < end; n++)
        ok = bound_node(&bounding, n);
    nytp_table_free(&bounding.children);
    free(bounding.depths);
    if (!ok)
        nytp_stacks_free(stacks);
    return ok;
}

void nytp_stacks_free(struct nytp_stacks *stacks)
{
    free(stacks->kept);
    free(stacks->outer);
    free(stacks->site);
    *stacks = (struct nytp_stacks){.profile = stacks->profile};
}
