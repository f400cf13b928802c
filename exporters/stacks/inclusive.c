/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Adds up, for each arc or sub, what its calls held in statements and the like; see
 * inclusive.h. The values of a context's subtree are summed from the leaves up, and those of
 * outermost calls are credited to their arc.
 */
#include "inclusive.h"
#include "formats/model/outermost.h"
#include "formats/model/svs.h"
#include "formats/base/bisect.h"
#include "formats/base/wide.h"

#include <stdlib.h>

struct sums {
    const struct nytp_profile *profile;
    uint64_t *below;  /* by node: the value of its subtree */
    uint64_t *exact;  /* by arc, or by sub */
    uint64_t *shared; /* by first arc of caller, callee and recording: of unknown call site */
};

/* By node its own value; returns NULL if memory is out. */
static uint64_t *own_of_nodes(const struct nytp_profile *profile, nytp_measure_fn *value)
{
    const struct nytp_svs none = {0}, *const memory = profile->node_line_svs;
    uint64_t *const own = calloc((size_t)profile->n_nodes + 1, sizeof *own);
    for (uint32_t n = 0; own != NULL && n < profile->n_nodes; n++) {
        const struct nytp_node *node = &profile->nodes[n];
        for (uint32_t i = 0; i < node->n_node_lines; i++)
            own[n] +=
                (uint64_t)value(&profile->node_lines[node->first_node_line + i],
                                memory != NULL ? &memory[node->first_node_line + i] : &none);
    }
    return own;
}

/* Own values, if there are any, become those of subtrees. */
static void sum_below(const struct nytp_profile *profile, uint64_t *own)
{
    for (uint32_t n = profile->n_nodes; own != NULL && n-- > 0;)
        if (profile->nodes[n].parent != n)
            own[profile->nodes[n].parent] += own[n];
}

/* As arcs of one caller are sorted: callee, recording, file, line. */
static int compare_arc(const struct nytp_arc *arc, const struct nytp_node *node,
                       uint32_t recording, uint32_t file, uint32_t line)
{
    NYTP_RETURN_ORDER(arc->callee, node->sub);
    NYTP_RETURN_ORDER(arc->recording, recording);
    NYTP_RETURN_ORDER(arc->file, file);
    return (arc->line > line) - (arc->line < line);
}

/* First of the caller's arcs that is not before the given place. */
static uint32_t lower_bound(const struct nytp_profile *profile, const struct nytp_sub *caller,
                            const struct nytp_node *node, uint32_t recording, uint32_t file,
                            uint32_t line)
{
    uint32_t low = caller->first_arc;
    NYTP_BISECT(low, caller->first_arc + caller->n_arcs, middle,
                compare_arc(&profile->arcs[middle], node, recording, file, line) < 0);
    return low;
}

/* Add to the arc of a call; if its call site is no arc's, to the arcs between the two subs. */
static void credit_arc(const struct sums *sums, const struct nytp_node *node,
                       uint32_t recording, uint64_t value)
{
    const struct nytp_profile *profile = sums->profile;
    const struct nytp_sub *caller = &profile->subs[profile->nodes[node->parent].sub];
    const uint32_t end = caller->first_arc + caller->n_arcs;
    uint32_t arc = lower_bound(profile, caller, node, recording, node->file, node->line);
    if (arc < end &&
        compare_arc(&profile->arcs[arc], node, recording, node->file, node->line) == 0) {
        sums->exact[arc] += value;
        return;
    }
    arc = lower_bound(profile, caller, node, recording, 0, 0);
    if (arc < end && profile->arcs[arc].callee == node->sub &&
        profile->arcs[arc].recording == recording)
        sums->shared[arc] += value;
}

static void credit_call(void *context, uint32_t process, uint32_t n)
{
    const struct sums *sums = context;
    const struct nytp_node *node = &sums->profile->nodes[n];
    if (node->parent != n)
        credit_arc(sums, node, sums->profile->processes[process].recording, sums->below[n]);
}

static void credit_sub(void *context, uint32_t process, uint32_t n)
{
    const struct sums *sums = context;
    (void)process;
    sums->exact[sums->profile->nodes[n].sub] += sums->below[n];
}

