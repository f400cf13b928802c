/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Rows of callers, callees and lines for the tables of the terminal; see calls.h. Arcs are
 * kept by input and place; here they are added up to what a table shows.
 */
#include "calls.h"
#include "inclusive.h"
#include "formats/base/strings.h"
#include "formats/model/svs.h"

#include <stdlib.h>
#include <string.h>

bool nytp_callers_init(struct nytp_callers *callers, const struct nytp_profile *profile)
{
    callers->first = calloc((size_t)profile->n_subs + 2, sizeof *callers->first);
    callers->arcs = calloc((size_t)profile->n_arcs + 1, sizeof *callers->arcs);
    const bool has_svs = (profile->has & NYTP_HAS_SVS) != 0;
    callers->samples = NULL;
    callers->svs = has_svs ? nytp_inclusive(profile, nytp_measures[NYTP_WEIGHT_SVS].own) : NULL;
    const bool has_bytes = (profile->has & NYTP_HAS_BYTES) != 0;
    callers->inuse_bytes =
        has_bytes ? nytp_inclusive(profile, nytp_measures[NYTP_WEIGHT_INUSE_SPACE].own) : NULL;
    if (callers->first == NULL || callers->arcs == NULL || (has_svs && callers->svs == NULL) ||
        (has_bytes && callers->inuse_bytes == NULL))
        return false;
    /* A counting sort: first[callee + 2] counts, sums make it the end of callee + 1, and
     * filling in moves first[callee + 1] from the callee's start to its end. */
    for (uint32_t i = 0; i < profile->n_arcs; i++)
        if (profile->arcs[i].callee + 2 <= profile->n_subs)
            callers->first[profile->arcs[i].callee + 2]++;
    for (uint32_t s = 2; s <= profile->n_subs; s++)
        callers->first[s] += callers->first[s - 1];
    for (uint32_t i = 0; i < profile->n_arcs; i++)
        callers->arcs[callers->first[profile->arcs[i].callee + 1]++] = i;
    return true;
}

void nytp_callers_free(struct nytp_callers *callers)
{
    free(callers->first);
    free(callers->arcs);
    free(callers->svs);
    free(callers->inuse_bytes);
    free(callers->samples);
}

/* ---- rows of calls ---- */

static int compare_places(const struct nytp_call_row *a, const struct nytp_call_row *b)
{
    NYTP_RETURN_ORDER(a->file, b->file);
    return nytp_compare_u64(a->line, b->line);
}

static int by_sub_and_place(const void *x, const void *y)
{
    const struct nytp_call_row *a = x, *b = y;
    NYTP_RETURN_ORDER(a->sub, b->sub);
    return compare_places(a, b);
}

static int by_place_and_sub(const void *x, const void *y)
{
    const struct nytp_call_row *a = x, *b = y;
    const int order = compare_places(a, b);
    return order != 0 ? order : nytp_compare_u64(a->sub, b->sub);
}

static int by_time(const void *x, const void *y)
{
    const struct nytp_call_row *a = x, *b = y;
    NYTP_RETURN_ORDER(b->incl_ticks, a->incl_ticks);
    NYTP_RETURN_ORDER(b->calls, a->calls);
    return nytp_compare_u64(a->sub, b->sub);
}

static int by_place_and_time(const void *x, const void *y)
{
    const int order = compare_places(x, y);
    return order != 0 ? order : by_time(x, y);
}

/* A row of the arc with this index. */
static struct nytp_call_row row_of(const struct nytp_profile *profile,
                                   const struct nytp_callers *callers, uint32_t index,
                                   bool of_caller)
{
    const struct nytp_arc *const arc = &profile->arcs[index];
    return (struct nytp_call_row){
        .sub = of_caller ? arc->caller : arc->callee,
        .file = arc->file,
        .line = arc->line,
        .calls = callers->samples != NULL ? callers->samples[index] : arc->calls,
        .incl_ticks = arc->incl_ticks,
        .place_ticks = arc->incl_ticks,
        .svs = callers->svs != NULL ? (int64_t)callers->svs[index] : 0,
        .inuse_bytes = callers->inuse_bytes != NULL ? (int64_t)callers->inuse_bytes[index] : 0,
    };
}

