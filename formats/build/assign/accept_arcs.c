/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Waits in accept() that the sums of a recording leave out: the arcs get them, as those of a
 * recorder have them that counts the wait.
 */
#include "assignment.h"

#include "formats/model/outermost.h"

#include <stdlib.h>

/* An arc of accept() without time. */
static bool is_silent(const struct nytp_assignment *s, const struct nytp_arc *a)
{
    return a->calls > 0 && a->incl_ticks == 0 && a->excl_ticks == 0 && a->callee != 0 &&
           s->p->subs[a->callee].kind == NYTP_SUB_OPCODE &&
           nytp_is_accept(s->p->subs[a->callee].name);
}

static struct nytp_key place(uint32_t file, uint32_t line)
{
    return (struct nytp_key){file, line, 0, 0};
}

/* Finds the first such arc of each line, which stands for all of that line. */
static bool find_silent(const struct nytp_assignment *s, struct nytp_table *silent)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < s->b->arcs.n; i++) {
        const struct nytp_arc *a = &s->b->arcs.at[i];
        const struct nytp_key key = place(a->file, a->line);
        if (is_silent(s, a) && nytp_table_get(silent, key) == NYTP_TABLE_NONE)
            ok = nytp_table_put(silent, key, i);
    }
    return ok;
}

/* On lines with such arcs: what the statements took, less what other builtins and xsubs did. */
static bool add_lines(const struct nytp_assignment *s, const struct nytp_table *silent,
                      struct nytp_tick_sums *lines)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < s->loose.n; i++) {
        const struct nytp_loose_line *l = &s->loose.at[i];
        const struct nytp_key key = place(l->file, l->line);
        if (nytp_table_get(silent, key) != NYTP_TABLE_NONE)
            ok = nytp_tick_sums_add(lines, key, l->ticks);
    }
    for (uint32_t i = 0; ok && i < s->b->arcs.n; i++) {
        const struct nytp_arc *a = &s->b->arcs.at[i];
        const struct nytp_key key = place(a->file, a->line);
        if (nytp_table_get(silent, key) != NYTP_TABLE_NONE && nytp_is_leaf_kind(s, a->callee))
            ok = nytp_tick_sums_add(lines, key, -a->incl_ticks);
    }
    return ok;
}

/* Sets the time of the first silent arc of each line. */
static bool fill_arcs(struct nytp_assignment *s, const struct nytp_table *silent,
                      const struct nytp_tick_sums *lines)
{
    s->has_accepts = calloc(s->p->n_subs, sizeof *s->has_accepts);
    for (uint32_t i = 0; s->has_accepts != NULL && i < s->b->arcs.n; i++) {
        struct nytp_arc *a = &s->b->arcs.at[i];
        if (nytp_table_get(silent, place(a->file, a->line)) != i)
            continue;
        const int64_t ticks = nytp_tick_sums_get(lines, place(a->file, a->line));
        a->incl_ticks = a->excl_ticks = nytp_at_least_0(ticks);
        s->has_accepts[a->callee] |= ticks > 0;
    }
    return s->has_accepts != NULL;
}

bool nytp_accept_arcs_fill(struct nytp_assignment *s)
{
    struct nytp_builder *b = s->b;
    struct nytp_table silent = {0};
    struct nytp_tick_sums lines = {0};
    for (uint32_t i = 0; i < b->processes.n; i++)
        if (nytp_costs_are_recorded(&b->processes.at[i].model.costs))
            return true;
    bool ok = find_silent(s, &silent);
    if (ok && silent.n > 0)
        ok = s->p->estimated_tree
                 ? add_lines(s, &silent, &lines) && fill_arcs(s, &silent, &lines)
                 : fill_arcs(s, &silent, &b->accepts.by_line);
    nytp_table_free(&silent);
    nytp_tick_sums_free(&lines);
    return ok;
}

/* Arcs by (caller, callee, file, line), and the last of each (caller, callee). */
struct raising {
    const struct nytp_assignment *s;
    struct nytp_table by_key;
    int64_t *below; /* by node: what accepts waited in it and below */
};

#define ANY_PLACE UINT32_MAX

static struct nytp_arc *arc_of_node(const struct raising *r, const struct nytp_node *n)
{
    const uint32_t caller = r->s->p->nodes[n->parent].sub;
    uint32_t at =
        nytp_table_get(&r->by_key, (struct nytp_key){caller, n->sub, n->file, n->line});
    if (at == NYTP_TABLE_NONE)
        at =
            nytp_table_get(&r->by_key, (struct nytp_key){caller, n->sub, ANY_PLACE, ANY_PLACE});
    return at == NYTP_TABLE_NONE ? NULL : &r->s->b->arcs.at[at];
}

static void raise_node(void *context, uint32_t process, uint32_t node)
{
    const struct raising *r = context;
    const struct nytp_node *n = &r->s->p->nodes[node];
    (void)process;
    struct nytp_arc *const arc =
        r->below[node] > 0 && !r->s->has_accepts[n->sub] && n->parent != node
            ? arc_of_node(r, n)
            : NULL;
    if (arc != NULL)
        arc->incl_ticks += r->below[node];
}

bool nytp_accept_arcs_raise(const struct nytp_assignment *s)
{
    const struct nytp_profile *p = s->p;
    struct nytp_arc *const arcs = s->b->arcs.at;
    if (s->has_accepts == NULL)
        return true;
    struct raising r = {.s = s, .below = calloc((size_t)p->n_nodes + 1, sizeof *r.below)};
    bool ok = r.below != NULL;
    for (uint32_t i = 0; ok && i < s->b->arcs.n; i++)
        ok = nytp_table_put(
                 &r.by_key,
                 (struct nytp_key){arcs[i].caller, arcs[i].callee, arcs[i].file, arcs[i].line},
                 i) &&
             nytp_table_put(
                 &r.by_key,
                 (struct nytp_key){arcs[i].caller, arcs[i].callee, ANY_PLACE, ANY_PLACE}, i);
    for (uint32_t i = ok ? p->n_nodes : 0; i-- > 0;) {
        r.below[i] += s->has_accepts[p->nodes[i].sub] ? p->nodes[i].excl_ticks : 0;
        if (p->nodes[i].parent != i)
            r.below[p->nodes[i].parent] += r.below[i];
    }
    ok = ok && nytp_outermost_each(p, raise_node, &r);
    nytp_table_free(&r.by_key);
    free(r.below);
    return ok;
}
