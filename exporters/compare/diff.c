/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Compares two sides; see diff.h. Line costs and arcs know their recording, so a sub's numbers
 * in each run are sums of them. A row may contain several subs of one name.
 *
 * First the subs of both sides are listed by name and paired as rows. Then each run's values
 * are summed up and medians are taken. Last come the verdicts: counts are compared, times are
 * tested.
 */
#include "diff.h"

#include "formats/base/bisect.h"
#include "formats/base/arena.h"
#include "formats/base/table.h"
#include "formats/model/svs.h"
#include "counts.h"
#include "exporters/base/process_tree.h"
#include "match.h"
#include "rank_test.h"
#include "formats/base/strings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE               NYTP_DIFF_NO_ROW
#define LEAST_TESTED_SHARE 1000 /* rows below a thousandth of the time are not tested */

struct comparing {
    struct nytp_diff *diff;
    const struct nytp_profile *profile;
    const struct nytp_counts *counts;
    uint32_t *run_of_recording; /* index into a row's runs; passed on to the diff */
    uint32_t n_runs;            /* of both sides */
    uint32_t *row_of_sub;
    uint32_t rows_capacity;
};

/* ---- runs ---- */

/* Returns the process on this side: itself, or the same process in another recording, since a
 * recording may be compared with itself. */
static uint32_t on_side(const struct comparing *c, const struct nytp_diff_sides *sides,
                        uint32_t process, uint8_t side)
{
    const struct nytp_process *all = c->profile->processes, *one = &all[process];
    if (sides->side_of_recording[one->recording] == side)
        return process;
    for (uint32_t i = 0; i < c->profile->n_processes; i++)
        if (sides->side_of_recording[all[i].recording] == side && all[i].pid == one->pid &&
            all[i].thread == one->thread && all[i].start_s == one->start_s)
            return i;
    return NYTP_NO_PROCESS;
}

/* Returns the recording of the first ancestor, on the same side. */
static uint32_t root_recording(const struct comparing *c, const struct nytp_diff_sides *sides,
                               const struct nytp_process_tree *tree, uint32_t recording)
{
    uint32_t root = recording;
    if (c->profile->recordings[recording].n_processes == 0)
        return recording;
    for (uint32_t p = c->profile->recordings[recording].first_process; p != NYTP_NO_PROCESS;
         p = tree->parents[p]) {
        const uint32_t own = on_side(c, sides, p, sides->side_of_recording[recording]);
        if (own != NYTP_NO_PROCESS)
            root = c->profile->processes[own].recording;
    }
    return root;
}

/* Numbers the runs of each side. A process and its children are one run. */
static bool number_runs_of_sides(struct comparing *c, const struct nytp_diff_sides *sides)
{
    struct nytp_process_tree tree;
    uint32_t *n = c->diff->n_runs;
    if (!nytp_process_tree_init(&tree, c->profile))
        return false;
    for (uint32_t i = 0; i < c->profile->n_recordings; i++)
        if (root_recording(c, sides, &tree, i) == i)
            c->run_of_recording[i] = n[sides->side_of_recording[i]]++;
    for (uint32_t i = 0; i < c->profile->n_recordings; i++)
        c->run_of_recording[i] = c->run_of_recording[root_recording(c, sides, &tree, i)];
    nytp_process_tree_free(&tree);
    return true;
}

/* Runs of the base come first in a row. */
static bool number_runs(struct comparing *c, const struct nytp_diff_sides *sides)
{
    const uint32_t n_recordings = c->profile->n_recordings;
    uint32_t *n = c->diff->n_runs;
    c->run_of_recording = calloc((size_t)n_recordings + 1, sizeof *c->run_of_recording);
    if (c->run_of_recording == NULL || (!sides->merge_runs && !number_runs_of_sides(c, sides)))
        return false;
    for (uint32_t i = 0; sides->merge_runs && i < n_recordings; i++)
        n[sides->side_of_recording[i]] = 1;
    if (c->counts != NULL)
        n[NYTP_DIFF_BASE] = 1;
    for (uint32_t i = 0; i < n_recordings; i++)
        if (sides->side_of_recording[i] == NYTP_DIFF_NEW)
            c->run_of_recording[i] += n[NYTP_DIFF_BASE];
    c->n_runs = n[NYTP_DIFF_BASE] + n[NYTP_DIFF_NEW];
    return true;
}

