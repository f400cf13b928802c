/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * From what was folded to the model: names become subs, raw nodes become the sorted tree, and
 * every tick gets a sub and a line. formats/model.md states the rules; the steps below are in
 * its order.
 *
 * Sub times come from the subroutine profiler. The statement profiler says how they spread
 * over lines, and how much the program spent outside any sub.
 */
#include "builder.h"
#include "owners.h"
#include "totals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line's statement cost of which only the sub is known, not the context. */
struct loose_line {
    uint32_t process, sub, file, line;
    int64_t ticks;
    uint64_t statements;
};

/* A node's share of a line, before entries are sorted into node_lines. */
struct entry {
    uint32_t node, file, line;
    uint32_t next; /* other entry of the same loose line, index + 1 */
    int64_t ticks;
    uint64_t statements;
};

struct settling {
    struct nytp_builder *b;
    struct nytp_profile *p;
    struct nytp_owners *owners;
    uint32_t *sub_of_name;  /* name id -> sub index */
    uint32_t unreturned_name;
    struct loose_line *loose; /* sorted by process, sub, file, line */
    uint32_t n_loose, loose_capacity;
    uint32_t *node_of_raw;
    uint32_t *raw_of_node;
    int64_t *stmt_ticks; /* per node */
    int64_t *deficit;    /* per node: its time that lies in statements of its ancestors */
    struct entry *entries;
    uint32_t n_entries, entries_capacity;
};

static bool no_memory(struct nytp_error *error)
{
    return nytp_error_set(error, NYTP_ERR_MEMORY, "out of memory");
}

static struct nytp_name name(const struct settling *s, uint32_t id)
{
    return nytp_strings_get(s->b->strings, id);
}

static int compare_names(struct nytp_name x, struct nytp_name y)
{
    const uint32_t len = x.len < y.len ? x.len : y.len;
    const int order = memcmp(x.ptr, y.ptr, len);
    return order != 0 ? order : x.len < y.len ? -1 : x.len > y.len;
}

static bool name_ends(struct nytp_name n, const char *tail)
{
    const size_t len = strlen(tail);
    return n.len >= len && memcmp(n.ptr + n.len - len, tail, len) == 0;
}

/* "Pkg::CORE:print" and "CORE::print": no sub of perl can contain a lone colon, and CORE is
 * perl's own. */
static bool is_opcode(struct nytp_name n)
{
    if (n.len > 6 && memcmp(n.ptr, "CORE::", 6) == 0)
        return true;
    for (const char *at = n.ptr + n.len; at - n.ptr > 5; at--)
        if (at[-1] == ':')
            return memcmp(at - 5, "CORE", 4) == 0 && (at - 5 == n.ptr || at[-6] == ':');
    return false;
}

/* ---- 1. names -------------------------------------------------------------------------- */

/* Frames that never returned have no name in the recording. The lines that ran in them tell
 * it, or the places from which they called, or the caller that their calls name. */
static uint32_t guess_name(const struct settling *s, const struct nytp_tree_node *n,
                           const struct nytp_table *caller_of)
{
    const struct nytp_calltree *t = &s->b->tree;
    for (uint32_t l = n->first_line; l != 0; l = t->lines[l].next) {
        const uint32_t sub = nytp_owners_sub(s->owners, t->lines[l].file, t->lines[l].line);
        if (sub != NYTP_NO_SUB)
            return sub;
    }
    for (uint32_t c = n->first_child; c != NYTP_NO_NODE; c = t->nodes[c].next_sibling) {
        uint32_t sub = nytp_owners_sub(s->owners, t->nodes[c].file, t->nodes[c].line);
        if (sub == NYTP_NO_SUB)
            sub = nytp_table_get(caller_of, (struct nytp_key){.a = t->nodes[c].sub});
        if (sub != NYTP_NO_SUB && sub != 0 && sub != s->b->name_runtime)
            return sub;
    }
    return s->unreturned_name;
}

static bool name_unreturned(struct settling *s)
{
    struct nytp_table caller_of = {0}; /* callee -> its only caller, or 0 */
    struct nytp_calltree *t = &s->b->tree;
    bool ok = true;
    for (uint32_t i = 0; ok && i < s->b->n_arcs; i++) {
        const struct nytp_key key = {.a = s->b->arcs[i].callee};
        const uint32_t known = nytp_table_get(&caller_of, key);
        const uint32_t caller = s->b->arcs[i].caller;
        if (known == NYTP_TABLE_NONE || known != caller)
            ok = nytp_table_put(&caller_of, key, known == NYTP_TABLE_NONE ? caller : 0);
    }
    for (uint32_t i = 1; ok && i < t->n_nodes; i++)
        if (t->nodes[i].sub == NYTP_NO_SUB && t->nodes[i].unreturned)
            t->nodes[i].sub = guess_name(s, &t->nodes[i], &caller_of);
    nytp_table_free(&caller_of);
    return ok;
}

/* Formats without caller names: whoever owns the line of the call. */
static void name_callers(struct settling *s)
{
    for (uint32_t i = 0; i < s->b->n_arcs; i++) {
        struct nytp_built_arc *a = &s->b->arcs[i];
        if (a->caller == 0)
            a->caller = nytp_owners_runner(s->owners, a->file, a->line);
    }
}

/* ---- 2. lines of which only the sub is known ------------------------------------------- */

static int by_process_sub_place(const void *x, const void *y)
{
    const struct loose_line *a = x, *b = y;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->sub != b->sub)
        return a->sub < b->sub ? -1 : 1;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static bool collect_loose_lines(struct settling *s)
{
    for (uint32_t i = 0; i < s->b->n_pages; i++) {
        const struct nytp_line_page *page = &s->b->pages[i];
        for (uint32_t at = 0; at < NYTP_LINES_PER_PAGE; at++) {
            if ((page->seen >> at & 1) == 0)
                continue;
            if (!nytp_grow(&s->loose, &s->loose_capacity, s->n_loose, sizeof *s->loose))
                return false;
            const uint32_t line = page->number * NYTP_LINES_PER_PAGE + at;
            s->loose[s->n_loose++] = (struct loose_line){
                page->process, nytp_owners_runner(s->owners, page->file, line),
                page->file,    line,
                page->ticks[at], page->statements[at]};
        }
    }
    return true;
}

/* ---- 3. subs --------------------------------------------------------------------------- */

struct named_sub {
    struct nytp_name name;
    uint32_t id;
};

static int by_name(const void *x, const void *y)
{
    const struct named_sub *a = x, *b = y;
    return compare_names(a->name, b->name);
}

static void mark(struct settling *s, uint32_t id)
{
    s->sub_of_name[id] = 0;
}

