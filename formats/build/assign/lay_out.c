/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The timeline. A call's duration is exact (its inclusive ticks), its place on the axis an
 * estimate within one statement; here the estimates are pushed until calls nest and follow
 * one another, so that durations add up as the tree says.
 *
 * The spans come in the order in which calls ended: read backwards, a caller precedes what it
 * called, and its calls come last first.
 */

#include "assignment.h"
#include "formats/build/gather/builder_parts.h"
#include "formats/build/gather/span_budget.h"

#include <stdlib.h>

#define NO_SPAN UINT32_MAX

/* A frame that never returned has no span unless its entry was recorded. Its calls on the time
 * line get a box around them: otherwise they would seem to be calls of a neighbour. */
struct layout {
    uint32_t parent; /* layout, or NO_SPAN for the process */
    uint32_t raw;    /* node of the growing tree */
    uint32_t depth;
    uint32_t n_inside; /* layouts in it, itself included */
    uint32_t behind;   /* in the model's list, its next child placed stands before this index */
    bool is_box;
    int64_t *mark; /* NULL, or where a label's mark gets its time: it is no span of the model */
    int64_t start;
    int64_t earlier; /* ticks of its children that are not placed yet */
    union {
        int64_t ticks; /* how long it took; once it is placed … */
        int64_t limit; /* … where its next child placed ends at the latest */
    };
};

/* One process's spans on the way to the model: callers before what they call, later calls
 * before earlier ones. */
struct laying {
    const struct nytp_builder *b;
    struct nytp_profile *p;
    const uint32_t *node_of_raw;
    struct layout process; /* placed from the beginning */
    NYTP_LIST(struct layout) all;
    uint32_t n_marks;         /* in it */
    NYTP_LIST(uint32_t) open; /* layouts that a span may lie in */
    bool *has_box;       /* by raw node; NULL until there is a box */
    uint64_t steps_left; /* of the search for nameless levels */
    uint64_t unplaced;
    int64_t longest_unplaced_ticks;
    bool no_memory;
};

static struct layout *layout_of(struct laying *l, uint32_t index)
{
    return index == NO_SPAN ? &l->process : &l->all.at[index];
}

static uint32_t innermost(const struct laying *l)
{
    return l->open.n > 0 ? l->open.at[l->open.n - 1] : NO_SPAN;
}

/* Returns the raw node of a call below a frame. Up to `most` levels between them never
 * returned: nodes without a name, one below the other. Sets `*levels` to their number. */
static uint32_t find_node(struct laying *l, uint32_t raw_parent, uint32_t most,
                          const struct nytp_built_span *span, uint32_t *levels)
{
    const struct nytp_calltree *t = &l->b->stack.tree;
    uint32_t raw = raw_parent;
    for (*levels = 0;; ++*levels) {
        const uint32_t node = nytp_calltree_child(t, raw, span->sub, span->file, span->line);
        if (node != NYTP_NO_NODE)
            return node;
        if (*levels == most || l->steps_left == 0)
            return NYTP_NO_NODE;
        l->steps_left--;
        raw = nytp_calltree_child(t, raw, NYTP_NO_SUB, 0, 0);
        if (raw == NYTP_NO_NODE)
            return NYTP_NO_NODE;
    }
}

/* A call that never returned ends with the recording. How long it took, the tree says: the call
 * before it may have taken longer than its statements, which makes the entry seem late. */
static int64_t span_ticks(const struct nytp_built_span *span, const struct nytp_node *node)
{
    const bool open = (node->flags & NYTP_NODE_UNRETURNED) != 0 && span->sub == NYTP_NO_SUB;
    if (open && node->calls == 1)
        return node->incl_ticks > 0 ? node->incl_ticks : 0;
    return span->ticks;
}

/* Append a layout inside the innermost that is open, and open it. */
static void open_layout(struct laying *l, struct layout layout)
{
    const uint32_t parent = innermost(l);
    if (!NYTP_GROW(&l->all) || !NYTP_GROW(&l->open)) {
        l->no_memory = true;
        return;
    }
    layout.parent = parent;
    layout.n_inside = 1;
    l->all.at[l->all.n] = layout;
    l->open.at[l->open.n++] = l->all.n++;
}

/* Open boxes for the nameless levels below the innermost frame. The lowest of them is right
 * above the call, the others as near to the frame as can be. */