/* ---- rows ---- */

static struct nytp_diff_row *add_row(struct comparing *c)
{
    struct nytp_diff *diff = c->diff;
    if (!nytp_grow(&diff->rows, &c->rows_capacity, diff->n_rows, sizeof *diff->rows))
        return NULL;
    struct nytp_diff_row *row = &diff->rows[diff->n_rows++];
    *row = (struct nytp_diff_row){.p = -1};
    return row;
}

/* A sub that ran on any side. */
struct seen_sub {
    struct nytp_name name, base_name;
    uint32_t sub;
    uint8_t sides; /* bit set of 1 << enum nytp_diff_side */
};

static int by_name(const void *x, const void *y)
{
    const struct seen_sub *a = x, *b = y;
    int order = nytp_compare_names(a->name, b->name);
    order = order != 0 ? order : nytp_compare_names(a->base_name, b->base_name);
    return order != 0 ? order : nytp_compare_u64(a->sub, b->sub);
}

static void note_side(uint8_t *sides, const struct comparing *c, uint32_t sub,
                      uint32_t recording)
{
    sides[sub] |= (uint8_t)(1u << c->diff->side_of_recording[recording]);
}

static uint32_t list_seen(const struct comparing *c, uint8_t *sides, struct seen_sub *list)
{
    const struct nytp_profile *profile = c->profile;
    for (uint32_t i = 0; i < profile->n_line_costs; i++)
        note_side(sides, c, profile->line_costs[i].sub, profile->line_costs[i].recording);
    for (uint32_t i = 0; i < profile->n_arcs; i++)
        note_side(sides, c, profile->arcs[i].callee, profile->arcs[i].recording);
    uint32_t n = 0;
    for (uint32_t i = 0; i < profile->n_subs; i++)
        if (sides[i] != 0)
            list[n++] = (struct seen_sub){
                .name = profile->subs[i].name,
                .base_name = nytp_base_name(profile->files[profile->subs[i].file].name),
                .sub = i,
                .sides = sides[i],
            };
    if (n > 0)
        qsort(list, n, sizeof *list, by_name);
    return n;
}

/* Returns true if one side has several of these subs of one name. */
static bool is_ambiguous(const struct seen_sub *list, uint32_t n)
{
    uint32_t count[NYTP_DIFF_SIDES] = {0, 0};
    for (uint32_t i = 0; i < n; i++)
        for (int side = 0; side < NYTP_DIFF_SIDES; side++)
            count[side] += (list[i].sides >> side) & 1;
    return count[NYTP_DIFF_BASE] > 1 || count[NYTP_DIFF_NEW] > 1;
}

/* Sets the row's place. The place in the new side wins later, since a reader can open that. */
static void place_row(struct nytp_diff_row *row, const struct comparing *c,
                      const struct seen_sub *seen)
{
    const struct nytp_sub *sub = &c->profile->subs[seen->sub];
    row->name = seen->name;
    row->file = c->profile->files[sub->file].name;
    row->line = sub->first_line;
}

/* Makes rows of the subs of one name: one, or one for each file if a side has several. */
static bool rows_of_name(struct comparing *c, const struct seen_sub *list, uint32_t n)
{
    const bool by_file = is_ambiguous(list, n);
    struct nytp_diff_row *row = NULL;
    bool placed_by_new = false;
    for (uint32_t i = 0; i < n; i++) {
        const bool is_new = (list[i].sides & (1u << NYTP_DIFF_NEW)) != 0;
        if (i == 0 ||
            (by_file && nytp_compare_names(list[i - 1].base_name, list[i].base_name) != 0)) {
            row = add_row(c);
            if (row == NULL)
                return false;
            place_row(row, c, &list[i]);
            placed_by_new = is_new;
        } else if (is_new && !placed_by_new) {
            place_row(row, c, &list[i]);
            placed_by_new = true;
        }
        c->row_of_sub[list[i].sub] = c->diff->n_rows - 1;
    }
    return true;
}