/* Everything that is named as a sub anywhere, sorted; main::RUNTIME comes first. */
static bool make_subs(struct settling *s)
{
    const struct nytp_builder *b = s->b;
    const uint32_t n_names = nytp_strings_count(b->strings);
    s->sub_of_name = malloc(n_names * sizeof *s->sub_of_name);
    if (s->sub_of_name == NULL)
        return false;
    for (uint32_t i = 0; i < n_names; i++)
        s->sub_of_name[i] = NYTP_NO_SUB;
    for (uint32_t i = 0; i < b->n_arcs; i++) {
        mark(s, b->arcs[i].caller);
        mark(s, b->arcs[i].callee);
    }
    for (uint32_t i = 0; i < b->n_ranges; i++)
        mark(s, b->ranges[i].name);
    for (uint32_t i = 0; i < s->n_loose; i++)
        mark(s, s->loose[i].sub);
    for (uint32_t i = 0; i < b->n_processes; i++)
        mark(s, b->name_runtime);
    for (uint32_t i = 1; i < b->tree.n_nodes; i++)
        if (b->tree.nodes[i].sub != NYTP_NO_SUB)
            mark(s, b->tree.nodes[i].sub);

    uint32_t n = 0;
    for (uint32_t i = 0; i < n_names; i++)
        n += s->sub_of_name[i] == 0 && i != b->name_runtime;
    struct named_sub *list = malloc((n + 1) * sizeof *list);
    s->p->subs = calloc(n + 1, sizeof *s->p->subs);
    if (list == NULL || s->p->subs == NULL) {
        free(list);
        return false;
    }
    n = 0;
    for (uint32_t i = 0; i < n_names; i++)
        if (s->sub_of_name[i] == 0 && i != b->name_runtime)
            list[n++] = (struct named_sub){name(s, i), i};
    if (n > 0)
        qsort(list, n, sizeof *list, by_name);
    s->p->subs[0].name = name(s, b->name_runtime);
    s->sub_of_name[b->name_runtime] = 0;
    for (uint32_t i = 0; i < n; i++) {
        s->p->subs[i + 1].name = list[i].name;
        s->sub_of_name[list[i].id] = i + 1;
    }
    s->p->n_subs = n + 1;
    free(list);
    return true;
}

static enum nytp_sub_kind kind_of(const struct settling *s, const struct nytp_sub *sub,
                                  uint32_t id, bool has_range)
{
    if (id == s->unreturned_name)
        return NYTP_SUB_UNRETURNED;
    if (name_ends(sub->name, "::RUNTIME"))
        return NYTP_SUB_RUNTIME;
    if (is_opcode(sub->name))
        return NYTP_SUB_OPCODE;
    if (nytp_table_get(&s->b->xsubs, (struct nytp_key){.a = id}) != NYTP_TABLE_NONE)
        return NYTP_SUB_XSUB;
    if (has_range && sub->last_line == 0 && !name_ends(sub->name, "::BEGIN"))
        return NYTP_SUB_XSUB;
    return NYTP_SUB_PERL;
}

static void describe_subs(struct settling *s)
{
    const struct nytp_builder *b = s->b;
    for (uint32_t i = 0; i < b->n_ranges; i++) {
        const struct nytp_built_range *r = &b->ranges[i];
        struct nytp_sub *sub = &s->p->subs[s->sub_of_name[r->name]];
        const bool better = sub->file == 0 || (sub->last_line == 0 && r->last_line > 0) ||
                            (b->files[r->file].fid < b->files[sub->file].fid &&
                             (r->last_line > 0 || sub->last_line == 0));
        if (!better)
            continue;
        sub->file = r->file;
        sub->first_line = r->first_line;
        sub->last_line = r->last_line;
    }
    const uint32_t n_names = nytp_strings_count(b->strings);
    for (uint32_t i = 0; i < n_names; i++) {
        if (s->sub_of_name[i] == NYTP_NO_SUB)
            continue;
        struct nytp_sub *sub = &s->p->subs[s->sub_of_name[i]];
        sub->kind = kind_of(s, sub, i, sub->file != 0);
        if (sub->kind == NYTP_SUB_XSUB) /* an accessor replaced by an xsub keeps a stale range */
            sub->first_line = sub->last_line = 0;
    }
    struct nytp_sub *root = &s->p->subs[0];
    root->kind = NYTP_SUB_RUNTIME;
    root->file = nytp_owners_script(s->owners);
    root->first_line = root->last_line = root->file != 0 ? 1 : 0;
}

/* From here on arcs, loose lines and raw nodes name subs by index. */
static void number_subs(struct settling *s)
{
    struct nytp_builder *b = s->b;
    for (uint32_t i = 0; i < b->n_arcs; i++) {
        b->arcs[i].caller = s->sub_of_name[b->arcs[i].caller];
        b->arcs[i].callee = s->sub_of_name[b->arcs[i].callee];
    }
    for (uint32_t i = 0; i < s->n_loose; i++)
        s->loose[i].sub = s->sub_of_name[s->loose[i].sub];
    if (s->n_loose > 0)
        qsort(s->loose, s->n_loose, sizeof *s->loose, by_process_sub_place);
}

static bool is_leaf_kind(const struct settling *s, uint32_t sub)
{
    return s->p->subs[sub].kind == NYTP_SUB_OPCODE || s->p->subs[sub].kind == NYTP_SUB_XSUB;
}

/* ---- 4. subs and time outside the tree ------------------------------------------------- */

/* Sums per sub that several steps need. */
struct sub_sums {
    int64_t *loose_ticks; /* statement ticks of its loose lines */
    int64_t *arc_excl;    /* exclusive ticks of arcs into it */
    int64_t *arc_incl;
    uint64_t *arc_calls;
    int64_t *ops_excl; /* of xsubs and opcodes that it calls */
    bool *calls_out;   /* it is a caller */
};

static void free_sums(struct sub_sums *sums)
{
    free(sums->loose_ticks);
    free(sums->arc_excl);
    free(sums->arc_incl);
    free(sums->arc_calls);
    free(sums->ops_excl);
    free(sums->calls_out);
}

static bool sum_up(const struct settling *s, struct sub_sums *sums)
{
    const uint32_t n = s->p->n_subs;
    *sums = (struct sub_sums){
        .loose_ticks = calloc(n, sizeof *sums->loose_ticks),
        .arc_excl = calloc(n, sizeof *sums->arc_excl),
        .arc_incl = calloc(n, sizeof *sums->arc_incl),
        .arc_calls = calloc(n, sizeof *sums->arc_calls),
        .ops_excl = calloc(n, sizeof *sums->ops_excl),
        .calls_out = calloc(n, sizeof *sums->calls_out),
    };
    if (sums->loose_ticks == NULL || sums->arc_excl == NULL || sums->arc_incl == NULL ||
        sums->arc_calls == NULL || sums->ops_excl == NULL || sums->calls_out == NULL)
        return false;
    for (uint32_t i = 0; i < s->n_loose; i++) {
        sums->loose_ticks[s->loose[i].sub] += s->loose[i].ticks;
        s->p->subs[s->loose[i].sub].stmt_ticks += s->loose[i].ticks;
    }
    for (uint32_t i = 0; i < s->b->n_arcs; i++) {
        const struct nytp_built_arc *a = &s->b->arcs[i];
        sums->arc_excl[a->callee] += a->excl_ticks;
        sums->arc_incl[a->callee] += a->incl_ticks;
        sums->arc_calls[a->callee] += a->calls;
        if (is_leaf_kind(s, a->callee))
            sums->ops_excl[a->caller] += a->excl_ticks;
        sums->calls_out[a->caller] = true;
    }
    return true;
}

