/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Keeps calls of a time line while the input is read.
 */
#include "builder_parts.h"

#include <stdlib.h>

static struct nytp_span_size size_of(const struct nytp_built_span *span)
{
    return (struct nytp_span_size){(uint64_t)span->ticks, span->depth};
}

static void note_pruned(struct nytp_builder *b, const struct nytp_built_span *span)
{
    b->spans.n_pruned++;
    if (b->spans.pruned_ticks < span->ticks)
        b->spans.pruned_ticks = span->ticks;
}

/* Leaves out the spans behind the cut. */
static void cut_spans(struct nytp_builder *b)
{
    struct nytp_built_labels *const labels = &b->labels;
    uint32_t kept = 0, i = 0, mark = 0;
    for (uint32_t p = 0; p < b->processes.n; p++) {
        const uint32_t first = kept;
        for (const uint32_t end = i + b->processes.at[p].n_spans; i < end; i++) {
            const struct nytp_built_span *const span = &b->spans.at[i];
            while (mark < labels->marks.n && labels->marks.at[mark].n_before <= i)
                labels->marks.at[mark++].n_before = kept;
            if (nytp_span_cut_keeps(&b->spans.cut, size_of(span)))
                b->spans.at[kept++] = *span;
            else
                note_pruned(b, span);
        }
        b->processes.at[p].n_spans = kept - first;
    }
    while (mark < labels->marks.n)
        labels->marks.at[mark++].n_before = kept;
    b->spans.n = kept;
}

bool nytp_built_spans_limit(struct nytp_builder *b)
{
    if (b->spans.n <= b->options.max_spans)
        return true;
    struct nytp_span_size *const sizes = malloc(b->spans.n * sizeof *sizes);
    for (uint32_t i = 0; sizes != NULL && i < b->spans.n; i++)
        sizes[i] = size_of(&b->spans.at[i]);
    const bool ok = sizes != NULL &&
                    nytp_span_cut_find(&b->spans.cut, sizes, b->spans.n, b->options.max_spans);
    free(sizes);
    if (!ok)
        return nytp_builder_out_of_memory(b);
    cut_spans(b);
    return true;
}

/* Calls end from the inside out: until the ones around a wanted call have ended, no other call
 * ends that is less deep. */
static bool is_wanted(struct nytp_builder *b, const struct nytp_built_span *span)
{
    if (b->options.spans_of == NULL)
        return true;
    const bool is_around = span->depth < b->spans.wanted_depth;
    if (!is_around && (span->sub == NYTP_NO_SUB ||
                       !b->options.spans_of(nytp_strings_get(b->strings, span->sub))))
        return false;
    b->spans.wanted_depth = span->depth;
    return true;
}

bool nytp_built_span_keep(struct nytp_builder *b, const struct nytp_built_span *span)
{
    if (!is_wanted(b, span))
        return true;
    if (span->ticks < 0 || !nytp_span_cut_keeps(&b->spans.cut, size_of(span))) {
        note_pruned(b, span);
        return true;
    }
    /* half as many again as may stay */
    if (b->spans.n / 3 * 2 >= b->options.max_spans && !nytp_built_spans_limit(b))
        return false;
    if (!NYTP_GROW(&b->spans))
        return nytp_builder_out_of_memory(b);
    b->spans.at[b->spans.n++] = *span;
    nytp_builder_process(b)->n_spans++;
    return true;
}
