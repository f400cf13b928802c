/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * From what the builder holds to the model: names become subs, raw nodes become the sorted
 * tree, and every tick gets a sub and a line. formats/model.md states the rules; the steps
 * below are in its order.
 *
 * Sub times come from the subroutine profiler. The statement profiler says how they divide
 * over lines, and how much the program spent outside any sub.
 */

#include "assignment.h"
#include "formats/build/correct/correction.h"
#include "formats/build/gather/builder_parts.h"
#include "formats/model/eval_files.h"
#include "formats/model/in_use.h"
#include "formats/model/profile.h"
#include "formats/model/totals.h"
#include "formats/base/units.h"
#include "formats/base/wide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct nytp_name name(const struct nytp_assignment *s, uint32_t id)
{
    return nytp_strings_get(s->b->strings, id);
}

/* Adds up, per sub, what several steps need: its loose lines, the arcs into it, the xsubs that
 * it calls. The caller frees it. Returns NULL if memory is out. */
static struct nytp_sub_sums *sum_up(const struct nytp_assignment *s)
{
    struct nytp_sub_sums *const sums = calloc(s->p->n_subs, sizeof *sums);
    for (uint32_t i = 0; sums != NULL && i < s->loose.n; i++) {
        sums[s->loose.at[i].sub].loose_ticks += s->loose.at[i].ticks;
        s->p->subs[s->loose.at[i].sub].stmt_ticks += s->loose.at[i].ticks;
    }
    for (uint32_t i = 0; sums != NULL && i < s->b->arcs.n; i++) {
        const struct nytp_arc *a = &s->b->arcs.at[i];
        sums[a->callee].arc_excl += a->excl_ticks;
        sums[a->callee].arc_incl += a->incl_ticks;
        sums[a->callee].arc_calls += a->calls;
        if (nytp_is_leaf_kind(s, a->callee))
            sums[a->caller].ops_excl += a->excl_ticks;
        sums[a->caller].calls_out = true;
    }
    return sums;
}

/* Returns whether a process's tree has a node of a sub: a set of (process, sub). */
static bool mark_present(const struct nytp_assignment *s, struct nytp_table *present)
{
    const struct nytp_calltree *t = &s->b->stack.tree;
    uint32_t *stack = malloc((t->n_nodes + 1) * sizeof *stack);
    bool ok = stack != NULL;
    for (uint32_t i = 0; ok && i < s->b->processes.n; i++) {
        uint32_t n = 0;
        stack[n++] = s->b->processes.at[i].root;
        while (ok && n > 0) {
            const struct nytp_tree_node *node = &t->nodes[stack[--n]];
            ok = nytp_table_put(present, (struct nytp_key){i, s->sub_of_name[node->sub], 0, 0},
                                1);
            for (uint32_t c = node->first_child; c != NYTP_NO_NODE;
                 c = t->nodes[c].next_sibling)
                stack[n++] = c;
        }
    }
    free(stack);
    return ok;
}

/* Returns the share of the time of a sub's xsubs and opcodes that belongs to these ticks of its
 * statements, at most all of them. Arcs are not known by process. */
static int64_t share_of_ops(const struct nytp_sub_sums *sums, uint32_t sub, int64_t ticks)
{
    if (ticks <= 0 || sums[sub].ops_excl >= sums[sub].loose_ticks)
        return nytp_at_least_0(ticks);
    const int64_t share = nytp_mul_div_signed(sums[sub].ops_excl, ticks, sums[sub].loose_ticks);
    return share <= 0 ? 0 : share >= ticks ? ticks : share;
}

/* Subs that ran statements but have no call on record: calls that never returned, or a
 * recording without the subroutine profiler; they get their statements' time. A comparator
 * of sort is no call either, but its time is in the sort's already. */
