/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Subs as a sheet; see sub_rows.h.
 */
#include "sub_rows.h"

#include "samples.h"

#include "formats/model/svs.h"

#include <stdlib.h>

static const struct nytp_column columns[NYTP_SUB_COLUMNS] = {
    [NYTP_SUB_SELF] = {"exclusive", "self", NYTP_CELL_TICKS, 10, 8, .is_summed = true},
    [NYTP_SUB_SELF_SHARE] = {"", "self%", NYTP_CELL_SHARE, 7, 7, .is_summed = true,
                             .words = "self %"},
    [NYTP_SUB_INCL] = {"inclusive", "incl", NYTP_CELL_TICKS, 11},
    [NYTP_SUB_INCL_SHARE] = {"", "incl%", NYTP_CELL_SHARE, 7, 7},
    [NYTP_SUB_CALLS] = {"calls", "calls", NYTP_CELL_COUNT, 9, 8, .is_summed = true},
    [NYTP_SUB_SAMPLES] = {"samples", "samples", NYTP_CELL_COUNT, 9, 8, .is_summed = true},
    [NYTP_SUB_STATEMENTS] = {"statements", "statements", NYTP_CELL_COUNT, 11, 11, .is_summed = true},
    [NYTP_SUB_PER_CALL] = {"", "per call", NYTP_CELL_MEAN, 10},
    [NYTP_SUB_CPU] = {"cpu", "cpu", NYTP_CELL_TICKS, 10, 10, .dashes_zero = true},
    [NYTP_SUB_WAIT] = {"wait", "wait", NYTP_CELL_TICKS, 10, 10, .dashes_zero = true},
    [NYTP_SUB_OPS] = {"ops", "ops", NYTP_CELL_COUNT, 11, 11},
    [NYTP_SUB_NAME] = {"sub", "sub", NYTP_CELL_CODE},
    [NYTP_SUB_PLACE] = {"", "", NYTP_CELL_PLACE, .joins = true},
};

static void fill(const struct nytp_sheet *sheet, uint32_t row, struct nytp_cell *cells)
{
    const struct nytp_sub_rows *const of = sheet->context;
    const struct nytp_sub *const sub = &sheet->profile->subs[row];
    const struct nytp_cell known[] = {
        [NYTP_SUB_SELF] = {.value = sub->excl_ticks},
        [NYTP_SUB_SELF_SHARE] = {.value = sub->excl_ticks, .of = sheet->profile->total.ticks},
        [NYTP_SUB_INCL] = {.value = sub->incl_ticks},
        [NYTP_SUB_INCL_SHARE] = {.value = sub->incl_ticks, .of = sheet->profile->total.ticks},
        [NYTP_SUB_CALLS] = {.value = (int64_t)sub->calls},
        [NYTP_SUB_SAMPLES] = {.value = of->samples != NULL ? (int64_t)of->samples[row] : 0},
        [NYTP_SUB_STATEMENTS] = {.value = (int64_t)sub->statements},
        [NYTP_SUB_PER_CALL] = {.value = sub->incl_ticks, .of = (int64_t)sub->calls},
        [NYTP_SUB_CPU] = {.value = sub->cpu_ticks},
        [NYTP_SUB_WAIT] = {.value = of->waits != NULL ? of->waits[row] : 0},
        [NYTP_SUB_OPS] = {.value = (int64_t)(sub->statements + sub->calls)},
        [NYTP_SUB_NAME] = {.text = sub->name},
        [NYTP_SUB_PLACE] = {.file = sub->file, .line = sub->first_line},
    };
    memcpy(cells, known, sizeof known);
    for (int w = NYTP_MEMORY_FIRST; w < NYTP_MEMORY_END; w++) {
        const unsigned column = nytp_sub_column_of(w);
        cells[column].value = nytp_sub_memory(sub, (enum nytp_weight)w);
        cells[column + 1].value =
            of->inclusive.of[w] != NULL ? (int64_t)of->inclusive.of[w][row] : 0;
    }
}

/* Columns for a measure of memory: names of the inclusive ones begin with "inclusive_". */
static void add_memory_columns(struct nytp_sheet *sheet)
{
    static const char *const names[] = {
#define NYTP_MEASURE(id, name, ...) [NYTP_WEIGHT_##id] = "inclusive_" name,
#include "formats/model/measures.def"
#undef NYTP_MEASURE
    };
    for (int w = NYTP_MEMORY_FIRST; w < NYTP_MEMORY_END; w++) {
        struct nytp_column *const own = &sheet->columns[nytp_sub_column_of(w)];
        *own = (struct nytp_column){
            .name = nytp_measures[w].name,
            .title = nytp_measures[w].title,
            .kind =
                nytp_weight_is_space((enum nytp_weight)w) ? NYTP_CELL_BYTES : NYTP_CELL_COUNT,
            .width = 10,
            .narrow = 10,
        };
        own[1] = *own;
        own[1].name = names[w];
    }
}