/* Share out over the arcs [first, end) so that exactly `total` is given. */
static void share(const struct sums *sums, uint32_t first, uint32_t end, uint64_t total)
{
    const bool is_negative = (int64_t)total < 0;
    const uint64_t value = is_negative ? -total : total;
    const struct nytp_arc *arcs = sums->profile->arcs;
    uint64_t calls = 0, seen = 0, given = 0;
    for (uint32_t i = first; i < end; i++)
        calls += arcs[i].calls;
    for (uint32_t i = first; i < end; i++) {
        seen += arcs[i].calls;
        const uint64_t upto =
            i == end - 1 || calls == 0 ? value : nytp_mul_div(value, seen, calls);
        if (upto <= given)
            continue;
        sums->exact[i] += is_negative ? given - upto : upto - given;
        given = upto;
    }
}

static void share_all(const struct sums *sums)
{
    const struct nytp_profile *profile = sums->profile;
    for (uint32_t i = 0; i < profile->n_arcs; i++) {
        if (sums->shared[i] == 0)
            continue;
        const struct nytp_arc *arc = &profile->arcs[i];
        uint32_t end = i + 1;
        while (end < profile->n_arcs && profile->arcs[end].caller == arc->caller &&
               profile->arcs[end].callee == arc->callee &&
               profile->arcs[end].recording == arc->recording)
            end++;
        share(sums, i, end, sums->shared[i]);
    }
}

/* By arc, where calls whose place is not known are shared out, or by sub. Frees the nodes' own
 * values. */
static uint64_t *add_up(const struct nytp_profile *profile, uint64_t *own, bool by_arc)
{
    const size_t n = by_arc ? profile->n_arcs : profile->n_subs;
    struct sums sums = {
        .profile = profile,
        .below = own,
        .exact = calloc(n + 1, sizeof *sums.exact),
        .shared = by_arc ? calloc(n + 1, sizeof *sums.shared) : NULL,
    };
    bool ok = sums.below != NULL && sums.exact != NULL && (sums.shared != NULL || !by_arc);
    sum_below(profile, own);
    ok = ok && nytp_outermost_each(profile, by_arc ? credit_call : credit_sub, &sums);
    if (ok && by_arc)
        share_all(&sums);
    free(sums.below);
    free(sums.shared);
    if (ok)
        return sums.exact;
    free(sums.exact);
    return NULL;
}

uint64_t *nytp_inclusive_of_nodes(const struct nytp_profile *profile, nytp_measure_fn *value)
{
    uint64_t *const below = own_of_nodes(profile, value);
    sum_below(profile, below);
    return below;
}

uint64_t *nytp_inclusive_of_subs(const struct nytp_profile *profile, nytp_measure_fn *value)
{
    return add_up(profile, own_of_nodes(profile, value), false);
}

uint64_t *nytp_inclusive(const struct nytp_profile *profile, nytp_measure_fn *value)
{
    return add_up(profile, own_of_nodes(profile, value), true);
}

int64_t *nytp_inclusive_waits(const struct nytp_profile *profile,
                              const struct nytp_waits *waits)
{
    uint64_t *const own = calloc((size_t)profile->n_nodes + 1, sizeof *own);
    for (uint32_t n = 0; own != NULL && n < profile->n_nodes; n++)
        if (waits->kinds[n] != NYTP_WAIT_NONE)
            own[n] = (uint64_t)profile->nodes[n].excl_ticks;
    return (int64_t *)add_up(profile, own, false);
}

bool nytp_inclusive_memory_init(struct nytp_inclusive_memory *memory,
                                const struct nytp_profile *profile, bool by_arc,
                                bool as_weights)
{
    bool ok = true;
    *memory = (struct nytp_inclusive_memory){{NULL}};
    for (int w = NYTP_MEMORY_FIRST; ok && w < NYTP_MEMORY_END; w++) {
        const struct nytp_measure *const measure = &nytp_measures[w];
        if (!nytp_profile_has(profile, (enum nytp_weight)w))
            continue;
        nytp_measure_fn *const value = as_weights ? measure->weight : measure->own;
        memory->of[w] = add_up(profile, own_of_nodes(profile, value), by_arc);
        ok = memory->of[w] != NULL;
    }
    return ok;
}

void nytp_inclusive_memory_free(struct nytp_inclusive_memory *memory)
{
    for (int w = 0; w < NYTP_N_WEIGHTS; w++)
        free(memory->of[w]);
}
