/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Look-ups in the finished model, its end, and the check of the invariants in model.h.
 */
#include "profile.h"
#include "formats/base/bisect.h"
#include "formats/base/arena.h"
#include "eval_files.h"
#include "formats/base/strings.h"

#include <stdlib.h>
#include <string.h>

void nytp_profile_free(struct nytp_profile *p)
{
    if (p == NULL)
        return;
    free(p->recordings);
    free(p->processes);
    free(p->attributes);
    free(p->options);
    free(p->files);
    free(p->sources);
    free(p->blocks);
    free(p->regexes);
    free(p->waited);
    free(p->subs);
    free(p->line_costs);
    free(p->arcs);
    free(p->nodes);
    free(p->children);
    free(p->node_lines);
    free(p->node_line_svs);
    free(p->line_cost_svs);
    free(p->spans);
    free(p->stretches);
    free(p->memory_points);
    nytp_strings_free(p->strings);
    nytp_arena_free(p->arena);
    free(p);
}

int nytp_compare_blocks(const void *x, const void *y)
{
    const struct nytp_block *a = x, *b = y;
    NYTP_RETURN_ORDER(a->file, b->file);
    NYTP_RETURN_ORDER(a->line, b->line);
    NYTP_RETURN_ORDER(a->block_line, b->block_line);
    return (a->sub_line > b->sub_line) - (a->sub_line < b->sub_line);
}

int nytp_compare_node_lines(const void *x, const void *y)
{
    const struct nytp_node_line *a = x, *b = y;
    NYTP_RETURN_ORDER(a->file, b->file);
    return a->line < b->line ? -1 : a->line > b->line;
}

const struct nytp_node_line *nytp_node_line_at(const struct nytp_profile *p,
                                               const struct nytp_node *node, uint32_t file,
                                               uint32_t line)
{
    const struct nytp_node_line key = {.file = file, .line = line};
    return bsearch(&key, p->node_lines + node->first_node_line, node->n_node_lines, sizeof key,
                   nytp_compare_node_lines);
}

static const struct nytp_name *find_pair(const struct nytp_pair *pairs, uint32_t n,
                                         const char *key)
{
    const size_t len = strlen(key);
    for (uint32_t i = 0; i < n; i++)
        if (pairs[i].key.len == len && memcmp(pairs[i].key.ptr, key, len) == 0)
            return &pairs[i].value;
    return NULL;
}

const struct nytp_name *nytp_profile_attribute(const struct nytp_profile *p, const char *key)
{
    return find_pair(p->attributes, p->n_attributes, key);
}

const struct nytp_name *nytp_profile_option(const struct nytp_profile *p, const char *key)
{
    return find_pair(p->options, p->n_options, key);
}

/* Returns the first of n rows, sorted by a number, that has this number or a larger one.
 * `number` is that of the first row, `row_size` the size of a row. */
static uint32_t rows_from(const uint32_t *number, size_t row_size, uint32_t n, uint32_t wanted)
{
    uint32_t low = 0;
    NYTP_BISECT(low, n, middle,
                *(const uint32_t *)((const char *)number + middle * row_size) < wanted);
    return low;
}

const struct nytp_source_line *nytp_profile_source(const struct nytp_profile *p, uint32_t file,
                                                   uint32_t line)
{
    const struct nytp_file *const f = &p->files[file];
    if (f->n_sources == 0)
        return NULL;
    const struct nytp_source_line *const lines = &p->sources[f->first_source];
    const uint32_t at = rows_from(&lines->line, sizeof *lines, f->n_sources, line);
    return at < f->n_sources && lines[at].line == line ? &lines[at] : NULL;
}

/* ---- invariants -------------------------------------------------------------------------- */

#define REQUIRE(condition, ...)                                                                \
    do {                                                                                       \
        if (!(condition))                                                                      \
            return nytp_error_set(error, NYTP_ERR_FORMAT, __VA_ARGS__);                        \
    } while (0)

