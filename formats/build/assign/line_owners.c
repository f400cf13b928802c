/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Finds the sub that a line of code belongs to.
 *
 * The line ranges of the subs of a file may lie inside each other. They are cut into segments
 * that do not, each with its innermost sub, so that a look-up is a binary search however
 * deeply subs nest. Lines outside all subs belong to whoever ran the file; who that was is
 * found step by step (step_to_owner).
 */
#include "line_owners.h"

#include "formats/model/profile.h"

#include "formats/base/bisect.h"

#include <stdlib.h>
#include <string.h>

#define MAX_RUNNER_CHAIN 1000 /* files run by files run by files … */

struct nytp_line_owners {
    const struct nytp_builder *builder;
    NYTP_LIST(struct nytp_built_range) segments; /* sorted by file, first_line; disjoint */
    struct nytp_table caller_by_line; /* (file, line) -> arc with the most calls */
    struct nytp_table caller_by_file; /* (file) -> arc … of lines outside any sub */
    struct nytp_table begin_by_line;  /* (file, line) -> name of a BEGIN block there */
    uint32_t *runner_by_file;         /* memo, NYTP_NO_SUB = not yet known */
    uint32_t script;
};

uint32_t nytp_built_file_of_fid(const struct nytp_builder *b, uint32_t fid)
{
    const uint32_t index = nytp_table_get(&b->files.by_fid, (struct nytp_key){.a = fid});
    return index == NYTP_TABLE_NONE ? 0 : index;
}

bool nytp_built_is_finished(const struct nytp_builder *b)
{
    if ((b->p->has & NYTP_HAS_ARCS) == 0)
        return false;
    for (uint32_t i = 0; i < b->processes.n; i++)
        if (!b->processes.at[i].model.complete)
            return false;
    for (uint32_t i = 1; i < b->stack.tree.n_nodes; i++)
        if (b->stack.tree.nodes[i].unreturned)
            return false;
    return true;
}

/* An anonymous sub on one line: that line ran when the sub was made. */
static bool is_one_line_anon(const struct nytp_builder *b, const struct nytp_built_range *r)
{
    return r->first_line == r->last_line && (b->p->has & NYTP_HAS_ARCS) != 0 &&
           strstr(nytp_strings_get(b->strings, r->name).ptr, "__ANON__") != NULL;
}

/* The set of subs that ran, as far as the recording tells. */
static bool collect_called(const struct nytp_builder *b, struct nytp_table *called)
{
    for (uint32_t i = 0; i < b->arcs.n; i++)
        if (!nytp_table_put(called, (struct nytp_key){.a = b->arcs.at[i].callee}, 1))
            return false;
    for (uint32_t i = 1; i < b->stack.tree.n_nodes; i++)
        if (b->stack.tree.nodes[i].calls > 0 &&
            !nytp_table_put(called, (struct nytp_key){.a = b->stack.tree.nodes[i].sub}, 1))
            return false;
    return true;
}

static int by_place(const void *x, const void *y)
{
    const struct nytp_built_range *a = x, *b = y;
    NYTP_RETURN_ORDER(a->file, b->file);
    NYTP_RETURN_ORDER(a->first_line, b->first_line);
    NYTP_RETURN_ORDER(b->last_line, a->last_line);
    return a->name < b->name ? -1 : a->name > b->name;
}

/* The lines from `first` to `last` belong to the sub of this range. */
static bool put_segment(struct nytp_line_owners *o, const struct nytp_built_range *range,
                        uint64_t first, uint64_t last)
{
    if (first > last)
        return true;
    if (!NYTP_GROW(&o->segments))
        return false;
    o->segments.at[o->segments.n++] = (struct nytp_built_range){
        range->name, range->file, (uint32_t)first, (uint32_t)last};
    return true;
}

/* Sweep the sorted ranges of one file with a stack of those that are open. */
static bool cut_file(struct nytp_line_owners *o, const struct nytp_built_range *ranges,
                     uint32_t n, uint32_t *stack)
{
    uint32_t top = 0;
    uint64_t at = 0; /* lines below are done */
    for (uint32_t i = 0; i <= n; i++) {
        const uint64_t next = i < n ? ranges[i].first_line : UINT64_MAX;
        while (top > 0 && at < next) {
            const struct nytp_built_range *r = &ranges[stack[top - 1]];
            const uint64_t last = r->last_line < next ? r->last_line : next - 1;
            if (!put_segment(o, r, at, last))
                return false;
            if (last + 1 > at)
                at = last + 1;
            if (r->last_line < next)
                top--;
        }
        if (i < n) {
            stack[top++] = i;
            if (at < next)
                at = next;
        }
    }
    return true;
}