/* Pairs the subs of both sides: makes all rows, without values. */
static bool make_rows(struct comparing *c)
{
    const size_t n_subs = c->profile->n_subs;
    struct seen_sub *list = malloc((n_subs + 1) * sizeof *list);
    uint8_t *sides = calloc(n_subs + 1, sizeof *sides);
    c->row_of_sub = malloc((n_subs + 1) * sizeof *c->row_of_sub);
    bool ok = list != NULL && sides != NULL && c->row_of_sub != NULL;
    if (ok)
        memset(c->row_of_sub, 0xff, (n_subs + 1) * sizeof *c->row_of_sub); /* NONE */
    const uint32_t n = ok ? list_seen(c, sides, list) : 0;
    for (uint32_t first = 0, end; ok && first < n; first = end) {
        for (end = first + 1;
             end < n && nytp_compare_names(list[end].name, list[first].name) == 0;)
            end++;
        ok = rows_of_name(c, list + first, end - first);
    }
    free(list);
    free(sides);
    return ok;
}

/* ---- a table of counts as the base ---- */

static bool same_name(const struct nytp_counts *counts, uint32_t i, uint32_t k)
{
    return k < counts->n_subs &&
           nytp_compare_names(counts->subs[i].name, counts->subs[k].name) == 0;
}

/* Adds rows for subs that only the table has. rows[i] becomes the row of its entry i. */
static bool rows_of_counts(struct comparing *c, uint32_t *rows)
{
    const struct nytp_counts *counts = c->counts;
    const uint32_t n_rows = c->diff->n_rows;
    for (uint32_t i = 0; i < counts->n_subs; i++) {
        const bool only_one =
            !same_name(counts, i, i + 1) && (i == 0 || !same_name(counts, i, i - 1));
        rows[i] = nytp_diff_row_of(c->diff, n_rows, counts->subs[i].name, counts->subs[i].file,
                                   only_one);
        if (rows[i] != NONE)
            continue;
        struct nytp_diff_row *row = add_row(c);
        if (row == NULL)
            return false;
        row->name = counts->subs[i].name;
        row->file = counts->subs[i].file;
        rows[i] = c->diff->n_rows - 1;
    }
    return true;
}

/* ---- the numbers of each run ---- */

static bool give_cells(struct comparing *c)
{
    struct nytp_diff *diff = c->diff;
    const size_t n = ((size_t)diff->n_rows + 1) * c->n_runs;
    diff->cells = calloc(n + 1, sizeof *diff->cells);
    if (diff->cells == NULL)
        return false;
    for (uint32_t i = 0; i < diff->n_rows; i++)
        diff->rows[i].runs = diff->cells + (size_t)i * c->n_runs;
    diff->total.runs = diff->cells + (size_t)diff->n_rows * c->n_runs;
    return true;
}

static void add_recorded(struct comparing *c)
{
    const struct nytp_profile *p = c->profile;
    struct nytp_diff_row *rows = c->diff->rows;
    struct nytp_diff_cell *total = c->diff->total.runs;
    for (uint32_t i = 0; i < p->n_line_costs; i++) {
        const struct nytp_line_cost *cost = &p->line_costs[i];
        const uint32_t run = c->run_of_recording[cost->recording];
        struct nytp_diff_cell *cell = &rows[c->row_of_sub[cost->sub]].runs[run];
        cell->statements += (int64_t)cost->statements;
        cell->ticks += cost->excl_ticks;
        total[run].statements += (int64_t)cost->statements;
        nytp_svs_add(&cell->memory, nytp_svs_of_cost(p, i));
        nytp_svs_add(&total[run].memory, nytp_svs_of_cost(p, i));
    }
    for (uint32_t i = 0; i < p->n_arcs; i++) {
        const struct nytp_arc *arc = &p->arcs[i];
        const uint32_t run = c->run_of_recording[arc->recording];
        struct nytp_diff_cell *cell = &rows[c->row_of_sub[arc->callee]].runs[run];
        cell->calls += (int64_t)arc->calls;
        cell->incl_ticks += arc->incl_ticks;
        total[run].calls += (int64_t)arc->calls;
    }
    for (uint32_t i = 0; i < p->n_processes; i++) {
        const struct nytp_node *root = &p->nodes[p->processes[i].root];
        const uint32_t run = c->run_of_recording[p->processes[i].recording];
        total[run].ticks += root->incl_ticks;
        total[run].incl_ticks += root->incl_ticks;
        if (c->row_of_sub[root->sub] != NONE && root->sub == 0)
            rows[c->row_of_sub[0]].runs[run].incl_ticks += root->incl_ticks;
    }
}