bool nytp_sub_rows_init(struct nytp_sub_rows *rows, const struct nytp_profile *profile,
                        const struct nytp_export_options *options)
{
    const bool of_samples = nytp_is_of_samples(profile);
    *rows = (struct nytp_sub_rows){
        .sheet = nytp_sheet_of(profile, options, columns, NYTP_SUB_COLUMNS),
        .rows = malloc(((size_t)profile->n_subs + 1) * sizeof *rows->rows),
        .samples = of_samples ? nytp_samples_by_sub(profile) : NULL,
    };
    rows->sheet.columns[NYTP_SUB_CALLS].title = nytp_text_calls(profile);
    rows->sheet.columns[NYTP_SUB_STATEMENTS].title = nytp_text_statements(profile);
    rows->sheet.name = "subs";
    rows->sheet.more = "more subs";
    rows->sheet.n_shown = 0;
    rows->sheet.n = profile->n_subs;
    rows->sheet.context = rows;
    rows->sheet.fill = fill;
    add_memory_columns(&rows->sheet);
    return rows->rows != NULL && (!of_samples || rows->samples != NULL) &&
           nytp_inclusive_memory_init(&rows->inclusive, profile, false, false);
}

void nytp_sub_rows_free(struct nytp_sub_rows *rows)
{
    free(rows->rows);
    free(rows->samples);
    nytp_inclusive_memory_free(&rows->inclusive);
    free(rows->waits);
    free(rows->costs);
}

/* Returns the column of a key of --sort. By name they are sorted already. */
static unsigned column_of(const struct nytp_sub_rows *rows, const char *sort)
{
    static const struct {
        const char *key;
        unsigned column;
    } keys[] = {{"incl", NYTP_SUB_INCL},
                {"percall", NYTP_SUB_PER_CALL},
                {"name", NYTP_SUB_NAME},
                {"ops", NYTP_SUB_OPS}};
    const enum nytp_weight weight = nytp_memory_named(sort);
    if (weight < NYTP_N_WEIGHTS)
        return nytp_sub_column_of(weight);
    if (sort != NULL && strcmp(sort, "calls") == 0)
        return rows->samples != NULL ? NYTP_SUB_SAMPLES : NYTP_SUB_CALLS;
    for (size_t i = 0; sort != NULL && i < sizeof keys / sizeof *keys; i++)
        if (strcmp(sort, keys[i].key) == 0)
            return keys[i].column;
    return nytp_profile_has(rows->sheet.profile, NYTP_WEIGHT_TIME) ? NYTP_SUB_SELF
                                                                   : NYTP_SUB_OPS;
}

bool nytp_sub_rows_sort(struct nytp_sub_rows *rows, const char *sort)
{
    const struct nytp_profile *const profile = rows->sheet.profile;
    const bool has_times = nytp_profile_has(profile, NYTP_WEIGHT_TIME);
    uint32_t n = 0;
    for (uint32_t i = 0; i < profile->n_subs; i++) {
        const struct nytp_sub *sub = &profile->subs[i];
        if (sub->calls != 0 || sub->excl_ticks != 0 || sub->incl_ticks != 0 || sub->svs != 0 ||
            !nytp_bytes_are_none(sub->bytes) || (!has_times && sub->statements > 0))
            rows->rows[n++] = i;
    }
    rows->sheet.rows = rows->rows;
    rows->sheet.n = n;
    return nytp_sheet_sort(&rows->sheet, column_of(rows, sort), rows->rows, n);
}

void nytp_sub_rows_show_memory(struct nytp_sub_rows *rows, enum nytp_memory_columns memory)
{
    static const struct {
        enum nytp_weight weight[2];
        const char *titles[2];
    } shown[] = {[NYTP_MEMORY_SVS] = {{NYTP_WEIGHT_SVS, NYTP_WEIGHT_SVS}, {"SVs", "incl SVs"}},
                 [NYTP_MEMORY_BLOCKS] = {{NYTP_WEIGHT_ALLOC_OBJECTS, NYTP_WEIGHT_INUSE_OBJECTS},
                                         {"allocated", "in use"}},
                 [NYTP_MEMORY_SPACE] = {{NYTP_WEIGHT_ALLOC_SPACE, NYTP_WEIGHT_INUSE_SPACE},
                                        {"alloc", "in use"}}};
    for (int i = 0; i < 2 && memory != NYTP_MEMORY_NONE; i++) {
        const unsigned column =
            nytp_sub_column_of(shown[memory].weight[i]) + (memory == NYTP_MEMORY_SVS && i == 1);
        rows->sheet.columns[column].title = shown[memory].titles[i];
        nytp_sheet_show(&rows->sheet, column, true);
    }
}
