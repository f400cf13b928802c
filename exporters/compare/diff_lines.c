/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Matches the lines of subs on two sides; see diff_lines.h.
 */
#include "diff_lines.h"

#include "diff_formats.h"

#include "formats/base/table.h"
#include "formats/model/svs.h"

#include <stdlib.h>
#include <string.h>

#define NONE NYTP_DIFF_NO_ROW

/* Returns true for lines in the sub's file. The program is one sub on both sides, so its file
 * may have the folders of the other side. */
static bool is_own(const struct nytp_profile *profile, const struct nytp_line_cost *cost)
{
    const uint32_t file = profile->subs[cost->sub].file;
    return cost->line > 0 &&
           (cost->file == file ||
            (cost->sub == 0 &&
             nytp_compare_names(nytp_base_name(profile->files[cost->file].name),
                                nytp_base_name(profile->files[file].name)) == 0));
}

/* Finds the first line that ran for each row and side; NONE = no line. */
static void find_first_lines(const struct nytp_diff *diff, const uint32_t *rows,
                             uint32_t *first)
{
    const struct nytp_profile *profile = diff->profile;
    for (uint32_t i = 0; i < profile->n_line_costs; i++) {
        const struct nytp_line_cost *cost = &profile->line_costs[i];
        if (rows[cost->sub] == NONE || !is_own(profile, cost))
            continue;
        uint32_t *line = &first[NYTP_DIFF_SIDES * rows[cost->sub] +
                                diff->side_of_recording[cost->recording]];
        *line = cost->line < *line ? cost->line : *line;
    }
}

/* Adds line cost i of the profile to a line of this row. */
static bool add_cost(struct nytp_diff_lines *lines, struct nytp_table *known,
                     const struct nytp_diff *diff, uint32_t i, uint32_t row, uint32_t offset)
{
    const struct nytp_line_cost *const cost = &diff->profile->line_costs[i];
    const enum nytp_diff_side side = diff->side_of_recording[cost->recording];
    const struct nytp_key key = {row, offset, 0, 0};
    uint32_t id = nytp_table_get(known, key);
    if (id == NYTP_TABLE_NONE) {
        id = lines->n;
        if (!nytp_table_put(known, key, id))
            return false;
        lines->lines[lines->n++] =
            (struct nytp_diff_line){.row = row, .offset = offset, .line = cost->line};
    }
    struct nytp_diff_line *line = &lines->lines[id];
    if (side == NYTP_DIFF_NEW)
        line->line = cost->line;
    line->mean[side].statements += (int64_t)cost->statements;
    line->mean[side].ticks += cost->excl_ticks;
    nytp_svs_add(&line->mean[side].memory, nytp_svs_of_cost(diff->profile, i));
    return true;
}

static bool add_costs(struct nytp_diff_lines *lines, const struct nytp_diff *diff,
                      const uint32_t *rows, const uint32_t *first)
{
    const struct nytp_profile *profile = diff->profile;
    struct nytp_table known = {0}; /* row, offset -> line */
    bool ok = true;
    for (uint32_t i = 0; ok && i < profile->n_line_costs; i++) {
        const struct nytp_line_cost *cost = &profile->line_costs[i];
        const uint32_t row = rows[cost->sub];
        const enum nytp_diff_side side = diff->side_of_recording[cost->recording];
        if (row != NONE && is_own(profile, cost))
            ok = add_cost(lines, &known, diff, i, row,
                          cost->line - first[NYTP_DIFF_SIDES * row + side]);
    }
    nytp_table_free(&known);
    return ok;
}