static bool place_uncalled(struct nytp_assignment *s, const struct nytp_sub_sums *sums)
{
    struct nytp_builder *b = s->b;
    struct nytp_table present = {0};
    const bool finished = nytp_built_is_finished(b);
    bool ok = mark_present(s, &present);
    for (uint32_t i = 0, end; ok && i < s->loose.n; i = end) {
        const uint32_t process = s->loose.at[i].process, sub = s->loose.at[i].sub;
        int64_t ticks = 0;
        for (end = i; end < s->loose.n && s->loose.at[end].process == process &&
                      s->loose.at[end].sub == sub;
             end++)
            ticks += s->loose.at[end].ticks;
        if (nytp_table_get(&present, (struct nytp_key){process, sub, 0, 0}) != NYTP_TABLE_NONE)
            continue;
        const uint32_t node = nytp_calltree_add_child(
            &b->stack.tree, b->processes.at[process].root, nytp_id_of_sub(s, sub), 0, 0);
        if (node == NYTP_NO_NODE) {
            ok = false;
            break;
        }
        ticks -= share_of_ops(sums, sub, ticks);
        struct nytp_tree_node *n = &b->stack.tree.nodes[node];
        n->unreturned = (b->p->has & NYTP_HAS_ARCS) != 0 && !finished;
        n->calls += n->unreturned;
        if ((!finished || sums[sub].calls_out) && sums[sub].arc_calls == 0 && ticks > 0)
            n->excl_ticks += ticks;
    }
    nytp_table_free(&present);
    return ok;
}

/* Recordings without entry events do not tell call sites; where a caller has just one place
 * from which it calls the callee, that is it. */
static bool fill_call_sites(struct nytp_assignment *s)
{
    struct nytp_table only = {0}; /* (caller, callee) -> arc, or n_arcs for several */
    struct nytp_builder *b = s->b;
    bool ok = true;
    for (uint32_t i = 0; ok && i < b->arcs.n; i++) {
        const struct nytp_key key = {b->arcs.at[i].caller, b->arcs.at[i].callee, 0, 0};
        const bool first = nytp_table_get(&only, key) == NYTP_TABLE_NONE;
        ok = nytp_table_put(&only, key, first ? i : b->arcs.n);
    }
    for (uint32_t i = 1; ok && i < b->stack.tree.n_nodes; i++) {
        struct nytp_tree_node *n = &b->stack.tree.nodes[i];
        if (n->sub == NYTP_NO_SUB || n->parent == i || n->parent == NYTP_NO_NODE ||
            n->file != 0 || n->line != 0 || b->stack.tree.nodes[n->parent].sub == NYTP_NO_SUB)
            continue;
        const uint32_t arc = nytp_table_get(
            &only, (struct nytp_key){s->sub_of_name[b->stack.tree.nodes[n->parent].sub],
                                     s->sub_of_name[n->sub], 0, 0});
        if (arc < b->arcs.n) {
            n->file = b->arcs.at[arc].file;
            n->line = b->arcs.at[arc].line;
        }
    }
    nytp_table_free(&only);
    return ok;
}

struct sibling {
    uint32_t sub, file, line, raw;
    bool unreturned;
};

static int by_call(const void *x, const void *y)
{
    const struct sibling *a = x, *b = y;
    NYTP_RETURN_ORDER(a->sub, b->sub);
    NYTP_RETURN_ORDER(a->file, b->file);
    NYTP_RETURN_ORDER(a->line, b->line);
    if (a->unreturned != b->unreturned)
        return a->unreturned ? 1 : -1;
    return a->raw < b->raw ? -1 : a->raw > b->raw;
}

/* Sort a raw node's children into `siblings`; returns how many. */
static uint32_t sort_children(const struct nytp_assignment *s, uint32_t raw,
                              struct sibling *siblings)
{
    const struct nytp_calltree *t = &s->b->stack.tree;
    uint32_t n = 0;
    for (uint32_t c = t->nodes[raw].first_child; c != NYTP_NO_NODE;
         c = t->nodes[c].next_sibling)
        siblings[n++] = (struct sibling){s->sub_of_name[t->nodes[c].sub], t->nodes[c].file,
                                         t->nodes[c].line, c, t->nodes[c].unreturned};
    if (n > 0)
        qsort(siblings, n, sizeof *siblings, by_call);
    return n;
}

/* The model's node `node`, of the raw node `r`; its n children follow in p->children. */
static void add_node(struct nytp_assignment *s, const struct nytp_tree_node *r, uint32_t node,
                     bool is_root, uint32_t n)
{
    struct nytp_profile *p = s->p;
    const uint32_t parent = is_root ? node : s->node_of_raw[r->parent];
    p->nodes[node] = (struct nytp_node){
        .parent = parent,
        .sub = s->sub_of_name[r->sub],
        .file = r->file,
        .line = r->line,
        .flags =
            (r->unreturned ? NYTP_NODE_UNRETURNED : 0u) | (r->hangs ? NYTP_NODE_HANGS : 0u),
        .depth = is_root ? 0 : p->nodes[parent].depth + 1,
        .calls = r->calls,
        .excl_ticks = r->excl_ticks,
        .first_child = p->n_children,
        .n_children = n,
    };
}