static uint32_t raw_name(const struct settling *s, uint32_t sub)
{
    /* interned, so the string's own id */
    return nytp_strings_intern(s->b->strings, s->p->subs[sub].name.ptr, s->p->subs[sub].name.len);
}

/* A recording without call events: contexts are estimated from the arcs, each caller passing
 * on its share in proportion. What is too small to place, or only reachable through
 * recursion, becomes a child of the root, so that every sub's total is exact. */
#define ESTIMATE_MAX_NODES 50000u
#define ESTIMATE_MAX_DEPTH 200u

struct estimate {
    struct settling *s;
    const struct sub_sums *sums;
    uint32_t *first_arc; /* per caller, arcs sorted by caller */
    uint32_t *arc_order;
    int64_t *placed_ticks;
    uint64_t *placed_calls;
    bool *on_path;
    uint32_t n_nodes;
    double min_ticks;
};

static bool estimate_below(struct estimate *e, uint32_t raw_parent, uint32_t caller,
                           double share, uint32_t depth)
{
    struct nytp_builder *b = e->s->b;
    if (depth >= ESTIMATE_MAX_DEPTH || e->n_nodes >= ESTIMATE_MAX_NODES)
        return true;
    e->on_path[caller] = true;
    for (uint32_t i = e->first_arc[caller]; i < e->first_arc[caller + 1]; i++) {
        const struct nytp_built_arc *a = &b->arcs[e->arc_order[i]];
        const uint32_t callee = a->callee;
        const double incl = share * (double)a->incl_ticks;
        if (e->on_path[callee] || e->sums->arc_incl[callee] <= 0 || incl < e->min_ticks ||
            e->n_nodes >= ESTIMATE_MAX_NODES)
            continue;
        const double child_share = incl / (double)e->sums->arc_incl[callee];
        int64_t excl = (int64_t)(child_share * (double)e->sums->arc_excl[callee]);
        const int64_t left = e->sums->arc_excl[callee] - e->placed_ticks[callee];
        if (excl > left)
            excl = left;
        uint64_t calls = (uint64_t)(share * (double)a->calls);
        if (calls > e->sums->arc_calls[callee] - e->placed_calls[callee])
            calls = e->sums->arc_calls[callee] - e->placed_calls[callee];
        const uint32_t node = nytp_calltree_add_child(&b->tree, raw_parent,
                                                      raw_name(e->s, callee), a->file, a->line);
        if (node == NYTP_NO_NODE)
            return false;
        e->n_nodes++;
        b->tree.nodes[node].excl_ticks += excl;
        b->tree.nodes[node].calls += calls;
        e->placed_ticks[callee] += excl;
        e->placed_calls[callee] += calls;
        if (!estimate_below(e, node, callee, child_share, depth + 1))
            return false;
    }
    e->on_path[caller] = false;
    return true;
}

static bool estimate_tree(struct settling *s, const struct sub_sums *sums)
{
    struct nytp_builder *b = s->b;
    const uint32_t n = s->p->n_subs, root = b->processes[0].root;
    struct estimate e = {
        .s = s,
        .sums = sums,
        .first_arc = calloc(n + 2, sizeof *e.first_arc),
        .arc_order = malloc((b->n_arcs + 1) * sizeof *e.arc_order),
        .placed_ticks = calloc(n, sizeof *e.placed_ticks),
        .placed_calls = calloc(n, sizeof *e.placed_calls),
        .on_path = calloc(n, sizeof *e.on_path),
    };
    bool ok = e.first_arc != NULL && e.arc_order != NULL && e.placed_ticks != NULL &&
              e.placed_calls != NULL && e.on_path != NULL;
    if (ok) {
        double total = 0;
        for (uint32_t i = 0; i < n; i++)
            total += (double)sums->arc_excl[i];
        e.min_ticks = total > 1e5 ? total / 1e5 : 1;
        for (uint32_t i = 0; i < b->n_arcs; i++)
            e.first_arc[b->arcs[i].caller + 2]++;
        for (uint32_t i = 2; i < n + 2; i++)
            e.first_arc[i] += e.first_arc[i - 1];
        for (uint32_t i = 0; i < b->n_arcs; i++)
            e.arc_order[e.first_arc[b->arcs[i].caller + 1]++] = i;
        ok = estimate_below(&e, root, 0, 1.0, 0);
    }
    for (uint32_t i = 1; ok && i < n; i++) {
        if (e.placed_ticks[i] == sums->arc_excl[i] && e.placed_calls[i] == sums->arc_calls[i])
            continue;
        const uint32_t node = nytp_calltree_add_child(&b->tree, root, raw_name(s, i), 0, 0);
        ok = node != NYTP_NO_NODE;
        if (ok) {
            b->tree.nodes[node].excl_ticks += sums->arc_excl[i] - e.placed_ticks[i];
            b->tree.nodes[node].calls += sums->arc_calls[i] - e.placed_calls[i];
        }
    }
    free(e.first_arc);
    free(e.arc_order);
    free(e.placed_ticks);
    free(e.placed_calls);
    free(e.on_path);
    return ok;
}

/* Whether a process's tree has a node of a sub: a set of (process, sub). */
static bool mark_present(const struct settling *s, struct nytp_table *present)
{
    const struct nytp_calltree *t = &s->b->tree;
    uint32_t *stack = malloc((t->n_nodes + 1) * sizeof *stack);
    bool ok = stack != NULL;
    for (uint32_t i = 0; ok && i < s->b->n_processes; i++) {
        uint32_t n = 0;
        stack[n++] = s->b->processes[i].root;
        while (ok && n > 0) {
            const struct nytp_tree_node *node = &t->nodes[stack[--n]];
            ok = nytp_table_put(present, (struct nytp_key){i, s->sub_of_name[node->sub], 0, 0},
                                1);
            for (uint32_t c = node->first_child; c != NYTP_NO_NODE; c = t->nodes[c].next_sibling)
                stack[n++] = c;
        }
    }
    free(stack);
    return ok;
}

/* Subs that ran statements but have no call on record: calls that never returned, or a
 * recording without the subroutine profiler; they get their statements' time. A comparator
 * of sort is no call either, but its time is in the sort's already. */
