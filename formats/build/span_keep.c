/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Keeps calls of a time line while the input is read.
 */
#include "builder_parts.h"

static void note_pruned(struct nytp_builder *b, const struct nytp_built_span *span)
{
    b->spans.n_pruned++;
    if (b->spans.pruned_ticks < span->ticks)
        b->spans.pruned_ticks = span->ticks;
}

/* Leave out the spans that a test says no to. */
static void filter_spans(struct nytp_builder *b,
                         bool (*stays)(void *context, struct nytp_span_size size),
                         void *context)
{
    struct nytp_built_labels *const labels = &b->labels;
    uint32_t kept = 0, i = 0, mark = 0;
    for (uint32_t p = 0; p < b->processes.n; p++) {
        const uint32_t first = kept;
        for (const uint32_t end = i + b->processes.at[p].n_spans; i < end; i++) {
            const struct nytp_built_span *const span = &b->spans.at[i];
            while (mark < labels->marks.n && labels->marks.at[mark].n_before <= i)
                labels->marks.at[mark++].n_before = kept;
            if (stays(context, (struct nytp_span_size){(uint64_t)span->ticks, span->depth}))
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

static bool floor_keeps(void *context, struct nytp_span_size size)
{
    return nytp_span_floor_keeps(context, size);
}

static bool cut_keeps(void *context, struct nytp_span_size size)
{
    return nytp_span_cut_keeps(context, size);
}

bool nytp_built_spans_limit(struct nytp_builder *b)
{
    if (b->spans.n <= b->options.max_spans)
        return true;
    const struct nytp_span_sizes sizes = {.lengths = (const uint64_t *)&b->spans.at->ticks,
                                          .depths = &b->spans.at->depth,
                                          .stride = sizeof *b->spans.at,
                                          .n = b->spans.n};
    struct nytp_span_cut cut;
    if (!nytp_span_cut_find(&cut, &sizes, b->options.max_spans))
        return false;
    nytp_span_floor_raise(&b->spans.floor, cut.size);
    filter_spans(b, cut_keeps, &cut);
    return true;
}

/* There are half as many spans again as may stay. Removes those below the floor; if too many
 * have the floor's magnitude, the excess of those, too. */
static bool make_room(struct nytp_builder *b)
{
    filter_spans(b, floor_keeps, &b->spans.floor);
    return b->spans.n - b->spans.n / 5 <= b->options.max_spans || nytp_built_spans_limit(b);
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
    const struct nytp_span_size size = {(uint64_t)span->ticks, span->depth};
    if (span->ticks < 0 || !nytp_span_floor_add(&b->spans.floor, size)) {
        note_pruned(b, span);
        return true;
    }
    if (b->spans.n / 3 * 2 >= b->options.max_spans && !make_room(b))
        return nytp_builder_out_of_memory(b);
    if (!NYTP_GROW(&b->spans))
        return nytp_builder_out_of_memory(b);
    b->spans.at[b->spans.n++] = *span;
    nytp_builder_process(b)->n_spans++;
    return true;
}