static void add_counts(struct comparing *c, const uint32_t *rows)
{
    for (uint32_t i = 0; i < c->counts->n_subs; i++) {
        struct nytp_diff_cell *cell = &c->diff->rows[rows[i]].runs[0];
        cell->statements += c->counts->subs[i].statements;
        cell->calls += c->counts->subs[i].calls;
    }
    c->diff->total.runs[0] =
        (struct nytp_diff_cell){.statements = c->counts->statements, .calls = c->counts->calls};
}

/* ---- renamed subs ---- */

static bool is_there(const struct nytp_diff_row *row, uint32_t first, uint32_t n)
{
    for (uint32_t i = first; i < first + n; i++)
        if (row->runs[i].statements != 0 || row->runs[i].calls != 0 || row->runs[i].ticks != 0)
            return true;
    return false;
}

static bool is_only_of(const struct comparing *c, const struct nytp_diff_row *row,
                       enum nytp_diff_side side)
{
    const uint32_t n_base = c->diff->n_runs[NYTP_DIFF_BASE];
    const uint32_t n_new = c->diff->n_runs[NYTP_DIFF_NEW];
    return is_there(row, 0, n_base) == (side == NYTP_DIFF_BASE) &&
           is_there(row, n_base, n_new) == (side == NYTP_DIFF_NEW);
}

static struct nytp_key place_of(const struct nytp_diff_row *row)
{
    const uint64_t file = (uintptr_t)row->file.ptr; /* equal names are one pointer */
    return (struct nytp_key){(uint32_t)file, (uint32_t)(file >> 32), row->line, 0};
}

/* Returns true if all runs of the base (old name) and now (new name) have equal counts. */
static bool counts_agree(const struct comparing *c, const struct nytp_diff_row *gone,
                         const struct nytp_diff_row *added)
{
    const uint32_t n_base = c->diff->n_runs[NYTP_DIFF_BASE];
    const struct nytp_diff_cell *const first = &gone->runs[0];
    for (uint32_t i = 0; i < c->n_runs; i++) {
        const struct nytp_diff_cell *const cell = i < n_base ? &gone->runs[i] : &added->runs[i];
        if (cell->calls != first->calls || cell->statements != first->statements)
            return false;
    }
    return first->calls > 0;
}

/* Joins a sub that only the base has with one that only the new side has, if both begin on the
 * same line of the same file and every count is equal. */
static bool join_renamed(struct comparing *c)
{
    struct nytp_diff *diff = c->diff;
    struct nytp_table added = {0}; /* by place */
    bool ok = true;
    if (diff->sampled[NYTP_DIFF_BASE] || diff->sampled[NYTP_DIFF_NEW])
        return true;
    for (uint32_t i = 0; ok && i < diff->n_rows; i++)
        if (diff->rows[i].line > 0 && is_only_of(c, &diff->rows[i], NYTP_DIFF_NEW))
            ok = nytp_table_put(&added, place_of(&diff->rows[i]), i);
    uint32_t kept = 0;
    for (uint32_t i = 0; ok && i < diff->n_rows; i++) {
        struct nytp_diff_row *const row = &diff->rows[i];
        const uint32_t at = row->line > 0 && is_only_of(c, row, NYTP_DIFF_BASE) &&
                                    !nytp_defined_has(diff->defined, row->name)
                                ? nytp_table_get(&added, place_of(row))
                                : NYTP_TABLE_NONE;
        if (at == NYTP_TABLE_NONE)
            continue;
        struct nytp_diff_row *const now = &diff->rows[at];
        if (now->was.len > 0 || !counts_agree(c, row, now))
            continue;
        const uint32_t n_base = diff->n_runs[NYTP_DIFF_BASE];
        memcpy(now->runs, row->runs, n_base * sizeof *now->runs);
        now->was = row->name;
        row->runs = NULL;
    }
    for (uint32_t i = 0; i < diff->n_rows; i++)
        if (diff->rows[i].runs != NULL)
            diff->rows[kept++] = diff->rows[i];
    diff->n_rows = kept;
    nytp_table_free(&added);
    return ok;
}