static bool place_uncalled(struct settling *s, const struct sub_sums *sums)
{
    struct nytp_builder *b = s->b;
    struct nytp_table present = {0};
    const bool finished = nytp_built_is_finished(b);
    bool ok = mark_present(s, &present);
    for (uint32_t i = 0, end; ok && i < s->n_loose; i = end) {
        const uint32_t process = s->loose[i].process, sub = s->loose[i].sub;
        int64_t ticks = 0;
        for (end = i; end < s->n_loose && s->loose[end].process == process &&
                      s->loose[end].sub == sub;
             end++)
            ticks += s->loose[end].ticks;
        if (nytp_table_get(&present, (struct nytp_key){process, sub, 0, 0}) != NYTP_TABLE_NONE)
            continue;
        const uint32_t node = nytp_calltree_add_child(&b->tree, b->processes[process].root,
                                                      raw_name(s, sub), 0, 0);
        if (node == NYTP_NO_NODE) {
            ok = false;
            break;
        }
        ticks -= sums->ops_excl[sub];
        struct nytp_tree_node *n = &b->tree.nodes[node];
        n->unreturned = (b->has & NYTP_HAS_ARCS) != 0 && !finished;
        n->calls += n->unreturned;
        if ((!finished || sums->calls_out[sub]) && sums->arc_calls[sub] == 0 && ticks > 0)
            n->excl_ticks += ticks;
    }
    nytp_table_free(&present);
    return ok;
}

/* Recordings without entry events do not tell call sites; where a caller has just one place
 * from which it calls the callee, that is it. */
static bool fill_call_sites(struct settling *s)
{
    struct nytp_table only = {0}; /* (caller, callee) -> arc, or n_arcs for several */
    struct nytp_builder *b = s->b;
    bool ok = true;
    for (uint32_t i = 0; ok && i < b->n_arcs; i++) {
        const struct nytp_key key = {b->arcs[i].caller, b->arcs[i].callee, 0, 0};
        const bool first = nytp_table_get(&only, key) == NYTP_TABLE_NONE;
        ok = nytp_table_put(&only, key, first ? i : b->n_arcs);
    }
    for (uint32_t i = 1; ok && i < b->tree.n_nodes; i++) {
        struct nytp_tree_node *n = &b->tree.nodes[i];
        if (n->sub == NYTP_NO_SUB || n->parent == i || n->parent == NYTP_NO_NODE ||
            n->file != 0 || n->line != 0 || b->tree.nodes[n->parent].sub == NYTP_NO_SUB)
            continue;
        const uint32_t arc = nytp_table_get(
            &only, (struct nytp_key){s->sub_of_name[b->tree.nodes[n->parent].sub],
                                     s->sub_of_name[n->sub], 0, 0});
        if (arc < b->n_arcs) {
            n->file = b->arcs[arc].file;
            n->line = b->arcs[arc].line;
        }
    }
    nytp_table_free(&only);
    return ok;
}

/* ---- 5. the sorted tree ---------------------------------------------------------------- */

struct sibling {
    uint32_t sub, file, line, raw;
    bool unreturned;
};

static int by_call(const void *x, const void *y)
{
    const struct sibling *a = x, *b = y;
    if (a->sub != b->sub)
        return a->sub < b->sub ? -1 : 1;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->unreturned != b->unreturned)
        return a->unreturned ? 1 : -1;
    return a->raw < b->raw ? -1 : a->raw > b->raw;
}

/* Sort a raw node's children into `siblings`; returns how many. */
static uint32_t sort_children(const struct settling *s, uint32_t raw, struct sibling *siblings)
{
    const struct nytp_calltree *t = &s->b->tree;
    uint32_t n = 0;
    for (uint32_t c = t->nodes[raw].first_child; c != NYTP_NO_NODE; c = t->nodes[c].next_sibling)
        siblings[n++] = (struct sibling){s->sub_of_name[t->nodes[c].sub], t->nodes[c].file,
                                         t->nodes[c].line, c, t->nodes[c].unreturned};
    if (n > 0)
        qsort(siblings, n, sizeof *siblings, by_call);
    return n;
}

static bool make_nodes(struct settling *s)
{
    const struct nytp_calltree *t = &s->b->tree;
    struct nytp_profile *p = s->p;
    const uint32_t n_raw = t->n_nodes;
    struct sibling *siblings = malloc((n_raw + 1) * sizeof *siblings);
    uint32_t *stack = malloc((n_raw + 1) * sizeof *stack);
    s->node_of_raw = calloc(n_raw + 1, sizeof *s->node_of_raw);
    s->raw_of_node = malloc((t->live_nodes + 1) * sizeof *s->raw_of_node);
    p->nodes = calloc(t->live_nodes + 1, sizeof *p->nodes);
    p->children = malloc((t->live_nodes + 1) * sizeof *p->children);
    const bool ok = siblings != NULL && stack != NULL && s->node_of_raw != NULL &&
                    s->raw_of_node != NULL && p->nodes != NULL && p->children != NULL;
    for (uint32_t i = 0; ok && i < s->b->n_processes; i++) {
        uint32_t n_stack = 0;
        stack[n_stack++] = s->b->processes[i].root;
        p->processes[i].root = p->n_nodes;
        while (n_stack > 0) {
            const uint32_t raw = stack[--n_stack], node = p->n_nodes++;
            const struct nytp_tree_node *r = &t->nodes[raw];
            const bool is_root = raw == s->b->processes[i].root;
            s->node_of_raw[raw] = node;
            s->raw_of_node[node] = raw;
            const uint32_t parent = is_root ? node : s->node_of_raw[r->parent];
            const uint32_t n = sort_children(s, raw, siblings);
            p->nodes[node] = (struct nytp_node){
                .parent = parent,
                .sub = s->sub_of_name[r->sub],
                .file = r->file,
                .line = r->line,
                .flags = r->unreturned ? NYTP_NODE_UNRETURNED : 0,
                .depth = is_root ? 0 : p->nodes[parent].depth + 1,
                .calls = r->calls,
                .excl_ticks = r->excl_ticks,
                .first_child = p->n_children,
                .n_children = n,
            };
            for (uint32_t c = 0; c < n; c++)
                p->children[p->n_children++] = siblings[c].raw;
            for (uint32_t c = n; c-- > 0;)
                stack[n_stack++] = siblings[c].raw;
        }
    }
    for (uint32_t i = 0; ok && i < p->n_children; i++)
        p->children[i] = s->node_of_raw[p->children[i]];
    free(siblings);
    free(stack);
    return ok;
}

/* ---- 6. exclusive time of what the subroutine profiler did not time ---------------------- */

static int64_t at_least_0(int64_t ticks)
{
    return ticks > 0 ? ticks : 0;
}

/* From the leaves up: statements of a node must hold its own exclusive time and the deficits
 * of its children (time of calls that lies within the calling statement); what they cannot
 * hold is its deficit. A frame that never returned gets what its statements hold besides. */
