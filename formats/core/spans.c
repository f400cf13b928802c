/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The timeline. A call's duration is exact (its inclusive ticks), its place on the axis an
 * estimate within one statement; here the estimates are pushed until calls nest and follow
 * one another, so that durations add up as the tree says.
 *
 * The spans come in the order in which calls ended: read backwards, a caller precedes what it
 * called, and its calls come last first.
 */
#include "builder.h"

#include <stdlib.h>

#define NO_SPAN UINT32_MAX

struct layout {
    uint32_t parent;      /* span, or NO_SPAN for the process */
    uint32_t first, next; /* children in order of time */
    uint32_t raw;         /* node of the growing tree, NYTP_NO_NODE = cannot be placed */
    uint32_t depth;
    int64_t ticks; /* how long it took */
    int64_t start, end;
    int64_t earlier; /* ticks of its children that are not placed yet */
    int64_t limit;   /* the next child placed ends here at the latest */
};

/* The raw node of a call below a frame. Levels that never returned stand between as one. */
static uint32_t find_node(const struct nytp_calltree *t, uint32_t raw_parent, uint32_t levels,
                          const struct nytp_built_span *span)
{
    if (levels > 1)
        raw_parent = nytp_calltree_child(t, raw_parent, NYTP_NO_SUB, 0, 0);
    if (raw_parent == NYTP_NO_NODE)
        return NYTP_NO_NODE;
    return nytp_calltree_child(t, raw_parent, span->sub, span->file, span->line);
}

/* A call that never returned ends with the recording; what it took of that, the tree says. */
static int64_t span_ticks(const struct nytp_built_span *span, const struct nytp_node *node)
{
    const bool open = (node->flags & NYTP_NODE_UNRETURNED) != 0 && span->sub == NYTP_NO_SUB;
    if (open && node->calls == 1 && node->incl_ticks < span->ticks)
        return node->incl_ticks > 0 ? node->incl_ticks : 0;
    return span->ticks;
}

/* Link spans [from, to) of one process to their callers. */
static void link_spans(const struct nytp_builder *b, const struct nytp_profile *p,
                       const uint32_t *node_of_raw, struct layout *all, uint32_t from,
                       uint32_t to, uint32_t *stack, struct layout *process)
{
    uint32_t top = 0;
    for (uint32_t i = to; i-- > from;) {
        const struct nytp_built_span *span = &b->spans[i];
        while (top > 0 && all[stack[top - 1]].depth >= span->depth)
            top--;
        const uint32_t parent = top > 0 ? stack[top - 1] : NO_SPAN;
        struct layout *above = parent == NO_SPAN ? process : &all[parent];
        all[i] = (struct layout){
            .parent = parent,
            .first = NO_SPAN,
            .next = NO_SPAN,
            .depth = span->depth,
            .raw = find_node(&b->tree, above->raw, span->depth - above->depth, span)};
        if (all[i].raw == NYTP_NO_NODE)
            continue;
        all[i].ticks = span_ticks(span, &p->nodes[node_of_raw[all[i].raw]]);
        all[i].next = above->first;
        above->first = i;
        above->earlier += all[i].ticks;
        stack[top++] = i;
    }
}

/* Place spans [from, to): callers before callees, later calls before earlier ones. */
static void place_spans(const struct nytp_builder *b, struct layout *all, uint32_t from,
                        uint32_t to, struct layout *process)
{
    for (uint32_t i = to; i-- > from;) {
        struct layout *l = &all[i];
        if (l->raw == NYTP_NO_NODE)
            continue;
        struct layout *above = l->parent == NO_SPAN ? process : &all[l->parent];
        const int64_t ticks = l->ticks;
        above->earlier -= ticks;
        l->start = b->spans[i].start_ticks;
        if (l->start > above->limit - ticks)
            l->start = above->limit - ticks;
        if (l->start < above->start + above->earlier)
            l->start = above->start + above->earlier;
        if (l->start > above->limit)
            l->start = above->limit;
        l->end = l->start + ticks < above->limit ? l->start + ticks : above->limit;
        above->limit = l->start;
        l->limit = l->end;
    }
}

/* Append spans in order: a caller, then what it called. */
static void emit_spans(struct nytp_profile *p, const struct layout *all, uint32_t first,
                       const uint32_t *node_of_raw)
{
    for (uint32_t i = first; i != NO_SPAN;) {
        p->spans[p->n_spans++] =
            (struct nytp_span){node_of_raw[all[i].raw], all[i].start, all[i].end};
        if (all[i].first != NO_SPAN) {
            i = all[i].first;
            continue;
        }
        while (i != NO_SPAN && all[i].next == NO_SPAN)
            i = all[i].parent;
        if (i != NO_SPAN)
            i = all[i].next;
    }
}

bool nytp_lay_out_spans(const struct nytp_builder *b, struct nytp_profile *p,
                        const uint32_t *node_of_raw)
{
    if (b->n_spans == 0)
        return true;
    struct layout *all = malloc(b->n_spans * sizeof *all);
    uint32_t *stack = malloc(b->n_spans * sizeof *stack);
    p->spans = malloc(b->n_spans * sizeof *p->spans);
    const bool ok = all != NULL && stack != NULL && p->spans != NULL;
    for (uint32_t from = 0, to; ok && from < b->n_spans; from = to) {
        const uint32_t process = b->spans[from].process;
        for (to = from; to < b->n_spans && b->spans[to].process == process; to++)
            ;
        const int64_t total = p->nodes[p->processes[process].root].incl_ticks;
        struct layout root = {.first = NO_SPAN,
                              .raw = b->processes[process].root,
                              .end = total,
                              .limit = total > 0 ? total : 0};
        link_spans(b, p, node_of_raw, all, from, to, stack, &root);
        place_spans(b, all, from, to, &root);
        emit_spans(p, all, root.first, node_of_raw);
    }
    p->span_min_ticks = b->span_min_ticks;
    p->spans_pruned = b->spans_pruned + b->n_spans - p->n_spans;
    free(all);
    free(stack);
    return ok;
}
