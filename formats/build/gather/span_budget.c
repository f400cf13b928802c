/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Chooses the calls that a time line keeps; see span_budget.h. The smallest size that stays is
 * found digit by digit (a radix selection), so the cost is the same for any order of the calls
 * and any lengths.
 */
#include "span_budget.h"
#include "formats/base/wide.h"

#include <stdlib.h>

/* The k-th largest key, k from 1 on; *k becomes its number among equal keys. */
static uint64_t kth_largest(const uint64_t *keys, uint32_t n, uint64_t *k)
{
    uint64_t mask = 0, prefix = 0;
    for (int shift = 56; shift >= 0; shift -= 8) {
        uint64_t counts[256] = {0};
        for (uint32_t i = 0; i < n; i++)
            counts[keys[i] >> shift & 0xff] += (keys[i] & mask) == prefix;
        uint64_t digit = 255;
        for (; counts[digit] < *k; digit--)
            *k -= counts[digit];
        prefix |= digit << shift;
        mask |= UINT64_C(0xff) << shift;
    }
    return prefix;
}

bool nytp_span_cut_find(struct nytp_span_cut *cut, const struct nytp_span_size *sizes,
                        uint32_t n, uint32_t most)
{
    uint64_t *const keys = calloc(n, sizeof *keys);
    uint64_t left = most;
    uint32_t n_equal = 0;
    if (keys == NULL)
        return false;
    for (uint32_t i = 0; i < n; i++)
        keys[i] = sizes[i].length;
    cut->size.length = kth_largest(keys, n, &left);
    for (uint32_t i = 0; i < n; i++)
        if (sizes[i].length == cut->size.length)
            keys[n_equal++] = UINT32_MAX - sizes[i].depth;
    cut->size.depth = UINT32_MAX - (uint32_t)kth_largest(keys, n_equal, &left);
    cut->n_of_size = left;
    free(keys);
    return true;
}

bool nytp_span_cut_keeps(struct nytp_span_cut *cut, struct nytp_span_size size)
{
    if (size.length != cut->size.length)
        return size.length > cut->size.length;
    if (size.depth != cut->size.depth)
        return size.depth < cut->size.depth;
    if (cut->n_of_size == 0)
        return false;
    cut->n_of_size--;
    return true;
}

/* Lengths of several clocks compare in nanoseconds. */
static struct nytp_span_size size_of(const struct nytp_profile *p, const struct nytp_span *span)
{
    const uint64_t ticks = (uint64_t)span->end_ticks - (uint64_t)span->start_ticks;
    const uint64_t ns = nytp_mul_div(ticks, 1000000000, (uint64_t)p->ticks_per_sec);
    return (struct nytp_span_size){.length = ns > INT64_MAX ? INT64_MAX : ns,
                                   .depth = p->nodes[span->node].depth};
}

/* Remove the spans that do not stay. Their recording tells how many there were and how long the
 * longest was. */
static void cut_spans(struct nytp_profile *p, struct nytp_span_cut *cut)
{
    uint32_t kept = 0, process = 0;
    for (uint32_t i = 0; i < p->n_spans; i++) {
        const struct nytp_span span = p->spans[i];
        if (nytp_span_cut_keeps(cut, size_of(p, &span))) {
            p->spans[kept++] = span;
            continue;
        }
        while (process + 1 < p->n_processes && p->processes[process + 1].root <= span.node)
            process++;
        struct nytp_recording *recording = &p->recordings[p->processes[process].recording];
        recording->spans_pruned++;
        if (recording->pruned_span_ticks < span.end_ticks - span.start_ticks)
            recording->pruned_span_ticks = span.end_ticks - span.start_ticks;
    }
    p->n_spans = kept;
}

bool nytp_profiles_limit_spans(struct nytp_profile **profiles, uint32_t n_profiles,
                               uint32_t most)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < n_profiles; i++)
        total += profiles[i]->n_spans;
    if (total <= most || most == 0)
        return true;
    struct nytp_span_size *sizes = total <= UINT32_MAX ? malloc(total * sizeof *sizes) : NULL;
    if (sizes == NULL)
        return false;
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_profiles; i++)
        for (uint32_t k = 0; k < profiles[i]->n_spans; k++)
            sizes[n++] = size_of(profiles[i], &profiles[i]->spans[k]);
    struct nytp_span_cut cut;
    const bool ok = nytp_span_cut_find(&cut, sizes, n, most);
    for (uint32_t i = 0; ok && i < n_profiles; i++)
        cut_spans(profiles[i], &cut);
    free(sizes);
    return ok;
}