static bool balance_nodes(struct settling *s)
{
    struct nytp_profile *p = s->p;
    const struct nytp_calltree *t = &s->b->tree;
    s->stmt_ticks = calloc(p->n_nodes + 1, sizeof *s->stmt_ticks);
    s->deficit = calloc(p->n_nodes + 1, sizeof *s->deficit);
    if (s->stmt_ticks == NULL || s->deficit == NULL)
        return false;
    for (uint32_t i = p->n_nodes; i-- > 0;) {
        struct nytp_node *n = &p->nodes[i];
        const uint32_t raw = s->raw_of_node[i];
        for (uint32_t l = t->nodes[raw].first_line; l != 0; l = t->lines[l].next)
            s->stmt_ticks[i] += t->lines[l].ticks;
        p->subs[n->sub].stmt_ticks += s->stmt_ticks[i];
        if ((n->flags & NYTP_NODE_UNRETURNED) != 0)
            p->unreturned_frames++;
        if ((n->flags & NYTP_NODE_UNRETURNED) != 0 && n->parent != i)
            n->excl_ticks += at_least_0(s->stmt_ticks[i] - s->deficit[i]);
        s->deficit[i] = at_least_0(s->deficit[i] + n->excl_ticks - s->stmt_ticks[i]);
        if (n->parent != i && s->b->tree.nodes[raw].first_line == 0 && n->excl_ticks < 0)
            s->deficit[i] = 0;
        if (n->parent != i)
            s->deficit[n->parent] += s->deficit[i];
    }
    return true;
}

/* Time of a process's statements outside any sub, less that of the xsubs and opcodes called
 * from there, which run inside these statements. What a Perl sub took beyond its own statements
 * is not taken off: where this is asked for, that is profiler overhead more than anything. */
static int64_t outer_ticks(const struct settling *s, const struct sub_sums *sums,
                           uint32_t process)
{
    const uint32_t root = s->p->processes[process].root;
    const struct nytp_node *n = &s->p->nodes[root];
    int64_t ticks = 0;
    if (s->b->processes[process].has_entries) {
        ticks = s->stmt_ticks[root];
        for (uint32_t c = n->first_child; c < n->first_child + n->n_children; c++)
            if (is_leaf_kind(s, s->p->nodes[s->p->children[c]].sub))
                ticks -= s->deficit[s->p->children[c]];
        return at_least_0(ticks);
    }
    for (uint32_t i = 0; i < s->n_loose; i++)
        if (s->loose[i].process == process && s->loose[i].sub == 0)
            ticks += s->loose[i].ticks;
    if (ticks <= 0 || sums->ops_excl[0] >= sums->loose_ticks[0])
        return 0;
    /* arcs are not known by process: each has its share */
    return ticks - (int64_t)((__int128)sums->ops_excl[0] * ticks / sums->loose_ticks[0]);
}

static bool has_accept(const struct nytp_profile *p)
{
    for (uint32_t i = 1; i < p->n_subs; i++)
        if (p->subs[i].kind == NYTP_SUB_OPCODE &&
            (name_ends(p->subs[i].name, "CORE:accept") ||
             name_ends(p->subs[i].name, "CORE::accept")))
            return true;
    return false;
}

/* The program's own time in each process: what the statement profiler measured in all and the
 * subroutine profiler did not claim. Where that cannot be so (it claims more than there is;
 * or a wait in accept(), which it leaves out), the statements outside subs tell. */
static bool time_roots(struct settling *s, const struct sub_sums *sums)
{
    struct nytp_profile *p = s->p;
    const bool accepts = has_accept(p);
    for (uint32_t i = 0; i < p->n_processes; i++) {
        const uint32_t root = p->processes[i].root;
        const uint32_t end = i + 1 < p->n_processes ? p->processes[i + 1].root : p->n_nodes;
        int64_t rest = p->processes[i].stmt_ticks;
        for (uint32_t n = root + 1; n < end; n++)
            rest -= p->nodes[n].excl_ticks;
        if (rest < 0 || accepts) {
            const int64_t outer = outer_ticks(s, sums, i);
            if (rest < 0 || outer < rest)
                rest = outer;
        }
        p->nodes[root].excl_ticks = rest;
    }
    return true;
}

static void sum_tree(struct nytp_profile *p)
{
    for (uint32_t i = 0; i < p->n_nodes; i++)
        p->nodes[i].incl_ticks = p->nodes[i].excl_ticks;
    for (uint32_t i = p->n_nodes; i-- > 0;)
        if (p->nodes[i].parent != i)
            p->nodes[p->nodes[i].parent].incl_ticks += p->nodes[i].incl_ticks;
    p->total_ticks = 0;
    for (uint32_t i = 0; i < p->n_processes; i++)
        p->total_ticks += p->nodes[p->processes[i].root].incl_ticks;
}

/* ---- 7. lines ---------------------------------------------------------------------------- */

static bool add_entry(struct settling *s, struct entry e)
{
    if (!nytp_grow(&s->entries, &s->entries_capacity, s->n_entries, sizeof *s->entries))
        return false;
    s->entries[s->n_entries++] = e;
    return true;
}

/* The part of `total` that falls to weights up to `cumulated` of `sum`: differences of
 * successive values spread a total over weights without losing a tick. */
static int64_t share_up_to(int64_t total, int64_t cumulated, int64_t sum)
{
    return (int64_t)((__int128)total * cumulated / sum);
}

struct weighted {
    uint32_t file, line;
    int64_t ticks, weight;
    uint64_t statements;
};

static int by_line(const void *x, const void *y)
{
    const struct weighted *a = x, *b = y;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

/* Make the weights sum to more than 0, in the order in which measurements say most: time less
 * calls, time, executions, anything. Returns the sum. */
static int64_t settle_weights(struct weighted *lines, uint32_t n)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += lines[i].weight = at_least_0(lines[i].weight);
    for (uint32_t i = 0; sum == 0 && i < n; i++)
        sum += lines[i].weight = at_least_0(lines[i].ticks);
    if (sum == 0)
        for (uint32_t i = 0; i < n; i++)
            sum += lines[i].weight = (int64_t)(lines[i].statements & INT32_MAX);
    if (sum == 0 && n > 0)
        sum = lines[0].weight = 1;
    return sum;
}

/* A node whose lines were measured in its own context. */
static bool spread_measured(struct settling *s, uint32_t node, struct weighted *lines)
{
    const struct nytp_profile *p = s->p;
    const struct nytp_calltree *t = &s->b->tree;
    const struct nytp_node *n = &p->nodes[node];
    uint32_t n_lines = 0;
    for (uint32_t l = t->nodes[s->raw_of_node[node]].first_line; l != 0; l = t->lines[l].next)
        lines[n_lines++] = (struct weighted){t->lines[l].file, t->lines[l].line,
                                             t->lines[l].ticks, t->lines[l].ticks,
                                             t->lines[l].statements};
    if (n_lines > 0)
        qsort(lines, n_lines, sizeof *lines, by_line);
    for (uint32_t c = 0; c < n->n_children; c++) {
        const uint32_t child = p->children[n->first_child + c];
        const struct weighted key = {.file = p->nodes[child].file, .line = p->nodes[child].line};
        struct weighted *at = bsearch(&key, lines, n_lines, sizeof *lines, by_line);
        if (at != NULL)
            at->weight -= s->deficit[child];
    }
    const int64_t sum = settle_weights(lines, n_lines);
    int64_t cumulated = 0, given = 0;
    for (uint32_t i = 0; i < n_lines; i++) {
        cumulated += lines[i].weight;
        const int64_t upto = share_up_to(n->excl_ticks, cumulated, sum);
        if (!add_entry(s, (struct entry){.node = node,
                                         .file = lines[i].file,
                                         .line = lines[i].line,
                                         .ticks = upto - given,
                                         .statements = lines[i].statements}))
            return false;
        given = upto;
    }
    return true;
}