static bool check_processes(const struct nytp_profile *p, struct nytp_error *error)
{
    REQUIRE(p->ticks_per_sec > 0, "ticks_per_sec=%lld", (long long)p->ticks_per_sec);
    REQUIRE(p->n_recordings > 0 && p->n_processes > 0 && p->n_subs > 0 && p->n_files > 0,
            "a table is empty: recordings=%u processes=%u subs=%u files=%u", p->n_recordings,
            p->n_processes, p->n_subs, p->n_files);
    int64_t total = 0;
    for (uint32_t i = 0; i < p->n_processes; i++) {
        const struct nytp_process *process = &p->processes[i];
        REQUIRE(process->recording < p->n_recordings, "process=%u recording=%u", i,
                process->recording);
        REQUIRE(process->root < p->n_nodes, "process=%u root=%u", i, process->root);
        REQUIRE(i == 0 || (process->root > p->processes[i - 1].root &&
                           process->recording >= p->processes[i - 1].recording),
                "process=%u is out of order", i);
        REQUIRE(p->nodes[process->root].sub == 0, "process=%u root's sub=%u", i,
                p->nodes[process->root].sub);
        total += p->nodes[process->root].incl_ticks;
    }
    REQUIRE(p->processes[0].root == 0, "first root=%u", p->processes[0].root);
    REQUIRE(total == p->total.ticks, "total_ticks=%lld but the roots have %lld",
            (long long)p->total.ticks, (long long)total);
    return true;
}

static bool check_files(const struct nytp_profile *p, struct nytp_error *error)
{
    for (uint32_t i = 0; i < p->n_files; i++) {
        const struct nytp_file *f = &p->files[i];
        REQUIRE(nytp_utf8_valid(f->name.ptr, f->name.len), "file=%u name is not UTF-8", i);
        REQUIRE(f->eval_file < p->n_files, "file=%u eval_file=%u", i, f->eval_file);
        REQUIRE((uint64_t)f->first_source + f->n_sources <= p->n_sources || f->n_sources == 0,
                "file=%u sources end at %u", i, f->first_source + f->n_sources);
        for (uint32_t l = 0; l < f->n_sources; l++)
            REQUIRE(p->sources[f->first_source + l].file == i, "file=%u source %u", i, l);
    }
    uint32_t n_rings;
    if (!nytp_count_eval_rings(p->files, p->n_files, &n_rings))
        return nytp_out_of_memory(error);
    REQUIRE(n_rings == 0, "files that ran each other: %u", n_rings);
    return true;
}

static bool check_node(const struct nytp_profile *p, uint32_t i, bool is_root, int64_t *incl,
                       struct nytp_error *error)
{
    const struct nytp_node *n = &p->nodes[i];
    REQUIRE(n->sub < p->n_subs && n->file < p->n_files, "node=%u sub=%u file=%u", i, n->sub,
            n->file);
    REQUIRE(is_root ? n->parent == i : n->parent < i, "node=%u parent=%u", i, n->parent);
    REQUIRE(n->depth == (is_root ? 0 : p->nodes[n->parent].depth + 1), "node=%u depth=%u", i,
            n->depth);
    REQUIRE((uint64_t)n->first_child + n->n_children <= p->n_children, "node=%u children", i);
    *incl = n->excl_ticks;
    for (uint32_t c = 0; c < n->n_children; c++) {
        const uint32_t child = p->children[n->first_child + c];
        REQUIRE(child < p->n_nodes && child > i && p->nodes[child].parent == i,
                "node=%u child=%u", i, child);
        *incl += p->nodes[child].incl_ticks;
        if (c > 0) {
            const struct nytp_node *a = &p->nodes[p->children[n->first_child + c - 1]];
            const struct nytp_node *b = &p->nodes[child];
            REQUIRE(a->sub < b->sub ||
                        (a->sub == b->sub &&
                         (a->file < b->file || (a->file == b->file && a->line <= b->line))),
                    "node=%u children are not sorted", i);
        }
    }
    return true;
}

static bool check_node_lines(const struct nytp_profile *p, uint32_t i, struct nytp_error *error)
{
    const struct nytp_node *n = &p->nodes[i];
    REQUIRE((uint64_t)n->first_node_line + n->n_node_lines <= p->n_node_lines, "node=%u lines",
            i);
    int64_t ticks = 0;
    for (uint32_t l = n->first_node_line; l < n->first_node_line + n->n_node_lines; l++) {
        const struct nytp_node_line *line = &p->node_lines[l];
        REQUIRE(line->file < p->n_files, "node=%u line's file=%u", i, line->file);
        REQUIRE(l == n->first_node_line || line[-1].file < line->file ||
                    (line[-1].file == line->file && line[-1].line < line->line),
                "node=%u lines are not sorted", i);
        ticks += line->ticks;
    }
    REQUIRE(ticks == n->excl_ticks, "node=%u excl_ticks=%lld but its lines have %lld", i,
            (long long)n->excl_ticks, (long long)ticks);
    return true;
}

