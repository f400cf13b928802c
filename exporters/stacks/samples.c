/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Counts samples; see samples.h.
 */
#include "samples.h"

#include "inclusive.h"

#include "exporters/base/text.h"

#include <stdlib.h>

bool nytp_is_of_samples(const struct nytp_profile *profile)
{
    return nytp_text_counted(profile) == NYTP_COUNTED_SAMPLES;
}

/* A builtin or an xsub. What perl runs of a sub has lines. */
static bool is_leaf(const struct nytp_sub *sub)
{
    return sub->kind < NYTP_SUB_RUNTIME && sub->statements == 0 && sub->first_line == 0 &&
           sub->n_arcs == 0;
}

static uint64_t take(uint64_t *from, uint64_t most)
{
    const uint64_t n = most < *from ? most : *from;
    *from -= n;
    return n;
}

/* The first sample of a process is a statement of its root, wherever it hit. */
uint64_t *nytp_samples_by_sub(const struct nytp_profile *profile)
{
    uint64_t *const samples = calloc((size_t)profile->n_subs + 1, sizeof *samples);
    for (uint32_t i = 0; samples != NULL && i < profile->n_subs; i++)
        samples[i] = profile->subs[i].statements;
    for (uint32_t i = 0; samples != NULL && i < profile->n_arcs; i++) {
        const struct nytp_arc *const arc = &profile->arcs[i];
        if (!is_leaf(&profile->subs[arc->callee]))
            continue;
        const uint64_t n = take(&samples[arc->caller], arc->calls);
        samples[arc->callee] += n + take(&samples[0], arc->calls - n);
    }
    return samples;
}

static uint64_t statements_of(const struct nytp_profile *profile, const struct nytp_node *node)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < node->n_node_lines; i++)
        sum += profile->node_lines[node->first_node_line + i].statements;
    return sum;
}

uint64_t *nytp_samples_by_node(const struct nytp_profile *profile)
{
    uint64_t *const samples = calloc((size_t)profile->n_nodes + 1, sizeof *samples);
    uint64_t of_root = 0; /* found in calls whose statement was the root's */
    for (uint32_t i = profile->n_nodes; samples != NULL && i-- > 0;) {
        const struct nytp_node *const node = &profile->nodes[i];
        uint64_t own = statements_of(profile, node), in_leaves = 0;
        if (is_leaf(&profile->subs[node->sub]))
            own = node->calls;
        for (uint32_t c = 0; c < node->n_children; c++) {
            const uint32_t child = profile->children[node->first_child + c];
            if (is_leaf(&profile->subs[profile->nodes[child].sub]))
                in_leaves += samples[child];
            else
                samples[i] += samples[child];
        }
        if (node->parent == i) {
            take(&own, of_root);
            of_root = 0;
        }
        samples[i] += own > in_leaves ? own : in_leaves;
        of_root += node->parent != i && own < in_leaves ? in_leaves - own : 0;
    }
    return samples;
}

uint64_t *nytp_samples_in_calls(const struct nytp_profile *profile)
{
    uint64_t *const samples =
        nytp_inclusive(profile, nytp_measures[NYTP_WEIGHT_STATEMENTS].own);
    for (uint32_t i = 0; samples != NULL && i < profile->n_arcs; i++)
        if (is_leaf(&profile->subs[profile->arcs[i].callee]))
            samples[i] = profile->arcs[i].calls;
    return samples;
}

uint64_t *nytp_samples_in_subs(const struct nytp_profile *profile)
{
    uint64_t *const samples =
        nytp_inclusive_of_subs(profile, nytp_measures[NYTP_WEIGHT_STATEMENTS].own);
    for (uint32_t i = 0; samples != NULL && i < profile->n_subs; i++)
        if (is_leaf(&profile->subs[i]))
            samples[i] = profile->subs[i].calls;
    return samples;
}