/* Turn the raw nodes, which are in the order in which calls were first seen, into the model's:
 * depth first, siblings sorted. */
static bool make_nodes(struct nytp_assignment *s)
{
    const struct nytp_calltree *t = &s->b->stack.tree;
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
    for (uint32_t i = 0; ok && i < s->b->processes.n; i++) {
        uint32_t n_stack = 0;
        stack[n_stack++] = s->b->processes.at[i].root;
        p->processes[i].root = p->n_nodes;
        while (n_stack > 0) {
            const uint32_t raw = stack[--n_stack], node = p->n_nodes++;
            const struct nytp_tree_node *r = &t->nodes[raw];
            const bool is_root = raw == s->b->processes.at[i].root;
            s->node_of_raw[raw] = node;
            s->raw_of_node[node] = raw;
            const uint32_t n = sort_children(s, raw, siblings);
            add_node(s, r, node, is_root, n);
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

/* From the leaves up. Statements of a node must hold its exclusive time and the deficits of its
 * children (time of calls within the calling statement). Its deficit is the part that they
 * cannot hold. A frame that never returned gets what its statements hold beyond that. */
static bool balance_nodes(struct nytp_assignment *s)
{
    struct nytp_profile *p = s->p;
    const struct nytp_calltree *t = &s->b->stack.tree;
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
            p->faults.unreturned_frames++;
        if ((n->flags & NYTP_NODE_UNRETURNED) != 0 && n->parent != i)
            n->excl_ticks += nytp_at_least_0(s->stmt_ticks[i] - s->deficit[i]);
        s->deficit[i] = nytp_at_least_0(s->deficit[i] + n->excl_ticks - s->stmt_ticks[i]);
        if (n->parent != i && s->b->stack.tree.nodes[raw].first_line == 0 && n->excl_ticks < 0)
            s->deficit[i] = 0;
        if (n->parent != i)
            s->deficit[n->parent] += s->deficit[i];
    }
    return true;
}

/* Time of a process's statements outside any sub, less that of the xsubs and opcodes called
 * from there, which run inside these statements. What a Perl sub took beyond its own statements
 * is not taken off: where this is asked for, that is profiler overhead more than anything. */
static int64_t outer_ticks(const struct nytp_assignment *s, const struct nytp_sub_sums *sums,
                           uint32_t process)
{
    const uint32_t root = s->p->processes[process].root;
    const struct nytp_node *n = &s->p->nodes[root];
    int64_t ticks = 0;
    if (s->b->processes.at[process].has_entries) {
        ticks = s->stmt_ticks[root];
        for (uint32_t c = n->first_child; c < n->first_child + n->n_children; c++)
            if (nytp_is_leaf_kind(s, s->p->nodes[s->p->children[c]].sub))
                ticks -= s->deficit[s->p->children[c]];
        return nytp_at_least_0(ticks);
    }
    for (uint32_t i = 0; i < s->loose.n; i++)
        if (s->loose.at[i].process == process && s->loose.at[i].sub == 0)
            ticks += s->loose.at[i].ticks;
    return nytp_at_least_0(ticks - share_of_ops(sums, 0, ticks));
}

/* Returns the time of a process's statements outside its calls. */
static int64_t rest_of(const struct nytp_profile *p, uint32_t process)
{
    const uint32_t end = nytp_process_nodes_end(p, process);
    int64_t rest = p->processes[process].stmt_ticks;
    for (uint32_t n = p->processes[process].root + 1; n < end; n++)
        rest -= p->nodes[n].excl_ticks;
    return rest;
}

/* Sets the program's own time in each process: the statement profiler's total less the time
 * that subs have. If subs have more than the total, the statements outside subs tell. So they
 * do if the tree is an estimate: its calls are all in the first process, which gets the rest of
 * all. */
static void time_roots(struct nytp_assignment *s, const struct nytp_sub_sums *sums)
{
    struct nytp_profile *p = s->p;
    int64_t of_first = 0;
    for (uint32_t i = p->n_processes; i-- > 0;) {
        const bool is_elsewhere = p->estimated_tree && i > 0;
        const int64_t all = rest_of(p, i) + (i == 0 ? of_first : 0);
        int64_t rest = all;
        if (rest < 0 || is_elsewhere) {
            const int64_t outer = outer_ticks(s, sums, i);
            if (rest < 0 || outer < rest)
                rest = outer;
        }
        if (is_elsewhere)
            of_first += all - rest;
        p->nodes[p->processes[i].root].excl_ticks = rest;
    }
}

static struct nytp_name attribute_or_empty(const struct nytp_profile *p, const char *key)
{
    const struct nytp_name *value = nytp_profile_attribute(p, key);
    return value != NULL ? *value : (struct nytp_name){"", 0};
}

/* The processes. One that was announced and whose end was not seen makes the profile partial.
 */
static void make_processes(struct nytp_assignment *s)
{
    struct nytp_profile *p = s->p;
    const struct nytp_builder *b = s->b;
    for (uint32_t i = 0; i < b->processes.n; i++) {
        const struct nytp_built_process *from = &b->processes.at[i];
        struct nytp_process *const process = &p->processes[i];
        *process = from->model;
        process->stmt_ticks = from->clock;
        process->sampled = b->settings.sampled;
        process->processor_ticks =
            nytp_whole((double)from->processor_ns * 1e-9 * (double)p->ticks_per_sec);
        p->total.statements += from->statements;
        const bool announced = process->pid != 0 || process->start_s != 0;
        if (announced && !process->complete && !p->partial) {
            p->partial = p->recordings[0].partial = true;
            nytp_error_at(&p->recordings[0].error, NYTP_ERR_TRUNCATED, b->input.offset,
                          b->input.inflated, "no end of process %u after this", process->pid);
        }
    }
}

/* Makes the recording, with its attributes and options, and the processes. */
static bool make_recording(struct nytp_assignment *s)
{
    struct nytp_profile *p = s->p;
    struct nytp_builder *b = s->b;
    p->recordings = calloc(1, sizeof *p->recordings);
    p->processes = calloc(b->processes.n + 1, sizeof *p->processes);
    if (p->recordings == NULL || p->processes == NULL)
        return false;
    p->n_recordings = 1;
    p->recordings[0] = (struct nytp_recording){
        .path = name(s, b->input.path),
        .application = attribute_or_empty(p, "application"),
        .perl_version = attribute_or_empty(p, "perl_version"),
        .xs_version = attribute_or_empty(p, "xs_version"),
        .host = attribute_or_empty(p, "host"),
        .basetime_s = strtod(attribute_or_empty(p, "basetime").ptr, NULL),
        .n_processes = b->processes.n,
        .script = p->subs[0].file,
        .has = p->has,
        .estimated_tree = p->estimated_tree,
        .has_labels = b->labels.any,
        .stretches_left_out = b->labels.left_out,
    };
    p->n_processes = b->processes.n;
    p->sampled = b->settings.sampled;
    make_processes(s);
    return true;
}

/* The files, with what ran each string eval as an index. */
static bool make_files(struct nytp_assignment *s)
{
    struct nytp_profile *p = s->p;
    struct nytp_builder *b = s->b;
    p->files = calloc(b->files.n, sizeof *p->files);
    if (p->files == NULL)
        return false;
    p->n_files = b->files.n;
    p->files[0].name = name(s, 0);
    for (uint32_t i = 1; i < b->files.n; i++) {
        const struct nytp_built_file *f = &b->files.at[i];
        uint32_t id = f->name;
        if (id == 0) {
            char text[40];
            const int len = snprintf(text, sizeof text, "(unknown file %u)", f->model.fid);
            id = nytp_strings_intern(b->strings, text, (size_t)len);
            if (id == UINT32_MAX)
                return false;
        }
        p->files[i] = f->model;
        p->files[i].name = name(s, id);
        p->files[i].eval_file = f->eval_fid != 0 ? nytp_built_file_of_fid(b, f->eval_fid) : 0;
    }
    return nytp_cut_eval_rings(p->files, p->n_files);
}

/* A line of source and its number among those that came. */
struct numbered_line {
    struct nytp_source_line line;
    uint32_t number;
};

static int by_source_place(const void *x, const void *y)
{
    const struct numbered_line *a = x, *b = y;
    NYTP_RETURN_ORDER(a->line.file, b->line.file);
    NYTP_RETURN_ORDER(a->line.line, b->line.line);
    return (a->number > b->number) - (a->number < b->number);
}

/* Sort lines by file and line; of several with the same place the last one stays. */
static bool sort_sources(struct nytp_source_line *lines, uint32_t *n)
{
    struct numbered_line *list = malloc(*n * sizeof *list);
    if (list == NULL)
        return false;
    for (uint32_t i = 0; i < *n; i++)
        list[i] = (struct numbered_line){lines[i], i};
    qsort(list, *n, sizeof *list, by_source_place);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < *n; i++) {
        const bool again = kept > 0 && lines[kept - 1].file == list[i].line.file &&
                           lines[kept - 1].line == list[i].line.line;
        kept += !again;
        lines[kept - 1] = list[i].line;
    }
    *n = kept;
    free(list);
    return true;
}

/* The lines of source come in order from most recorders. */
static bool index_sources(struct nytp_profile *p)
{
    bool in_order = true;
    for (uint32_t i = 1; i < p->n_sources; i++) {
        const struct nytp_source_line *a = &p->sources[i - 1], *b = &p->sources[i];
        in_order &= a->file < b->file || (a->file == b->file && a->line < b->line);
    }
    if (!in_order && !sort_sources(p->sources, &p->n_sources))
        return false;
    for (uint32_t i = p->n_sources; i-- > 0;) {
        struct nytp_file *f = &p->files[p->sources[i].file];
        f->first_source = i;
        f->n_sources++;
    }
    return true;
}

/* Leaves out the blocks of string evals. */
static void sort_blocks(struct nytp_profile *p)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->n_blocks; i++)
        if (p->files[p->blocks[i].file].eval_file == 0)
            p->blocks[kept++] = p->blocks[i];
    p->n_blocks = kept;
    if (kept > 0)
        qsort(p->blocks, kept, sizeof *p->blocks, nytp_compare_blocks);
}