static bool check_tree(const struct nytp_profile *p, struct nytp_error *error)
{
    uint32_t process = 0;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        const bool is_root = process < p->n_processes && p->processes[process].root == i;
        process += is_root;
        int64_t incl = 0;
        if (!check_node(p, i, is_root, &incl, error) || !check_node_lines(p, i, error))
            return false;
        REQUIRE(incl == p->nodes[i].incl_ticks, "node=%u incl_ticks=%lld, should be %lld", i,
                (long long)p->nodes[i].incl_ticks, (long long)incl);
    }
    REQUIRE(process == p->n_processes, "%u of %u processes have a tree", process,
            p->n_processes);
    return true;
}

static bool check_sub_lines(const struct nytp_profile *p, uint32_t i, struct nytp_error *error)
{
    const struct nytp_sub *s = &p->subs[i];
    int64_t ticks = 0;
    uint64_t statements = 0;
    for (uint32_t l = s->first_line_cost; l < s->first_line_cost + s->n_line_costs; l++) {
        REQUIRE(p->line_costs[l].sub == i, "line_cost=%u is not of sub=%u", l, i);
        ticks += p->line_costs[l].excl_ticks;
        statements += p->line_costs[l].statements;
    }
    REQUIRE(ticks == s->excl_ticks, "sub=%s excl_ticks=%lld but its lines have %lld",
            s->name.ptr, (long long)s->excl_ticks, (long long)ticks);
    REQUIRE(statements == s->statements, "sub=%s statements", s->name.ptr);
    return true;
}

static bool check_subs(const struct nytp_profile *p, struct nytp_error *error)
{
    int64_t excl = 0;
    uint64_t statements = 0;
    uint32_t arc = 0;
    for (uint32_t i = 0; i < p->n_subs; i++) {
        const struct nytp_sub *s = &p->subs[i];
        REQUIRE(nytp_utf8_valid(s->name.ptr, s->name.len), "sub=%u name is not UTF-8", i);
        REQUIRE(s->file < p->n_files, "sub=%u file=%u", i, s->file);
        if (!check_sub_lines(p, i, error))
            return false;
        REQUIRE(s->n_arcs == 0 || s->first_arc == arc, "sub=%s first_arc=%u", s->name.ptr,
                s->first_arc);
        for (uint32_t a = 0; a < s->n_arcs; a++, arc++)
            REQUIRE(arc < p->n_arcs && p->arcs[arc].caller == i, "arc=%u caller", arc);
        excl += s->excl_ticks;
        statements += s->statements;
    }
    REQUIRE(arc == p->n_arcs, "arcs=%u but subs have %u", p->n_arcs, arc);
    REQUIRE(excl == p->total.ticks, "subs' exclusive ticks %lld, total_ticks=%lld",
            (long long)excl, (long long)p->total.ticks);
    REQUIRE(statements == p->total.statements, "subs' statements %llu, total %llu",
            (unsigned long long)statements, (unsigned long long)p->total.statements);
    for (uint32_t i = 0; i < p->n_arcs; i++)
        REQUIRE(p->arcs[i].callee < p->n_subs && p->arcs[i].file < p->n_files &&
                    p->arcs[i].recording < p->n_recordings,
                "arc=%u callee=%u file=%u recording=%u", i, p->arcs[i].callee, p->arcs[i].file,
                p->arcs[i].recording);
    return true;
}

static bool check_spans(const struct nytp_profile *p, struct nytp_error *error)
{
    for (uint32_t i = 0; i < p->n_spans; i++) {
        const struct nytp_span *s = &p->spans[i];
        REQUIRE(s->node < p->n_nodes && s->start_ticks >= 0 && s->end_ticks >= s->start_ticks,
                "span=%u node=%u from %lld to %lld", i, s->node, (long long)s->start_ticks,
                (long long)s->end_ticks);
    }
    return true;
}