static void open_boxes(struct laying *l, uint32_t levels, uint32_t depth)
{
    for (uint32_t i = 1; i <= levels && !l->no_memory; i++) {
        const struct layout *above = layout_of(l, innermost(l));
        const uint32_t raw =
            nytp_calltree_child(&l->b->stack.tree, above->raw, NYTP_NO_SUB, 0, 0);
        open_layout(l, (struct layout){.raw = raw,
                                       .depth = i == levels ? depth - 1 : above->depth + 1,
                                       .is_box = true,
                                       .start = INT64_MAX});
    }
}

static int64_t *mark_target(const struct laying *l, const struct nytp_built_mark *mark)
{
    struct nytp_stretch *const stretch = &l->p->stretches[mark->stretch];
    return mark->is_end ? &stretch->end_ticks : &stretch->start_ticks;
}

/* Put a mark inside the innermost frame that was open there. */
static void link_mark(struct laying *l, const struct nytp_built_mark *mark)
{
    uint32_t above = l->open.n;
    while (above > 0 && l->all.at[l->open.at[above - 1]].depth > mark->depth)
        above--;
    if (!NYTP_GROW(&l->all)) {
        l->no_memory = true;
        return;
    }
    l->all.at[l->all.n++] = (struct layout){
        .parent = above > 0 ? l->open.at[above - 1] : NO_SPAN,
        .depth = mark->depth,
        .mark = mark_target(l, mark),
        .start = mark->at_ticks,
    };
    l->n_marks++;
}

/* Put a span below the frame that it was called from. */
static void link_span(struct laying *l, const struct nytp_built_span *span)
{
    while (l->open.n > 0 && l->all.at[innermost(l)].depth >= span->depth)
        l->open.n--;
    uint32_t raw, levels;
    for (;; l->open.n--) {
        const struct layout *above = layout_of(l, innermost(l));
        const uint32_t between =
            span->depth > above->depth ? span->depth - above->depth - 1 : 0;
        raw = find_node(l, above->raw, between, span, &levels);
        if (raw != NYTP_NO_NODE || l->open.n == 0 || !above->is_box)
            break;
    }
    if (raw == NYTP_NO_NODE) { /* its caller was too short to keep, or the input is damaged */
        l->unplaced++;
        if (l->longest_unplaced_ticks < span->ticks)
            l->longest_unplaced_ticks = span->ticks;
        return;
    }
    open_boxes(l, levels, span->depth);
    if (!l->no_memory)
        open_layout(
            l, (struct layout){.raw = raw,
                               .depth = span->depth,
                               .start = span->start_ticks,
                               .ticks = span_ticks(span, &l->p->nodes[l->node_of_raw[raw]])});
}

/* A box holds its calls, and the first box also the rest of its frame's time. */
static void measure_box(struct laying *l, struct layout *box)
{
    const struct nytp_node *node = &l->p->nodes[l->node_of_raw[box->raw]];
    if (l->has_box == NULL)
        l->has_box = calloc((size_t)l->b->stack.tree.n_nodes + 1, sizeof *l->has_box);
    if (l->has_box == NULL) {
        l->no_memory = true;
        return;
    }
    box->ticks = box->earlier;
    if (node->calls == 1 && !l->has_box[box->raw] && node->incl_ticks > box->ticks)
        box->ticks = node->incl_ticks;
    l->has_box[box->raw] = true;
}

/* From the innermost frame out: counts the layouts in each frame, and sets the latest begin of
 * each box. */
static void measure_frames(struct laying *l)
{
    for (uint32_t i = l->all.n; i-- > 0 && !l->no_memory;) {
        struct layout *here = &l->all.at[i], *above = layout_of(l, here->parent);
        if (here->is_box)
            measure_box(l, here);
        if (above->is_box && here->start < above->start)
            above->start = here->start;
        above->earlier += here->ticks;
        above->n_inside += here->n_inside;
    }
}

/* Callers before callees, later calls before earlier ones. In the model's list each stands
 * right before what it called, which is in order of time. */
static void place_frames(struct laying *l, struct nytp_span *spans)
{
    for (uint32_t i = 0; i < l->all.n; i++) {
        struct layout *here = &l->all.at[i], *above = layout_of(l, here->parent);
        above->earlier -= here->ticks;
        if (here->start > above->limit - here->ticks)
            here->start = above->limit - here->ticks;
        if (here->start < above->start + above->earlier)
            here->start = above->start + above->earlier;
        if (here->start > above->limit)
            here->start = above->limit;
        if (here->mark != NULL) {
            *here->mark = above->limit = here->start;
            continue;
        }
        const int64_t end =
            here->start + here->ticks < above->limit ? here->start + here->ticks : above->limit;
        above->limit = here->start;
        here->limit = end;
        here->behind = above->behind;
        above->behind -= here->n_inside;
        spans[above->behind] = (struct nytp_span){l->node_of_raw[here->raw], here->start, end};
    }
}