/* Nodes of one sub in one process whose lines are known only in total: budgets per line, dealt
 * out to the nodes. Big nodes get every line in proportion; small ones take what comes, so
 * that there are not more entries than nodes and lines. Both the totals per line and those
 * per node are exact. */
struct dealing {
    struct weighted *lines;
    int64_t *budget;
    uint32_t *first_entry; /* per line: index + 1 */
    uint32_t n_lines, at;
    int64_t left;
};

static bool deal_line(struct settling *s, struct dealing *d, uint32_t node, uint32_t line,
                      int64_t ticks)
{
    if (ticks == 0)
        return true;
    d->budget[line] -= ticks;
    d->left -= ticks;
    if (!add_entry(s, (struct entry){.node = node,
                                     .file = d->lines[line].file,
                                     .line = d->lines[line].line,
                                     .next = d->first_entry[line],
                                     .ticks = ticks}))
        return false;
    d->first_entry[line] = s->n_entries;
    return true;
}

static bool deal_in_proportion(struct settling *s, struct dealing *d, uint32_t node,
                               int64_t ticks)
{
    const int64_t sum = d->left;
    int64_t cumulated = 0, given = 0;
    for (uint32_t i = 0; i < d->n_lines; i++) {
        cumulated += d->budget[i];
        const int64_t upto = share_up_to(ticks, cumulated, sum);
        if (!deal_line(s, d, node, i, upto - given))
            return false;
        given = upto;
    }
    return true;
}

static bool deal_what_comes(struct settling *s, struct dealing *d, uint32_t node, int64_t ticks)
{
    while (ticks > 0) {
        while (d->budget[d->at] == 0)
            d->at = (d->at + 1) % d->n_lines;
        const int64_t part = ticks < d->budget[d->at] ? ticks : d->budget[d->at];
        if (!deal_line(s, d, node, d->at, part))
            return false;
        ticks -= part;
    }
    return true;
}

/* Executions of each line go where its time went; without time to the busiest node. */
static bool deal_statements(struct settling *s, struct dealing *d, uint32_t busiest)
{
    for (uint32_t i = 0; i < d->n_lines; i++) {
        const struct weighted *l = &d->lines[i];
        if (l->statements == 0)
            continue;
        if (d->first_entry[i] == 0) {
            if (!add_entry(s, (struct entry){.node = busiest,
                                             .file = l->file,
                                             .line = l->line,
                                             .statements = l->statements}))
                return false;
            continue;
        }
        int64_t sum = 0, cumulated = 0;
        uint64_t given = 0;
        for (uint32_t e = d->first_entry[i]; e != 0; e = s->entries[e - 1].next)
            sum += s->entries[e - 1].ticks;
        for (uint32_t e = d->first_entry[i]; e != 0; e = s->entries[e - 1].next) {
            cumulated += s->entries[e - 1].ticks;
            const uint64_t upto =
                (uint64_t)((unsigned __int128)l->statements * (uint64_t)cumulated /
                           (uint64_t)sum);
            s->entries[e - 1].statements = upto - given;
            given = upto;
        }
    }
    return true;
}

/* A node of which no line is known: its sub's first line. */
static bool spread_on_first_line(struct settling *s, uint32_t node)
{
    const struct nytp_sub *sub = &s->p->subs[s->p->nodes[node].sub];
    return s->p->nodes[node].excl_ticks == 0 ||
           add_entry(s, (struct entry){.node = node,
                                       .file = sub->file,
                                       .line = sub->first_line,
                                       .ticks = s->p->nodes[node].excl_ticks});
}

#define PROPORTIONAL_SHARE 64 /* nodes with at least 1/64 of their sub's time are "big" */

/* `nodes` are sorted by exclusive ticks, largest first. */
static bool deal_lines(struct settling *s, struct dealing *d, const uint32_t *nodes,
                       uint32_t n_nodes)
{
    const struct nytp_profile *p = s->p;
    int64_t total = 0;
    for (uint32_t i = 0; i < n_nodes; i++)
        total += at_least_0(p->nodes[nodes[i]].excl_ticks);
    const int64_t sum = settle_weights(d->lines, d->n_lines);
    int64_t cumulated = 0, given = 0;
    for (uint32_t i = 0; i < d->n_lines; i++) {
        cumulated += d->lines[i].weight;
        const int64_t upto = share_up_to(total, cumulated, sum);
        d->budget[i] = upto - given;
        d->first_entry[i] = 0;
        given = upto;
    }
    d->left = total;
    d->at = 0;
    for (uint32_t i = 0; i < n_nodes; i++) {
        const int64_t ticks = p->nodes[nodes[i]].excl_ticks;
        bool ok;
        if (ticks < 0)
            ok = spread_on_first_line(s, nodes[i]);
        else if (ticks >= total / PROPORTIONAL_SHARE && ticks > 0)
            ok = deal_in_proportion(s, d, nodes[i], ticks);
        else
            ok = deal_what_comes(s, d, nodes[i], ticks);
        if (!ok)
            return false;
    }
    return deal_statements(s, d, nodes[0]);
}

struct group {
    uint32_t process, sub, node;
    int64_t excl_ticks;
};

static int by_group(const void *x, const void *y)
{
    const struct group *a = x, *b = y;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->sub != b->sub)
        return a->sub < b->sub ? -1 : 1;
    if (a->excl_ticks != b->excl_ticks)
        return a->excl_ticks > b->excl_ticks ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

/* Time of xsubs and opcodes called from each line of a sub, to be taken off its weight. */
static bool index_leaf_calls(const struct settling *s, struct nytp_table *leaf_ticks,
                             int64_t **ticks)
{
    *ticks = calloc(s->b->n_arcs + 1, sizeof **ticks);
    if (*ticks == NULL)
        return false;
    for (uint32_t i = 0; i < s->b->n_arcs; i++) {
        const struct nytp_built_arc *a = &s->b->arcs[i];
        if (!is_leaf_kind(s, a->callee))
            continue;
        const struct nytp_key key = {a->caller, a->file, a->line, 0};
        uint32_t at = nytp_table_get(leaf_ticks, key);
        if (at == NYTP_TABLE_NONE) {
            at = i;
            if (!nytp_table_put(leaf_ticks, key, at))
                return false;
        }
        (*ticks)[at] += a->excl_ticks;
    }
    return true;
}