/* Cut the ranges of all files into segments. */
static bool cut_segments(struct nytp_line_owners *o)
{
    const struct nytp_builder *b = o->builder;
    struct nytp_built_range *ranges = malloc((b->ranges.n + 1) * sizeof *ranges);
    uint32_t *stack = malloc((b->ranges.n + 1) * sizeof *stack);
    struct nytp_table called = {0};
    const bool finished = nytp_built_is_finished(b);
    bool ok = ranges != NULL && stack != NULL && collect_called(b, &called);
    uint32_t n = 0;
    for (uint32_t i = 0; ok && i < b->ranges.n; i++) {
        const struct nytp_built_range *r = &b->ranges.at[i];
        const bool ran =
            (!finished && !is_one_line_anon(b, r)) ||
            nytp_table_get(&called, (struct nytp_key){.a = r->name}) != NYTP_TABLE_NONE;
        if (r->first_line > 0 && r->last_line >= r->first_line && ran)
            ranges[n++] = *r;
    }
    if (ok)
        qsort(ranges, n, sizeof *ranges, by_place);
    for (uint32_t i = 0, end; ok && i < n; i = end) {
        for (end = i; end < n && ranges[end].file == ranges[i].file; end++)
            ;
        ok = cut_file(o, ranges + i, end - i, stack);
    }
    free(ranges);
    free(stack);
    nytp_table_free(&called);
    return ok;
}

uint32_t nytp_line_owners_sub(const struct nytp_line_owners *o, uint32_t file, uint32_t line)
{
    uint32_t low = 0;
    NYTP_BISECT(low, o->segments.n, middle, o->segments.at[middle].file < file ||
                    (o->segments.at[middle].file == file && o->segments.at[middle].last_line < line));
    if (low < o->segments.n && o->segments.at[low].file == file &&
        o->segments.at[low].first_line <= line)
        return o->segments.at[low].name;
    return NYTP_NO_SUB;
}

/* Keep the arc with more calls under this key; at a tie the one that came first. */
static bool keep_busier(struct nytp_table *table, struct nytp_key key,
                        const struct nytp_arc *arcs, uint32_t arc)
{
    const uint32_t old = nytp_table_get(table, key);
    return (old != NYTP_TABLE_NONE && arcs[old].calls >= arcs[arc].calls) ||
           nytp_table_put(table, key, arc);
}

static bool index_callers(struct nytp_line_owners *o)
{
    const struct nytp_builder *b = o->builder;
    for (uint32_t i = 0; i < b->arcs.n; i++) {
        const struct nytp_arc *a = &b->arcs.at[i];
        if (a->file == 0 || a->line == 0 || a->caller == 0 ||
            nytp_line_owners_sub(o, a->file, a->line) != NYTP_NO_SUB ||
            nytp_table_get(&b->subs.xsubs, (struct nytp_key){.a = a->caller}) !=
                NYTP_TABLE_NONE)
            continue; /* a callback's caller is an xsub, which runs no lines */
        if (!keep_busier(&o->caller_by_line, (struct nytp_key){a->file, a->line, 0, 0},
                         b->arcs.at, i) ||
            !keep_busier(&o->caller_by_file, (struct nytp_key){a->file, 0, 0, 0}, b->arcs.at,
                         i))
            return false;
    }
    return true;
}

/* The BEGIN block of a `use` line runs the loaded file, whatever else is on the line. */
static bool index_begins(struct nytp_line_owners *o)
{
    const struct nytp_builder *b = o->builder;
    for (uint32_t i = 0; i < b->ranges.n; i++) {
        const struct nytp_built_range *r = &b->ranges.at[i];
        const char *at = strstr(nytp_strings_get(b->strings, r->name).ptr, "::BEGIN@");
        if (at != NULL && r->last_line > 0 &&
            !nytp_table_put(&o->begin_by_line, (struct nytp_key){r->file, r->last_line, 0, 0},
                            r->name))
            return false;
    }
    return true;
}

static bool ends_with(struct nytp_name name, struct nytp_name tail)
{
    if (tail.len == 0 || name.len < tail.len)
        return false;
    const char *at = name.ptr + (name.len - tail.len);
    return memcmp(at, tail.ptr, tail.len) == 0 && (at == name.ptr || at[-1] == '/');
}

