/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Writes the table of the hottest lines; see hot_lines.h.
 */
#include "hot_lines.h"
#include "calls.h"
#include "exporters/table/sheet.h"

#include "formats/model/profile.h"
#include "formats/model/svs.h"

#include <stdlib.h>
#include <string.h>

#define MIN_SOURCE  24
#define HOT_PERCENT 10

static int by_key_and_time(const void *x, const void *y)
{
    const struct nytp_line_row *a = x, *b = y;
    NYTP_RETURN_ORDER(b->key, a->key);
    NYTP_RETURN_ORDER(b->self_ticks, a->self_ticks);
    NYTP_RETURN_ORDER(a->file, b->file);
    return (a->line > b->line) - (a->line < b->line);
}

void nytp_lines_sort(struct nytp_line_rows *rows, enum nytp_weight weight)
{
    const bool by_memory = weight < NYTP_N_WEIGHTS && nytp_weight_is_memory(weight);
    for (uint32_t i = 0; i < rows->n; i++) {
        struct nytp_line_row *const row = &rows->rows[i];
        row->key = by_memory ? nytp_measures[weight].weight(NULL, &row->memory)
                   : weight == NYTP_WEIGHT_STATEMENTS ? (int64_t)row->statements
                                                      : row->self_ticks;
    }
    if (rows->n > 0)
        qsort(rows->rows, rows->n, sizeof *rows->rows, by_key_and_time);
}

enum {
    SELF,
    SHARE,
    STATEMENTS,
    SVS,
    KEPT, /* from here on in the order of measures of memory */
    BLOCKS,
    SPACE,
    BLOCKS_IN_USE,
    IN_USE,
    PLACE,
    SOURCE
};

static const struct nytp_column columns[] = {
    [SELF] = {"exclusive", "self", NYTP_CELL_TICKS, 10, .is_summed = true},
    [SHARE] = {"", "self%", NYTP_CELL_SHARE, 7, .is_summed = true},
    [STATEMENTS] = {"statements", "stmts", NYTP_CELL_COUNT, 10, .is_summed = true},
    [SVS] = {"svs", "SVs", NYTP_CELL_COUNT, 10, .is_summed = true},
    [KEPT] = {"kept_svs", "kept", NYTP_CELL_COUNT, 10, .is_summed = true},
    [BLOCKS] = {"alloc_objects", "allocated", NYTP_CELL_COUNT, 10, .is_summed = true},
    [BLOCKS_IN_USE] = {"inuse_objects", "in use", NYTP_CELL_COUNT, 10, .is_summed = true},
    [SPACE] = {"alloc_space", "alloc", NYTP_CELL_BYTES, 10, .is_summed = true},
    [IN_USE] = {"inuse_space", "in use", NYTP_CELL_BYTES, 10, .is_summed = true},
    [PLACE] = {"", "line", NYTP_CELL_PLACE, 1},
    [SOURCE] = {"source", "", NYTP_CELL_CODE, .gap = 1, .words = "source"},
};

/* Returns the source without the blanks around it, or "". */
static struct nytp_name source_of(const struct nytp_profile *profile,
                                  const struct nytp_line_row *line)
{
    const struct nytp_source_line *const source =
        nytp_profile_source(profile, line->file, line->line);
    struct nytp_name text = {"", 0};
    if (source != NULL)
        text = (struct nytp_name){source->text, source->len};
    while (text.len > 0 && strchr(" \t\r\n", text.ptr[text.len - 1]) != NULL)
        text.len--;
    while (text.len > 0 && (*text.ptr == ' ' || *text.ptr == '\t'))
        text = (struct nytp_name){text.ptr + 1, text.len - 1};
    return text;
}

static void fill(const struct nytp_sheet *sheet, uint32_t row, struct nytp_cell *cells)
{
    const struct nytp_line_row *const line =
        &((const struct nytp_line_row *)sheet->context)[row];
    cells[SELF].value = cells[SHARE].value = line->self_ticks;
    cells[SHARE].of = sheet->profile->total.ticks;
    cells[STATEMENTS].value = (int64_t)line->statements;
    cells[SVS].value = line->memory.net;
    for (int i = KEPT; i <= IN_USE; i++)
        cells[i].value = nytp_measures[NYTP_WEIGHT_SVS + i - KEPT].weight(NULL, &line->memory);
    cells[SOURCE].text = source_of(sheet->profile, line);
    cells[PLACE] = (struct nytp_cell){
        .text = nytp_name_of_text("(no line)"), .file = line->file, .line = line->line};
}