/* ---- medians and verdicts ---- */

enum value {
    VALUE_STATEMENTS,
    VALUE_CALLS,
    VALUE_TICKS,
    VALUE_INCL,
    VALUE_SVS,
    VALUE_BYTES, /* from here on in the order of enum nytp_bytes_measure */
    N_VALUES = VALUE_BYTES + NYTP_N_BYTES_MEASURES
};

static int64_t *value_of(struct nytp_diff_cell *cell, int value)
{
    switch (value) {
    case VALUE_STATEMENTS:
        return &cell->statements;
    case VALUE_CALLS:
        return &cell->calls;
    case VALUE_TICKS:
        return &cell->ticks;
    case VALUE_INCL:
        return &cell->incl_ticks;
    case VALUE_SVS:
        return &cell->memory.net;
    default:
        return &cell->memory.bytes.of[value - VALUE_BYTES];
    }
}

static void copy_values(const struct nytp_diff_row *row, int value, uint32_t first, uint32_t n,
                        int64_t *values)
{
    for (uint32_t i = 0; i < n; i++)
        values[i] = *value_of(&row->runs[first + i], value);
}

static void set_medians(const struct comparing *c, struct nytp_diff_row *row, int64_t *values)
{
    uint32_t first = 0;
    for (int side = 0; side < NYTP_DIFF_SIDES; side++) {
        const uint32_t n = c->diff->n_runs[side];
        for (int value = 0; value < N_VALUES; value++) {
            copy_values(row, value, first, n, values);
            *value_of(&row->median[side], value) = nytp_median(values, n);
            row->varies |= value <= VALUE_CALLS && n > 0 && values[0] != values[n - 1];
        }
        copy_values(row, VALUE_TICKS, first, n, values);
        const int64_t noise = nytp_median_deviation(values, n);
        row->noise_ticks = noise > row->noise_ticks ? noise : row->noise_ticks;
        first += n;
    }
}

static void set_status(const struct comparing *c, struct nytp_diff_row *row)
{
    const uint32_t *n = c->diff->n_runs;
    const struct nytp_diff_cell *base = &row->median[NYTP_DIFF_BASE];
    const struct nytp_diff_cell *now = &row->median[NYTP_DIFF_NEW];
    const bool was = is_there(row, 0, n[NYTP_DIFF_BASE]);
    const bool is = is_there(row, n[NYTP_DIFF_BASE], n[NYTP_DIFF_NEW]);
    if (was && !is)
        row->status =
            nytp_defined_has(c->diff->defined, row->name) ? NYTP_DIFF_UNCALLED : NYTP_DIFF_GONE;
    else if (is && !was)
        row->status = NYTP_DIFF_ADDED;
    else if (row->was.len > 0)
        row->status = NYTP_DIFF_RENAMED;
    else if (base->statements != now->statements || base->calls != now->calls)
        row->status = NYTP_DIFF_CHANGED;
    row->shown_file =
        row->status == NYTP_DIFF_GONE ? nytp_base_file(c->diff->defined, row->file) : row->file;
    c->diff->n_of_status[row->status]++;
}

static double probability(const struct comparing *c, const struct nytp_diff_row *row,
                          int64_t *values)
{
    const uint32_t n_base = c->diff->n_runs[NYTP_DIFF_BASE];
    copy_values(row, VALUE_TICKS, 0, c->n_runs, values);
    return nytp_rank_test(values, n_base, values + n_base, c->n_runs - n_base);
}

static void set_verdict(struct nytp_diff_row *row)
{
    const int64_t change = row->median[NYTP_DIFF_NEW].ticks - row->median[NYTP_DIFF_BASE].ticks;
    row->significant =
        row->p >= 0 && row->p < NYTP_SIGNIFICANT_P && llabs(change) > row->noise_ticks;
}