static void add_row(struct nytp_call_row *sum, const struct nytp_call_row *row)
{
    sum->calls += row->calls;
    sum->incl_ticks += row->incl_ticks;
    sum->svs += row->svs;
    sum->inuse_bytes += row->inuse_bytes;
    if (sum->file == row->file && sum->line == row->line) {
        sum->place_ticks += row->place_ticks;
    } else if (row->place_ticks > sum->place_ticks) {
        sum->file = row->file;
        sum->line = row->line;
        sum->place_ticks = row->place_ticks;
    }
}

/* Make neighbours of one sub (and place, if wanted) one row. */
static void sum_rows(struct nytp_call_rows *rows, bool keep_places)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < rows->n; i++) {
        struct nytp_call_row *last = n > 0 ? &rows->rows[n - 1] : NULL;
        const struct nytp_call_row *row = &rows->rows[i];
        const bool same =
            last != NULL && last->sub == row->sub &&
            (!keep_places || (last->file == row->file && last->line == row->line));
        if (same)
            add_row(last, row);
        else
            rows->rows[n++] = *row;
    }
    rows->n = n;
}

static void sort_rows(struct nytp_call_rows *rows, int (*order)(const void *, const void *))
{
    if (rows->n > 0)
        qsort(rows->rows, rows->n, sizeof *rows->rows, order);
}

static struct nytp_call_rows sum_by_sub(struct nytp_call_rows rows)
{
    /* First the calls of one place in several inputs, so that the costliest place is known. */
    sort_rows(&rows, by_sub_and_place);
    sum_rows(&rows, true);
    sum_rows(&rows, false);
    sort_rows(&rows, by_time);
    return rows;
}

struct nytp_call_rows nytp_calls_to(const struct nytp_profile *profile,
                                    const struct nytp_callers *callers, uint32_t sub)
{
    const uint32_t first = callers->first[sub], end = callers->first[sub + 1];
    struct nytp_call_rows rows = {calloc((size_t)(end - first) + 1, sizeof *rows.rows), 0};
    if (rows.rows == NULL)
        return rows;
    for (uint32_t i = first; i < end; i++)
        rows.rows[rows.n++] = row_of(profile, callers, callers->arcs[i], true);
    return sum_by_sub(rows);
}

static struct nytp_call_rows callees(const struct nytp_profile *profile,
                                     const struct nytp_callers *callers, uint32_t sub)
{
    const struct nytp_sub *caller = &profile->subs[sub];
    struct nytp_call_rows rows = {calloc((size_t)caller->n_arcs + 1, sizeof *rows.rows), 0};
    for (uint32_t i = 0; rows.rows != NULL && i < caller->n_arcs; i++)
        rows.rows[rows.n++] = row_of(profile, callers, caller->first_arc + i, false);
    return rows;
}

struct nytp_call_rows nytp_calls_from(const struct nytp_profile *profile,
                                      const struct nytp_callers *callers, uint32_t sub)
{
    return sum_by_sub(callees(profile, callers, sub));
}

struct nytp_call_rows nytp_calls_by_line(const struct nytp_profile *profile,
                                         const struct nytp_callers *callers, uint32_t sub)
{
    struct nytp_call_rows rows = callees(profile, callers, sub);
    sort_rows(&rows, by_place_and_sub);
    sum_rows(&rows, true);
    sort_rows(&rows, by_place_and_time);
    return rows;
}

/* ---- rows of lines ---- */

static int by_place(const void *x, const void *y)
{
    const struct nytp_line_row *a = x, *b = y;
    const int order = nytp_compare_u64(a->file, b->file);
    return order != 0 ? order : nytp_compare_u64(a->line, b->line);
}

void nytp_lines_sum(struct nytp_line_rows *rows)
{
    uint32_t n = 0;
    if (rows->n > 0)
        qsort(rows->rows, rows->n, sizeof *rows->rows, by_place);
    for (uint32_t i = 0; i < rows->n; i++) {
        struct nytp_line_row *last = n > 0 ? &rows->rows[n - 1] : NULL;
        if (last != NULL && by_place(last, &rows->rows[i]) == 0) {
            last->statements += rows->rows[i].statements;
            last->self_ticks += rows->rows[i].self_ticks;
            nytp_svs_add(&last->memory, rows->rows[i].memory);
        } else {
            rows->rows[n++] = rows->rows[i];
        }
    }
    rows->n = n;
}