static bool spread_groups(struct settling *s, const struct group *groups, uint32_t n_groups)
{
    struct nytp_table leaf_index = {0};
    int64_t *leaf_ticks = NULL;
    struct dealing d = {
        .lines = malloc((s->n_loose + 1) * sizeof *d.lines),
        .budget = malloc((s->n_loose + 1) * sizeof *d.budget),
        .first_entry = malloc((s->n_loose + 1) * sizeof *d.first_entry),
    };
    uint32_t *nodes = malloc((n_groups + 1) * sizeof *nodes);
    bool ok = d.lines != NULL && d.budget != NULL && d.first_entry != NULL && nodes != NULL &&
              index_leaf_calls(s, &leaf_index, &leaf_ticks);
    uint32_t loose = 0;
    for (uint32_t i = 0, end; ok && i < n_groups; i = end) {
        const uint32_t process = groups[i].process, sub = groups[i].sub;
        uint32_t n_nodes = 0;
        for (end = i; end < n_groups && groups[end].process == process && groups[end].sub == sub;
             end++)
            nodes[n_nodes++] = groups[end].node;
        while (loose < s->n_loose && (s->loose[loose].process < process ||
                                      (s->loose[loose].process == process &&
                                       s->loose[loose].sub < sub)))
            loose++;
        d.n_lines = 0;
        for (; loose < s->n_loose && s->loose[loose].process == process &&
               s->loose[loose].sub == sub;
             loose++) {
            const struct loose_line *l = &s->loose[loose];
            const uint32_t leaf =
                nytp_table_get(&leaf_index, (struct nytp_key){sub, l->file, l->line, 0});
            d.lines[d.n_lines++] = (struct weighted){
                l->file, l->line, l->ticks,
                l->ticks - (leaf == NYTP_TABLE_NONE ? 0 : leaf_ticks[leaf]), l->statements};
        }
        if (d.n_lines > 0)
            ok = deal_lines(s, &d, nodes, n_nodes);
        else
            for (uint32_t n = 0; ok && n < n_nodes; n++)
                ok = spread_on_first_line(s, nodes[n]);
    }
    free(d.lines);
    free(d.budget);
    free(d.first_entry);
    free(nodes);
    free(leaf_ticks);
    nytp_table_free(&leaf_index);
    return ok;
}

static bool spread_lines(struct settling *s)
{
    const struct nytp_profile *p = s->p;
    const struct nytp_calltree *t = &s->b->tree;
    struct group *groups = malloc((p->n_nodes + 1) * sizeof *groups);
    struct weighted *lines = malloc((t->n_lines + 1) * sizeof *lines);
    bool ok = groups != NULL && lines != NULL;
    uint32_t n_groups = 0;
    for (uint32_t i = 0; ok && i < p->n_processes; i++) {
        const uint32_t end = i + 1 < p->n_processes ? p->processes[i + 1].root : p->n_nodes;
        for (uint32_t n = p->processes[i].root; ok && n < end; n++) {
            if (t->nodes[s->raw_of_node[n]].first_line != 0)
                ok = spread_measured(s, n, lines);
            else
                groups[n_groups++] =
                    (struct group){i, p->nodes[n].sub, n, p->nodes[n].excl_ticks};
        }
    }
    if (ok) {
        qsort(groups, n_groups, sizeof *groups, by_group);
        ok = spread_groups(s, groups, n_groups);
    }
    free(groups);
    free(lines);
    return ok;
}