/* The file that `application` names, or else, as of a program that gave itself another name,
 * that of main::RUNTIME, or the first file that ran. */
static uint32_t find_script(const struct nytp_builder *b)
{
    const struct nytp_name *const recorded = nytp_profile_attribute(b->p, "application");
    struct nytp_name application = recorded != NULL ? *recorded : (struct nytp_name){"", 0};
    if (application.len >= 2 && memcmp(application.ptr, "./", 2) == 0) {
        application.ptr += 2;
        application.len -= 2;
    }
    for (uint32_t i = 1; i < b->files.n; i++)
        if (b->files.at[i].eval_fid == 0 &&
            ends_with(nytp_strings_get(b->strings, b->files.at[i].name), application))
            return i;
    for (uint32_t i = 0; i < b->ranges.n; i++)
        if (b->ranges.at[i].name == b->subs.runtime && b->ranges.at[i].file != 0)
            return b->ranges.at[i].file;
    for (uint32_t i = 1; i < b->files.n; i++)
        if (b->files.at[i].executed && b->files.at[i].from_file == 0)
            return i;
    return b->files.n > 1 ? 1 : 0;
}

struct nytp_line_owners *nytp_line_owners_new(const struct nytp_builder *builder)
{
    struct nytp_line_owners *o = calloc(1, sizeof *o);
    if (o == NULL)
        return NULL;
    o->builder = builder;
    o->script = find_script(builder);
    o->runner_by_file = malloc(builder->files.n * sizeof *o->runner_by_file);
    if (o->runner_by_file == NULL || !cut_segments(o) || !index_callers(o) ||
        !index_begins(o)) {
        nytp_line_owners_free(o);
        return NULL;
    }
    for (uint32_t i = 0; i < builder->files.n; i++)
        o->runner_by_file[i] = NYTP_NO_SUB;
    return o;
}

void nytp_line_owners_free(struct nytp_line_owners *o)
{
    if (o == NULL)
        return;
    free(o->segments.at);
    free(o->runner_by_file);
    nytp_table_free(&o->caller_by_line);
    nytp_table_free(&o->caller_by_file);
    nytp_table_free(&o->begin_by_line);
    free(o);
}

uint32_t nytp_line_owners_script(const struct nytp_line_owners *o)
{
    return o->script;
}

/* One step on the way to the sub that ran a place. Either the answer: the name id of a sub. Or
 * NYTP_NO_SUB, and *file and *line become the place whose owner is the answer; file 0 stands
 * for the place of the root. */
static uint32_t step_to_owner(struct nytp_line_owners *o, uint32_t *file, uint32_t *line)
{
    const struct nytp_builder *b = o->builder;
    const uint32_t root = b->subs.runtime;
    uint32_t found = nytp_line_owners_sub(o, *file, *line);
    if (found != NYTP_NO_SUB)
        return found;
    found = nytp_table_get(&o->caller_by_line, (struct nytp_key){*file, *line, 0, 0});
    if (found != NYTP_TABLE_NONE)
        return b->arcs.at[found].caller;
    if (*file == 0 || *file == o->script)
        return root;
    if (o->runner_by_file[*file] != NYTP_NO_SUB)
        return o->runner_by_file[*file];
    const struct nytp_built_file *f = &b->files.at[*file];
    if (f->eval_fid != 0) {
        *line = f->model.eval_line;
        *file = nytp_built_file_of_fid(b, f->eval_fid);
        return NYTP_NO_SUB;
    }
    found = nytp_table_get(&o->caller_by_file, (struct nytp_key){*file, 0, 0, 0});
    if (found != NYTP_TABLE_NONE)
        return b->arcs.at[found].caller;
    *line = f->from_line;
    *file = f->from_file;
    found = nytp_table_get(&o->begin_by_line, (struct nytp_key){*file, *line, 0, 0});
    return found != NYTP_TABLE_NONE ? found : NYTP_NO_SUB;
}

uint32_t nytp_line_owners_runner(struct nytp_line_owners *o, uint32_t file, uint32_t line)
{
    const uint32_t asked = file;
    bool by_file = false;
    uint32_t found = step_to_owner(o, &file, &line);
    for (int i = 0; found == NYTP_NO_SUB && i < MAX_RUNNER_CHAIN; i++) {
        by_file = true;
        found = step_to_owner(o, &file, &line);
    }
    if (found == NYTP_NO_SUB)
        found = o->builder->subs.runtime;
    if (by_file && asked < o->builder->files.n)
        o->runner_by_file[asked] = found;
    return found;
}