bool nytp_diff_is_worth_a_test(const struct nytp_diff *diff, const struct nytp_diff_row *row,
                               enum nytp_weight time)
{
    for (int side = 0; side < NYTP_DIFF_SIDES; side++) {
        const struct nytp_diff_cell *const cell = &row->median[side];
        const int64_t ticks = time == NYTP_WEIGHT_INCL ? cell->incl_ticks : cell->ticks;
        if (ticks > diff->total.median[side].ticks / LEAST_TESTED_SHARE)
            return true;
    }
    return false;
}

/* Rows with hardly any time are left out: each test makes all others weaker. */
static bool test_rows(struct comparing *c, int64_t *values)
{
    struct nytp_diff *diff = c->diff;
    double *p = malloc(((size_t)diff->n_rows + 1) * sizeof *p);
    bool ok = p != NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; ok && i < diff->n_rows; i++)
        if (nytp_diff_is_worth_a_test(diff, &diff->rows[i], NYTP_WEIGHT_TIME)) {
            p[n] = probability(c, &diff->rows[i], values);
            ok = p[n++] >= 0;
        }
    ok = ok && nytp_false_discovery_rates(p, n);
    diff->n_tested = n;
    n = 0;
    for (uint32_t i = 0; ok && i < diff->n_rows; i++)
        if (nytp_diff_is_worth_a_test(diff, &diff->rows[i], NYTP_WEIGHT_TIME)) {
            diff->rows[i].p = p[n++];
            set_verdict(&diff->rows[i]);
        }
    free(p);
    if (!ok)
        return false;
    const uint32_t n_base = diff->n_runs[NYTP_DIFF_BASE], n_new = diff->n_runs[NYTP_DIFF_NEW];
    diff->total.p = probability(c, &diff->total, values); /* stores them in `values` */
    nytp_rank_interval(values, n_base, values + n_base, n_new, diff->factor);
    set_verdict(&diff->total);
    if (diff->total.significant &&
        nytp_rank_test_least(n_base, n_new) * n >= NYTP_SIGNIFICANT_P)
        nytp_diff_note(
            diff,
            "%lu runs against %lu tell of the total, and not of each of %lu subs: that "
            "takes %lu on each side",
            (unsigned long)n_new, (unsigned long)n_base, (unsigned long)n,
            (unsigned long)nytp_rank_test_needs(n));
    return diff->total.p >= 0;
}

static bool judge_rows(struct comparing *c)
{
    struct nytp_diff *diff = c->diff;
    int64_t *values = malloc(((size_t)c->n_runs + 1) * sizeof *values);
    if (values == NULL)
        return false;
    set_medians(c, &diff->total, values);
    for (uint32_t i = 0; i < diff->n_rows; i++) {
        set_medians(c, &diff->rows[i], values);
        set_status(c, &diff->rows[i]);
    }
    diff->tested = diff->base_has_times &&
                   diff->n_runs[NYTP_DIFF_BASE] >= NYTP_RANK_TEST_LEAST &&
                   diff->n_runs[NYTP_DIFF_NEW] >= NYTP_RANK_TEST_LEAST;
    const bool ok = !diff->tested || test_rows(c, values);
    free(values);
    return ok;
}

/* ---- all of it ---- */

static int by_row_name(const void *x, const void *y)
{
    const struct nytp_diff_row *a = x, *b = y;
    const int order = nytp_compare_names(a->name, b->name);
    return order != 0 ? order : nytp_compare_names(a->file, b->file);
}

static bool compare_sides(struct comparing *c, const struct nytp_diff_sides *sides)
{
    uint32_t *rows = NULL;
    bool ok = number_runs(c, sides) && make_rows(c);
    if (ok && c->counts != NULL) {
        rows = malloc(((size_t)c->counts->n_subs + 1) * sizeof *rows);
        ok = rows != NULL && rows_of_counts(c, rows);
    }
    ok = ok && give_cells(c);
    if (ok) {
        add_recorded(c);
        if (c->counts != NULL)
            add_counts(c, rows);
        ok = join_renamed(c) && judge_rows(c);
    }
    if (ok && c->diff->n_rows > 0)
        qsort(c->diff->rows, c->diff->n_rows, sizeof *c->diff->rows, by_row_name);
    free(rows);
    return ok;
}