static int by_place(const void *x, const void *y)
{
    const struct nytp_node_line *a = x, *b = y;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

/* Entries into node_lines: bucketed by node, sorted and merged within. */
static bool make_node_lines(struct settling *s)
{
    struct nytp_profile *p = s->p;
    uint32_t *first = calloc(p->n_nodes + 2, sizeof *first);
    p->node_lines = malloc((s->n_entries + 1) * sizeof *p->node_lines);
    if (first == NULL || p->node_lines == NULL) {
        free(first);
        return false;
    }
    for (uint32_t i = 0; i < s->n_entries; i++)
        first[s->entries[i].node + 2]++;
    for (uint32_t i = 2; i < p->n_nodes + 2; i++)
        first[i] += first[i - 1];
    for (uint32_t i = 0; i < s->n_entries; i++) {
        const struct entry *e = &s->entries[i];
        p->node_lines[first[e->node + 1]++] =
            (struct nytp_node_line){e->file, e->line, e->ticks, e->statements};
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        struct nytp_node_line *lines = p->node_lines + first[i];
        const uint32_t n = first[i + 1] - first[i];
        qsort(lines, n, sizeof *lines, by_place);
        p->nodes[i].first_node_line = kept;
        for (uint32_t l = 0; l < n; l++) {
            if (lines[l].ticks == 0 && lines[l].statements == 0)
                continue;
            if (kept > p->nodes[i].first_node_line &&
                by_place(&p->node_lines[kept - 1], &lines[l]) == 0) {
                p->node_lines[kept - 1].ticks += lines[l].ticks;
                p->node_lines[kept - 1].statements += lines[l].statements;
            } else {
                p->node_lines[kept++] = lines[l];
            }
        }
        p->nodes[i].n_node_lines = kept - p->nodes[i].first_node_line;
    }
    p->n_node_lines = kept;
    free(first);
    return true;
}

/* ---- 8. the rest ------------------------------------------------------------------------- */

static bool keep_pairs(struct settling *s, const struct nytp_pair_ids *ids, uint32_t n,
                       struct nytp_pair **pairs)
{
    *pairs = malloc((n + 1) * sizeof **pairs);
    if (*pairs == NULL)
        return false;
    for (uint32_t i = 0; i < n; i++)
        (*pairs)[i] = (struct nytp_pair){name(s, ids[i].key), name(s, ids[i].value)};
    return true;
}

static struct nytp_name attribute_or_empty(const struct nytp_profile *p, const char *key)
{
    const struct nytp_name *value = nytp_profile_attribute(p, key);
    return value != NULL ? *value : (struct nytp_name){"", 0};
}

static bool make_part(struct settling *s)
{
    struct nytp_profile *p = s->p;
    struct nytp_builder *b = s->b;
    p->parts = calloc(1, sizeof *p->parts);
    p->processes = calloc(b->n_processes + 1, sizeof *p->processes);
    if (p->parts == NULL || p->processes == NULL ||
        !keep_pairs(s, b->attributes, b->n_attributes, &p->attributes) ||
        !keep_pairs(s, b->options_seen, b->n_options, &p->options))
        return false;
    p->n_attributes = b->n_attributes;
    p->n_options = b->n_options;
    p->n_parts = 1;
    p->parts[0] = (struct nytp_part){
        .path = name(s, b->path),
        .application = attribute_or_empty(p, "application"),
        .perl_version = attribute_or_empty(p, "perl_version"),
        .xs_version = attribute_or_empty(p, "xs_version"),
        .basetime_s = strtod(attribute_or_empty(p, "basetime").ptr, NULL),
        .n_processes = b->n_processes,
    };
    p->n_processes = b->n_processes;
    for (uint32_t i = 0; i < b->n_processes; i++) {
        const struct nytp_built_process *from = &b->processes[i];
        p->processes[i] = (struct nytp_process){.pid = from->pid,
                                                .ppid = from->ppid,
                                                .start_s = from->start_s,
                                                .end_s = from->end_s,
                                                .stmt_ticks = from->clock,
                                                .complete = from->complete};
        p->total_statements += from->statements;
        const bool announced = from->pid != 0 || from->start_s != 0;
        if (announced && !from->complete && !p->partial) {
            p->partial = p->parts[0].partial = true;
            nytp_error_set(&p->parts[0].error, NYTP_ERR_TRUNCATED,
                           "the recording has no end for process %u", from->pid);
        }
    }
    return true;
}

static bool make_files(struct settling *s)
{
    struct nytp_profile *p = s->p;
    struct nytp_builder *b = s->b;
    p->files = calloc(b->n_files, sizeof *p->files);
    if (p->files == NULL)
        return false;
    p->n_files = b->n_files;
    p->files[0].name = name(s, 0);
    for (uint32_t i = 1; i < b->n_files; i++) {
        const struct nytp_built_file *f = &b->files[i];
        uint32_t id = f->name;
        if (id == 0) {
            char text[40];
            const int len = snprintf(text, sizeof text, "(unknown file %u)", f->fid);
            id = nytp_strings_intern(b->strings, text, (size_t)len);
            if (id == UINT32_MAX)
                return false;
        }
        uint32_t eval_file = f->eval_fid != 0 ? nytp_built_file_of_fid(b, f->eval_fid) : 0;
        if (eval_file == i)
            eval_file = 0;
        p->files[i] = (struct nytp_file){.name = name(s, id),
                                         .fid = f->fid,
                                         .eval_file = eval_file,
                                         .eval_line = f->eval_line,
                                         .flags = f->flags,
                                         .size = f->size,
                                         .mtime_s = f->mtime_s};
    }
    return true;
}

static int by_source_place(const void *x, const void *y)
{
    const struct nytp_source_line *a = x, *b = y;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    return 0;
}

static bool make_sources(struct settling *s)
{
    struct nytp_profile *p = s->p;
    const struct nytp_builder *b = s->b;
    struct nytp_table latest = {0}; /* (file, line) -> index in sources: the last one wins */
    p->sources = malloc((b->n_sources + 1) * sizeof *p->sources);
    if (p->sources == NULL)
        return false;
    bool ok = true;
    for (uint32_t i = 0; ok && i < b->n_sources; i++) {
        const struct nytp_built_source *from = &b->sources[i];
        const struct nytp_key key = {from->file, from->line, 0, 0};
        uint32_t at = nytp_table_get(&latest, key);
        if (at == NYTP_TABLE_NONE) {
            at = p->n_sources++;
            ok = nytp_table_put(&latest, key, at);
        }
        p->sources[at] =
            (struct nytp_source_line){from->file, from->line, from->text, from->len};
    }
    nytp_table_free(&latest);
    if (p->n_sources > 0)
        qsort(p->sources, p->n_sources, sizeof *p->sources, by_source_place);
    for (uint32_t i = p->n_sources; i-- > 0;) {
        struct nytp_file *f = &p->files[p->sources[i].file];
        f->first_source = i;
        f->n_sources++;
    }
    return ok;
}

static bool make_arcs(struct settling *s)
{
    struct nytp_profile *p = s->p;
    const struct nytp_builder *b = s->b;
    struct nytp_arc *recorded = malloc((b->n_arcs + 1) * sizeof *recorded);
    if (recorded == NULL)
        return false;
    for (uint32_t i = 0; i < b->n_arcs; i++) {
        const struct nytp_built_arc *a = &b->arcs[i];
        recorded[i] = (struct nytp_arc){.caller = a->caller,
                                        .callee = a->callee,
                                        .file = a->file,
                                        .line = a->line,
                                        .calls = a->calls == 0 ? 1 : a->calls,
                                        .incl_ticks = a->incl_ticks,
                                        .excl_ticks = a->excl_ticks,
                                        .reci_ticks = a->reci_ticks,
                                        .rec_depth = a->rec_depth};
    }
    const bool ok = nytp_profile_make_arcs(p, recorded, b->n_arcs);
    free(recorded);
    return ok;
}

static bool settle_all(struct settling *s)
{
    struct nytp_builder *b = s->b;
    struct nytp_profile *p = s->p;
    struct sub_sums sums = {0};
    s->unreturned_name = nytp_strings_intern(b->strings, "[unreturned]", 12);
    bool ok = s->unreturned_name != UINT32_MAX && name_unreturned(s);
    if (ok) {
        name_callers(s);
        ok = collect_loose_lines(s) && make_subs(s);
    }
    if (ok) {
        describe_subs(s);
        number_subs(s);
        p->estimated_tree = (b->has & NYTP_HAS_CALLS) == 0 && b->n_arcs > 0;
        ok = sum_up(s, &sums) && (!p->estimated_tree || estimate_tree(s, &sums)) &&
             place_uncalled(s, &sums) && fill_call_sites(s) && make_part(s) && make_files(s) &&
             make_nodes(s) && balance_nodes(s) && time_roots(s, &sums);
    }
    if (ok) {
        sum_tree(p);
        ok = spread_lines(s) && make_node_lines(s) && make_arcs(s) &&
             nytp_profile_make_line_costs(p) && make_sources(s) &&
             nytp_lay_out_spans(b, p, s->node_of_raw);
    }
    free_sums(&sums);
    return ok;
}

struct nytp_profile *nytp_settle(struct nytp_builder *b, struct nytp_error *error)
{
    struct settling s = {.b = b, .p = calloc(1, sizeof *s.p), .owners = nytp_owners_new(b)};
    bool ok = s.p != NULL && s.owners != NULL;
    if (ok) {
        s.p->ticks_per_sec = b->ticks_per_sec;
        s.p->has = b->has;
        s.p->negative_times = b->negative_times;
        s.p->wrapped_statements = b->wrapped_statements;
        ok = settle_all(&s);
    }
    nytp_owners_free(s.owners);
    free(s.sub_of_name);
    free(s.loose);
    free(s.node_of_raw);
    free(s.raw_of_node);
    free(s.stmt_ticks);
    free(s.deficit);
    free(s.entries);
    if (!ok) {
        nytp_profile_free(s.p);
        no_memory(error);
        return NULL;
    }
    s.p->strings = b->strings; /* names and texts move over */
    s.p->arena = b->arena;
    b->strings = NULL;
    b->arena = NULL;
    return s.p;
}