static int by_row_offset(const void *x, const void *y)
{
    const struct nytp_diff_line *a = x, *b = y;
    NYTP_RETURN_ORDER(a->row, b->row);
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static int64_t mean(int64_t sum, uint32_t n)
{
    return n > 1 ? (sum + (sum < 0 ? -(int64_t)n : (int64_t)n) / 2) / n : sum;
}

static void take_mean(struct nytp_diff_cell *sum, uint32_t n)
{
    sum->statements = mean(sum->statements, n);
    sum->ticks = mean(sum->ticks, n);
    sum->memory.net = mean(sum->memory.net, n);
    sum->memory.kept = mean(sum->memory.kept, n);
    for (int i = 0; i < NYTP_N_BYTES_MEASURES; i++)
        sum->memory.bytes.of[i] = mean(sum->memory.bytes.of[i], n);
}

static void arrange_lines(struct nytp_diff_lines *lines, const struct nytp_diff *diff)
{
    if (lines->n > 0)
        qsort(lines->lines, lines->n, sizeof *lines->lines, by_row_offset);
    for (uint32_t i = 0; i < lines->n; i++) {
        struct nytp_diff_line *line = &lines->lines[i];
        lines->first[line->row + 1]++;
        for (int side = 0; side < NYTP_DIFF_SIDES; side++)
            take_mean(&line->mean[side], diff->n_runs[side]);
    }
    for (uint32_t i = 0; i < diff->n_rows; i++)
        lines->first[i + 1] += lines->first[i];
}

bool nytp_diff_lines_init(struct nytp_diff_lines *lines, const struct nytp_diff *diff)
{
    const struct nytp_profile *profile = diff->profile;
    const size_t n_firsts = NYTP_DIFF_SIDES * ((size_t)diff->n_rows + 1);
    uint32_t *rows = malloc(((size_t)profile->n_subs + 1) * sizeof *rows);
    uint32_t *first = malloc(n_firsts * sizeof *first);
    *lines = (struct nytp_diff_lines){
        .lines = malloc(((size_t)profile->n_line_costs + 1) * sizeof *lines->lines),
        .first = calloc((size_t)diff->n_rows + 2, sizeof *lines->first),
    };
    bool ok = rows != NULL && first != NULL && lines->lines != NULL && lines->first != NULL;
    if (ok) {
        memset(first, 0xff, n_firsts * sizeof *first); /* NONE */
        for (uint32_t i = 0; i < profile->n_subs; i++)
            rows[i] = nytp_diff_row_of(
                diff, diff->n_rows, profile->subs[i].name,
                nytp_base_name(profile->files[profile->subs[i].file].name), true);
        find_first_lines(diff, rows, first);
        ok = add_costs(lines, diff, rows, first);
    }
    if (ok)
        arrange_lines(lines, diff);
    free(rows);
    free(first);
    return ok;
}

bool nytp_diff_lines_asked(struct nytp_diff_lines *lines, const struct nytp_diff *diff,
                           const struct nytp_export_options *options)
{
    *lines = (struct nytp_diff_lines){0};
    return !options->lines || diff->counts != NULL || nytp_diff_lines_init(lines, diff);
}

enum nytp_weight nytp_diff_line_weight(enum nytp_weight weight)
{
    return weight == NYTP_WEIGHT_TIME || nytp_weight_is_memory(weight) ? weight
                                                                       : NYTP_WEIGHT_STATEMENTS;
}

int64_t nytp_diff_line_statements(const struct nytp_diff_line *line)
{
    return line->mean[NYTP_DIFF_NEW].statements - line->mean[NYTP_DIFF_BASE].statements;
}

bool nytp_diff_line_matters(const struct nytp_diff_row *row, const struct nytp_diff_line *line,
                            enum nytp_weight weight)
{
    if (row->status == NYTP_DIFF_RENAMED) /* the lines under its old name are unknown */
        return false;
    if (nytp_weight_is_memory(weight))
        return nytp_diff_value(&line->mean[NYTP_DIFF_BASE], weight) !=
               nytp_diff_value(&line->mean[NYTP_DIFF_NEW], weight);
    return row->status == NYTP_DIFF_EQUAL || nytp_diff_line_statements(line) != 0;
}

void nytp_diff_lines_free(struct nytp_diff_lines *lines)
{
    free(lines->lines);
    free(lines->first);
    *lines = (struct nytp_diff_lines){0};
}