void nytp_diff_note(struct nytp_diff *diff, const char *format, ...)
{
    if (diff->n_notes == NYTP_DIFF_MAX_NOTES)
        return;
    char *text = diff->notes[diff->n_notes];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof diff->notes[0], format, args);
    va_end(args);
    for (uint32_t i = 0; i < diff->n_notes; i++)
        if (strcmp(diff->notes[i], text) == 0)
            return;
    diff->n_notes++;
}

static void note_recorded(struct nytp_diff *diff)
{
    diff->has[NYTP_DIFF_BASE] = diff->counts == NULL ? UINT32_MAX : 0;
    diff->has[NYTP_DIFF_NEW] = UINT32_MAX;
    for (uint32_t i = 0; i < diff->profile->n_recordings; i++)
        diff->has[diff->side_of_recording[i]] &= diff->profile->recordings[i].has;
}

static void note_samples(struct nytp_diff *diff)
{
    for (uint32_t i = 0; i < diff->profile->n_processes; i++) {
        const struct nytp_process *process = &diff->profile->processes[i];
        diff->sampled[diff->side_of_recording[process->recording]] |= process->sampled;
    }
    if (diff->counts != NULL)
        diff->sampled[NYTP_DIFF_BASE] = diff->counts->sampled;
}

struct nytp_diff *nytp_diff_new(const struct nytp_profile *profile,
                                const struct nytp_diff_sides *sides, struct nytp_error *error)
{
    struct comparing c = {.profile = profile, .counts = sides->counts};
    c.diff = calloc(1, sizeof *c.diff);
    bool ok = c.diff != NULL;
    if (ok) {
        c.diff->profile = profile;
        c.diff->side_of_recording = sides->side_of_recording;
        c.diff->ticks_per_sec = profile->ticks_per_sec;
        c.diff->counts = sides->counts;
        c.diff->defined = sides->defined;
        note_samples(c.diff);
        note_recorded(c.diff);
        c.diff->has_times = (c.diff->has[NYTP_DIFF_NEW] & NYTP_HAS_TIMES) != 0;
        c.diff->base_has_times =
            c.diff->has_times && (c.diff->has[NYTP_DIFF_BASE] & NYTP_HAS_TIMES) != 0;
        c.diff->total.p = -1;
        ok = compare_sides(&c, sides);
    }
    free(c.row_of_sub);
    if (c.diff != NULL)
        c.diff->run_of_recording = c.run_of_recording;
    if (ok)
        return c.diff;
    nytp_diff_free(c.diff);
    nytp_out_of_memory(error);
    return NULL;
}

uint32_t nytp_diff_row_of(const struct nytp_diff *diff, uint32_t n_rows, struct nytp_name name,
                          struct nytp_name base_name, bool only_one)
{
    uint32_t low = 0;
    NYTP_BISECT(low, n_rows, middle, nytp_compare_names(diff->rows[middle].name, name) < 0);
    uint32_t n = 0, found = NYTP_DIFF_NO_ROW;
    for (; low + n < n_rows && nytp_compare_names(diff->rows[low + n].name, name) == 0; n++)
        if (nytp_compare_names(nytp_base_name(diff->rows[low + n].file), base_name) == 0)
            found = low + n;
    return n == 1 && only_one ? low : found;
}

bool nytp_diff_row_differs(const struct nytp_diff *diff, const struct nytp_diff_row *row)
{
    const struct nytp_diff_cell *base = &row->median[NYTP_DIFF_BASE];
    const struct nytp_diff_cell *now = &row->median[NYTP_DIFF_NEW];
    return row->status != NYTP_DIFF_EQUAL ||
           (diff->base_has_times &&
            (base->ticks != now->ticks || base->incl_ticks != now->incl_ticks)) ||
           ((diff->has[NYTP_DIFF_BASE] & diff->has[NYTP_DIFF_NEW] & NYTP_HAS_SVS) != 0 &&
            memcmp(&base->memory, &now->memory, sizeof base->memory) != 0);
}

void nytp_diff_free(struct nytp_diff *diff)
{
    if (diff == NULL)
        return;
    free(diff->rows);
    free(diff->cells);
    free(diff->run_of_recording);
    free(diff);
}