static void take_waited(struct nytp_assignment *s)
{
    struct nytp_profile *p = s->p;
    p->waited = s->b->waits.waited.at;
    p->n_waited = s->b->waits.waited.n;
    s->b->waits.waited.at = NULL;
    for (uint32_t i = 0; i < p->n_waited; i++) {
        struct nytp_waited *const waited = &p->waited[i];
        waited->peer = waited->reason == NYTP_WAIT_UNKNOWN
                           ? (struct nytp_name){"", 0}
                           : nytp_strings_get(s->b->strings, waited->peer.len);
        waited->ns = nytp_mul_div_signed(waited->ns, NYTP_NS_PER_SEC, s->b->p->ticks_per_sec);
    }
}

/* All steps in their order; false when memory is out. */
static bool assign_all(struct nytp_assignment *s)
{
    struct nytp_builder *b = s->b;
    struct nytp_profile *p = s->p;
    struct nytp_sub_sums *sums = NULL;
    p->estimated_tree = (b->p->has & NYTP_HAS_CALLS) == 0 && b->arcs.n > 0;
    bool ok = nytp_assign_subs(s) && nytp_accept_arcs_fill(s) && (sums = sum_up(s)) != NULL &&
              (!p->estimated_tree || nytp_estimate_tree(s, sums)) && place_uncalled(s, sums) &&
              fill_call_sites(s) && make_recording(s) && make_files(s) && make_nodes(s) &&
              balance_nodes(s);
    if (ok) {
        time_roots(s, sums);
        nytp_profile_sum_tree(p);
        ok = nytp_apportion_lines(s) && (!p->sampled || nytp_assign_cpu(s)) &&
             nytp_accept_arcs_raise(s) && nytp_profile_make_arcs(p, b->arcs.at, b->arcs.n) &&
             nytp_in_use_count_once(p) && nytp_profile_make_line_costs(p) && index_sources(p);
        nytp_memory_points_limit(p);
        ok = ok && nytp_lay_out_spans(s) &&
             (b->options.as_recorded || nytp_take_off_recording(p));
        sort_blocks(p);
        take_waited(s);
    }
    free(sums);
    return ok;
}

struct nytp_profile *nytp_assign(struct nytp_builder *b, struct nytp_error *error)
{
    struct nytp_assignment s = {.b = b, .p = b->p, .owners = nytp_line_owners_new(b)};
    const bool ok = s.owners != NULL && assign_all(&s);
    nytp_line_owners_free(s.owners);
    free(s.sub_of_name);
    free(s.loose.at);
    free(s.node_of_raw);
    free(s.raw_of_node);
    free(s.stmt_ticks);
    free(s.deficit);
    free(s.has_accepts);
    if (!ok) {
        nytp_out_of_memory(error);
        return NULL;
    }
    b->p = NULL;
    return s.p;
}