#define STEPS_PER_SPAN 16 /* a real program has a few levels that never returned */

/* Spans from `from` up to `to` and marks of a process, from the last to the first. */
static void link_all(struct laying *l, uint32_t from, uint32_t to, uint32_t first_mark,
                     uint32_t end_mark)
{
    const struct nytp_built_mark *const marks = l->b->labels.marks.at;
    for (uint32_t i = to; i-- > from && !l->no_memory; link_span(l, &l->b->spans.at[i]))
        while (end_mark > first_mark && marks[end_mark - 1].n_before > i && !l->no_memory)
            link_mark(l, &marks[--end_mark]);
    while (end_mark > first_mark && !l->no_memory)
        link_mark(l, &marks[--end_mark]);
}

/* A sampled process's calls lie where samples do, and its marks where the clock says. */
static void place_sampled_marks(struct laying *l, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        const struct nytp_built_mark *const mark = &l->b->labels.marks.at[i];
        const int64_t most = l->process.limit,
                      at = mark->at_ticks < most ? mark->at_ticks : most;
        *mark_target(l, mark) = at > 0 ? at : 0;
    }
}

/* Where the marks of a process end in their list. */
static uint32_t marks_end(const struct laying *l, uint32_t process, uint32_t first)
{
    const struct nytp_built_labels *const labels = &l->b->labels;
    while (first < labels->marks.n &&
           l->p->stretches[labels->marks.at[first].stretch].process == process)
        first++;
    return first;
}

/* The spans of one process, from `from` on. */
static bool lay_out_process(struct laying *l, uint32_t process, uint32_t from,
                            uint32_t first_mark, uint32_t end_mark, uint32_t *capacity)
{
    struct nytp_profile *const p = l->p;
    const uint32_t to = from + l->b->processes.at[process].n_spans;
    const int64_t total = p->nodes[p->processes[process].root].incl_ticks;
    l->process = (struct layout){.raw = l->b->processes.at[process].root,
                                 .limit = total > 0 ? total : 0};
    l->all.n = l->n_marks = l->open.n = 0;
    l->steps_left = 1000 + (uint64_t)(to - from) * STEPS_PER_SPAN;
    if (!nytp_reserve(&l->all.at, &l->all.capacity, to - from, sizeof *l->all.at))
        return false;
    if (l->b->settings.sampled)
        place_sampled_marks(l, first_mark, end_mark);
    link_all(l, from, to, first_mark, l->b->settings.sampled ? first_mark : end_mark);
    if (!l->no_memory)
        measure_frames(l);
    if (l->no_memory ||
        !nytp_reserve(&p->spans, capacity, (uint64_t)p->n_spans + l->all.n, sizeof *p->spans))
        return false;
    l->process.behind = p->n_spans += l->all.n - l->n_marks;
    place_frames(l, p->spans);
    return true;
}

bool nytp_lay_out_spans(const struct nytp_assignment *s)
{
    const struct nytp_builder *const b = s->b;
    struct nytp_profile *p = s->p;
    struct laying l = {.b = b, .p = p, .node_of_raw = s->node_of_raw};
    uint32_t capacity = 0, from = 0, mark = 0;
    bool ok = true;
    for (uint32_t i = 0; ok && i < b->processes.n; i++) {
        const uint32_t end_mark = marks_end(&l, i, mark);
        if (b->processes.at[i].n_spans > 0 || end_mark > mark)
            ok = lay_out_process(&l, i, from, mark, end_mark, &capacity);
        from += b->processes.at[i].n_spans;
        mark = end_mark;
    }
    nytp_label_stretches_end(p);
    p->recordings[0].spans_pruned = b->spans.n_pruned + l.unplaced;
    p->recordings[0].pruned_span_ticks = b->spans.pruned_ticks > l.longest_unplaced_ticks
                                             ? b->spans.pruned_ticks
                                             : l.longest_unplaced_ticks;
    ok = ok && nytp_profiles_limit_spans(&p, 1, b->options.max_spans); /* boxes count, too */
    free(l.all.at);
    free(l.open.at);
    free(l.has_box);
    return ok;
}