static struct nytp_line_row row_of_cost(const struct nytp_profile *profile, uint32_t index)
{
    const struct nytp_line_cost *const cost = &profile->line_costs[index];
    return (struct nytp_line_row){
        .file = cost->file,
        .line = cost->line,
        .statements = cost->statements,
        .self_ticks = cost->excl_ticks,
        .memory = nytp_svs_of_cost(profile, index),
    };
}

struct nytp_line_rows nytp_lines_of(const struct nytp_profile *profile, uint32_t sub)
{
    const struct nytp_sub *of = &profile->subs[sub];
    struct nytp_line_rows rows = {calloc((size_t)of->n_line_costs + 1, sizeof *rows.rows), 0};
    for (uint32_t i = 0; rows.rows != NULL && i < of->n_line_costs; i++)
        rows.rows[rows.n++] = row_of_cost(profile, of->first_line_cost + i);
    nytp_lines_sum(&rows);
    return rows;
}

static bool has_no_lines(const struct nytp_sub *sub)
{
    return sub->kind == NYTP_SUB_OPCODE || sub->kind == NYTP_SUB_XSUB;
}

/* The SVs of a builtin or xsub in a context are on the line that called it. */
static void move_svs_to_call(const struct nytp_profile *profile, const struct nytp_node *node,
                             struct nytp_line_rows *rows)
{
    if (!has_no_lines(&profile->subs[node->sub]) || node->n_node_lines == 0)
        return;
    const struct nytp_node_line *const line = &profile->node_lines[node->first_node_line];
    const struct nytp_svs svs = nytp_svs_of_line(profile, node->first_node_line);
    struct nytp_svs less = {.net = -svs.net, .kept = -svs.kept};
    for (int i = 0; i < NYTP_N_BYTES_MEASURES; i++)
        less.bytes.of[i] = -svs.bytes.of[i];
    rows->rows[rows->n++] =
        (struct nytp_line_row){.file = node->file, .line = node->line, .memory = svs};
    rows->rows[rows->n++] =
        (struct nytp_line_row){.file = line->file, .line = line->line, .memory = less};
}

/* Where the own time of a builtin or xsub in one recording is; NULL: it has none there. */
static const struct nytp_line_cost *cost_without_line(const struct nytp_profile *profile,
                                                      const struct nytp_sub *sub,
                                                      uint32_t recording)
{
    uint32_t first = sub->first_line_cost, end = first + sub->n_line_costs;
    while (first < end) {
        const uint32_t middle = first + (end - first) / 2;
        if (profile->line_costs[middle].recording < recording)
            first = middle + 1;
        else
            end = middle;
    }
    return first < sub->first_line_cost + sub->n_line_costs &&
                   profile->line_costs[first].recording == recording
               ? &profile->line_costs[first]
               : NULL;
}

struct nytp_line_rows nytp_lines_of_all(const struct nytp_profile *profile)
{
    const bool has_svs = (profile->has & NYTP_HAS_SVS) != 0;
    const size_t most = (size_t)profile->n_line_costs + 2 * (size_t)profile->n_arcs +
                        2 * (has_svs ? (size_t)profile->n_nodes : 0);
    struct nytp_line_rows rows = {calloc(most + 1, sizeof *rows.rows), 0};
    if (rows.rows == NULL)
        return rows;
    for (uint32_t i = 0; i < profile->n_line_costs; i++)
        rows.rows[rows.n++] = row_of_cost(profile, i);
    for (uint32_t i = 0; i < profile->n_arcs; i++) {
        const struct nytp_arc *arc = &profile->arcs[i];
        const struct nytp_sub *callee = &profile->subs[arc->callee];
        const struct nytp_line_cost *cost =
            has_no_lines(callee) ? cost_without_line(profile, callee, arc->recording) : NULL;
        if (cost == NULL)
            continue;
        rows.rows[rows.n++] = (struct nytp_line_row){
            .file = arc->file, .line = arc->line, .self_ticks = arc->excl_ticks};
        rows.rows[rows.n++] = (struct nytp_line_row){
            .file = cost->file, .line = cost->line, .self_ticks = -arc->excl_ticks};
    }
    for (uint32_t i = 0; has_svs && i < profile->n_nodes; i++)
        move_svs_to_call(profile, &profile->nodes[i], &rows);
    nytp_lines_sum(&rows);
    return rows;
}