/* A file's line 0 whose builtins were all counted where they are called. */
static void drop_empty(struct nytp_line_rows *rows)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < rows->n; i++)
        if (rows->rows[i].self_ticks != 0 || rows->rows[i].statements > 0 ||
            rows->rows[i].memory.net != 0 || !nytp_bytes_are_none(rows->rows[i].memory.bytes))
            rows->rows[n++] = rows->rows[i];
    rows->n = n;
}

/* Writes the source, if there is room. */
static void put_source(const struct nytp_sheet *sheet, uint32_t row, uint32_t pad,
                       uint32_t room, struct nytp_out *out)
{
    const struct nytp_line_row *const line =
        &((const struct nytp_line_row *)sheet->context)[row];
    const struct nytp_source_line *const source =
        nytp_profile_source(sheet->profile, line->file, line->line);
    const uint32_t columns = sheet->options->columns;
    const uint32_t used = nytp_sheet_fixed(sheet) + 1; /* the last column stays free */
    const bool hot = line->self_ticks > sheet->profile->total.ticks / 100 * HOT_PERCENT;
    if (source == NULL || (room > 0 && columns <= used))
        return;
    nytp_text_pad(out, pad);
    nytp_text_style(out, sheet->options->color, hot ? NYTP_STYLE_HOT : NYTP_STYLE_PLAIN);
    nytp_text_put_source(out, source, true, room > 0 ? columns - used : 0);
    nytp_text_style(out, sheet->options->color, NYTP_STYLE_PLAIN);
}

/* Makes places as wide as the longest, at most half of the columns beside the numbers. */
static void fit_places(struct nytp_sheet *sheet)
{
    const uint32_t columns = sheet->options->columns;
    const uint32_t fixed = nytp_sheet_fixed(sheet) - 1;
    const uint32_t left = columns > fixed + MIN_SOURCE ? columns - fixed : MIN_SOURCE;
    nytp_sheet_fit(sheet, PLACE, columns > 0 ? left / 2 : UINT32_MAX);
    sheet->columns[PLACE].is_cut = columns > 0;
}

bool nytp_put_hot_lines(const struct nytp_profile *profile,
                        const struct nytp_export_options *options, uint32_t wanted,
                        struct nytp_out *out)
{
    struct nytp_line_rows rows = nytp_lines_of_all(profile);
    if (rows.rows == NULL)
        return nytp_out_of_memory(&out->error);
    drop_empty(&rows);
    nytp_lines_sort(&rows, nytp_profile_has(profile, NYTP_WEIGHT_TIME)
                               ? nytp_memory_named(options->sort)
                               : NYTP_WEIGHT_STATEMENTS);
    struct nytp_sheet sheet = nytp_sheet_of(profile, options, columns, SOURCE + 1);
    static const uint8_t shown[][7] = {
        [NYTP_MEMORY_NONE] = {SELF, SHARE, STATEMENTS, PLACE, SOURCE},
        [NYTP_MEMORY_SVS] = {SELF, SHARE, STATEMENTS, SVS, KEPT, PLACE, SOURCE},
        [NYTP_MEMORY_BLOCKS] = {SELF, SHARE, STATEMENTS, BLOCKS, BLOCKS_IN_USE, PLACE, SOURCE},
        [NYTP_MEMORY_SPACE] = {SELF, SHARE, STATEMENTS, SPACE, IN_USE, PLACE, SOURCE}};
    const enum nytp_memory_columns memory = nytp_text_memory_columns(profile, options->sort);
    nytp_sheet_show_only(&sheet, shown[memory], memory == NYTP_MEMORY_NONE ? 5 : 7);
    sheet.columns[STATEMENTS].title = nytp_text_stmts(profile);
    sheet.name = "lines";
    sheet.more = "more lines";
    sheet.context = rows.rows;
    sheet.n = rows.n;
    sheet.wanted = wanted;
    sheet.fill = fill;
    sheet.tail = put_source;
    sheet.short_places = true;
    fit_places(&sheet);
    if (!nytp_sheets_put(&sheet, 1, out))
        nytp_sheet_put_text(&sheet, out);
    free(rows.rows);
    return out->error.status == NYTP_OK;
}