static bool check_stretches(const struct nytp_profile *p, struct nytp_error *error)
{
    for (uint32_t i = 0; i < p->n_stretches; i++) {
        const struct nytp_stretch *s = &p->stretches[i];
        const bool is_in_order =
            i == 0 || s[-1].process < s->process ||
            (s[-1].process == s->process && s[-1].start_ticks <= s->start_ticks);
        REQUIRE(s->process < p->n_processes && is_in_order && s->start_ticks >= 0 &&
                    s->end_ticks >= s->start_ticks,
                "stretch=%u process=%u from %lld to %lld", i, s->process,
                (long long)s->start_ticks, (long long)s->end_ticks);
    }
    return true;
}

static bool check_memory_points(const struct nytp_profile *p, struct nytp_error *error)
{
    for (uint32_t i = 0; i < p->n_memory_points; i++) {
        const struct nytp_memory_point *m = &p->memory_points[i];
        const bool is_in_order = i == 0 || m[-1].process < m->process ||
                                 (m[-1].process == m->process && m[-1].at_ticks <= m->at_ticks);
        REQUIRE(m->process < p->n_processes && is_in_order && m->at_ticks >= 0,
                "memory point=%u process=%u at %lld", i, m->process, (long long)m->at_ticks);
    }
    return true;
}

bool nytp_profile_adds_up(const struct nytp_profile *p, struct nytp_error *error)
{
    return check_processes(p, error) && check_files(p, error) && check_tree(p, error) &&
           check_subs(p, error) && check_spans(p, error) && check_stretches(p, error) &&
           check_memory_points(p, error);
}

/* Recorders name a file before anything happens in it, so a call from a file without a name
 * never happened. (Our recorder once invented such calls, nested without end, when a goto to
 * an xsub died.) Only the place gives them away. Nesting below calls that had ended proves
 * nothing: an xsub may call itself (List::Util::first given its own address), and one that
 * switches coroutines stays open while lines of any sub run. */
static bool check_call_sites(const struct nytp_profile *p, struct nytp_error *error)
{
    for (uint32_t i = 0; i < p->n_arcs; i++) {
        const struct nytp_arc *arc = &p->arcs[i];
        REQUIRE(!p->files[arc->file].unnamed,
                "%s is called from line %u of a file (%u) that the recording does not name: "
                "such calls never were",
                p->subs[arc->callee].name.ptr, arc->line, p->files[arc->file].fid);
    }
    return true;
}

bool nytp_profile_check(const struct nytp_profile *p, struct nytp_error *error)
{
    return nytp_profile_adds_up(p, error) && check_call_sites(p, error);
}

uint32_t nytp_process_nodes_end(const struct nytp_profile *p, uint32_t process)
{
    return process + 1 < p->n_processes ? p->processes[process + 1].root : p->n_nodes;
}

uint32_t nytp_first_span(const struct nytp_profile *p, uint32_t node)
{
    return p->n_spans == 0 ? 0 : rows_from(&p->spans->node, sizeof *p->spans, p->n_spans, node);
}

#define ROWS_OF(rows)                                                                          \
    struct nytp_slice nytp_##rows##_of(const struct nytp_profile *p, uint32_t process,         \
                                       uint32_t n)                                             \
    {                                                                                          \
        struct nytp_slice slice = {0, 0};                                                      \
        if (p->n_##rows > 0) {                                                                 \
            const uint32_t *const of_row = &p->rows->process;                                  \
            slice.first = rows_from(of_row, sizeof *p->rows, p->n_##rows, process);            \
            slice.n =                                                                          \
                rows_from(of_row, sizeof *p->rows, p->n_##rows, process + n) - slice.first;    \
        }                                                                                      \
        return slice;                                                                          \
    }
ROWS_OF(memory_points)
ROWS_OF(stretches)
ROWS_OF(regexes)
ROWS_OF(waited)

void nytp_profile_lose_time(struct nytp_profile *p)
{
    p->lost |= NYTP_LOST_TIME;
    if (p->n_regexes + p->n_waited > 0)
        p->lost |= NYTP_LOST_PLACES;
    p->n_regexes = p->n_waited = 0;
}

bool nytp_is_opcode_name(struct nytp_name n)
{
    if (n.len > 6 && memcmp(n.ptr, "CORE::", 6) == 0)
        return true;
    for (const char *at = n.ptr + n.len; at - n.ptr > 5; at--)
        if (at[-1] == ':')
            return memcmp(at - 5, "CORE", 4) == 0 && (at - 5 == n.ptr || at[-6] == ':');
    return false;
}
