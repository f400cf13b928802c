/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Comma-separated values, one row per sub, for spreadsheets and databases: RFC 4180, but with
 * lines that end in LF. The program comes first, then subs by name and file. A comparison with
 * the option `lines` has one row per line of each sub.
 */
#include "exporters/compare/diff_amounts.h"
#include "exporters/compare/diff_formats.h"
#include "exporters/compare/diff_lines.h"
#include "exporters/base/exporter.h"
#include "exporters/base/json.h"
#include "exporters/base/text.h"
#include "exporters/stacks/sub_rows.h"

static bool write_csv(const struct nytp_profile *profile,
                      const struct nytp_export_options *options, struct nytp_out *out)
{
    struct nytp_sub_rows rows;
    struct nytp_sheet *const sheet = &rows.sheet;
    if (!nytp_sub_rows_init(&rows, profile, options))
        nytp_out_of_memory(&out->error);
    sheet->columns[NYTP_SUB_STATEMENTS].name = nytp_text_counted(profile) == NYTP_COUNTED_BOTH
                                                   ? "statements_and_samples"
                                                   : nytp_text_statements(profile);
    nytp_sheet_show(sheet, NYTP_SUB_NAME, true);
    nytp_sheet_show(sheet, NYTP_SUB_PLACE, true);
    nytp_sheet_show(sheet, NYTP_SUB_CALLS, true);
    nytp_sheet_show(sheet, NYTP_SUB_STATEMENTS, true);
    nytp_sheet_show(sheet, NYTP_SUB_SELF, true);
    nytp_sheet_show(sheet, NYTP_SUB_INCL, true);
    nytp_sheet_show(sheet, NYTP_SUB_CPU, profile->sampled);
    for (int w = NYTP_MEMORY_FIRST; w < NYTP_MEMORY_END; w++) {
        const bool has = nytp_profile_has(profile, (enum nytp_weight)w);
        nytp_sheet_show(sheet, nytp_sub_column_of(w), has);
        nytp_sheet_show(sheet, nytp_sub_column_of(w) + 1, has);
        nytp_sheet_show(sheet, NYTP_SUB_OPS, !profile->sampled && w == NYTP_WEIGHT_SVS);
    }
    if (out->error.status == NYTP_OK)
        nytp_sheet_put_csv(sheet, out);
    nytp_sub_rows_free(&rows);
    return out->error.status == NYTP_OK;
}

/* ---- comparisons ---- */

enum {
    SUB,
    FILE_NAME,
    LINE,
    STATUS,
    CALLS,
    STATEMENTS,
    SELF,
    INCL,
    P,
    SIGNIFICANT,
    MEMORY, /* and the others of memory */
    KIND = MEMORY + NYTP_MEMORY_END - NYTP_MEMORY_FIRST,
    NAME,
    AMOUNT,
    N_COLUMNS
};

static const struct nytp_column columns[N_COLUMNS] = {
    [SUB] = {"sub", .kind = NYTP_CELL_CODE},
    [FILE_NAME] = {"file", .kind = NYTP_CELL_CODE},
    [LINE] = {"line"},
    [STATUS] = {"status", .kind = NYTP_CELL_WORD},
    [CALLS] = {"calls", .differs = true},
    [STATEMENTS] = {"statements", .differs = true},
    [SELF] = {"exclusive", .kind = NYTP_CELL_TICKS, .differs = true},
    [INCL] = {"inclusive", .kind = NYTP_CELL_TICKS, .differs = true},
    [P] = {"p", .kind = NYTP_CELL_WORD},
    [SIGNIFICANT] = {"significant"},
    [KIND] = {"kind", .kind = NYTP_CELL_WORD},
    [NAME] = {"name", .kind = NYTP_CELL_CODE},
    [AMOUNT] = {"", .differs = true},
};

struct difference {
    const struct nytp_diff *diff;
    struct nytp_diff_amounts amounts;
    struct nytp_diff_lines lines;
    char *p; /* of the row that is filled in */
};

static void set_pair(struct nytp_cell *cell, int64_t base, int64_t now)
{
    *cell = (struct nytp_cell){.value = base, .of = now};
}

static void fill_values(const struct nytp_diff *diff, const struct nytp_diff_cell sides[],
                        struct nytp_cell *cells)
{
    const struct nytp_diff_cell *const base = &sides[NYTP_DIFF_BASE];
    const struct nytp_diff_cell *const now = &sides[NYTP_DIFF_NEW];
    set_pair(&cells[CALLS], base->calls, now->calls);
    set_pair(&cells[STATEMENTS], base->statements, now->statements);
    set_pair(&cells[SELF], base->ticks, now->ticks);
    set_pair(&cells[INCL], base->incl_ticks, now->incl_ticks);
    cells[SELF].is_none = cells[INCL].is_none = !diff->base_has_times;
    cells[SELF].of_is_none = cells[INCL].of_is_none = !diff->has_times;
    for (int w = NYTP_MEMORY_FIRST; w < NYTP_MEMORY_END; w++) {
        struct nytp_cell *const cell = &cells[MEMORY + w - NYTP_MEMORY_FIRST];
        set_pair(cell, nytp_diff_value(base, w), nytp_diff_value(now, w));
        cell->is_none = !nytp_diff_side_has(diff, NYTP_DIFF_BASE, w);
        cell->of_is_none = !nytp_diff_side_has(diff, NYTP_DIFF_NEW, w);
    }
}

/* An amount is a row without a sub, so that columns of subs still add up. */
static void fill_row(const struct nytp_sheet *sheet, uint32_t at, struct nytp_cell *cells)
{
    const struct difference *const d = sheet->context;
    for (int i = 0; i < N_COLUMNS; i++)
        cells[i].is_none = cells[i].of_is_none = true;
    if (at >= d->diff->n_rows) {
        const struct nytp_diff_amount *const amount = &d->amounts.list[at - d->diff->n_rows];
        cells[KIND].text = nytp_name_of_text(nytp_diff_amount_names[amount->kind]);
        cells[NAME].text = amount->name;
        set_pair(&cells[AMOUNT], amount->median[NYTP_DIFF_BASE], amount->median[NYTP_DIFF_NEW]);
        cells[AMOUNT].kind = amount->kind == NYTP_DIFF_WAIT ? NYTP_CELL_TICKS : 0;
        return;
    }
    const struct nytp_diff_row *const row = &d->diff->rows[at];
    fill_values(d->diff, row->median, cells);
    cells[SUB].text = row->name;
    cells[FILE_NAME].text = row->shown_file;
    cells[LINE] = (struct nytp_cell){.value = row->line};
    cells[STATUS].text = nytp_name_of_text(nytp_diff_status_names[row->status]);
    cells[SIGNIFICANT] = (struct nytp_cell){.value = row->significant};
    if (row->p >= 0)
        cells[P].text = nytp_name_of_text(nytp_double_text(row->p, d->p));
}

static void fill_line(const struct nytp_sheet *sheet, uint32_t at, struct nytp_cell *cells)
{
    const struct difference *const d = sheet->context;
    const struct nytp_diff_line *const line = &d->lines.lines[at];
    fill_values(d->diff, line->mean, cells);
    cells[SUB].text = d->diff->rows[line->row].name;
    cells[FILE_NAME].text = d->diff->rows[line->row].file;
    cells[LINE].value = line->line;
}

static bool write_csv_diff(const struct nytp_diff *diff,
                           const struct nytp_export_options *options, struct nytp_out *out)
{
    static const uint8_t of_lines[] = {SUB, FILE_NAME, LINE, STATEMENTS, SELF};
    char p[NYTP_DOUBLE_TEXT];
    struct difference d = {.diff = diff, .p = p};
    const bool by_line = options->lines && diff->counts == NULL;
    struct nytp_sheet sheet = nytp_sheet_of(diff->profile, options, columns, MEMORY);
    if (!(by_line ? nytp_diff_lines_init(&d.lines, diff)
                  : nytp_diff_amounts_init(&d.amounts, diff)))
        nytp_out_of_memory(&out->error);
    memcpy(sheet.columns, columns, sizeof columns);
    sheet.context = &d;
    sheet.fill = by_line ? fill_line : fill_row;
    sheet.n = by_line ? d.lines.n : diff->n_rows + d.amounts.n;
    if (by_line)
        nytp_sheet_show_only(&sheet, of_lines, sizeof of_lines);
    for (int w = NYTP_MEMORY_FIRST; w < NYTP_MEMORY_END; w++) {
        const int column = MEMORY + w - NYTP_MEMORY_FIRST;
        sheet.columns[column] = (struct nytp_column){nytp_measures[w].name, .differs = true};
        nytp_sheet_show(&sheet, column,
                        nytp_diff_side_has(diff, NYTP_DIFF_BASE, w) ||
                            nytp_diff_side_has(diff, NYTP_DIFF_NEW, w));
    }
    for (int column = KIND; column < N_COLUMNS; column++)
        nytp_sheet_show(&sheet, column, d.amounts.n > 0);
    if (out->error.status == NYTP_OK)
        nytp_sheet_put_csv(&sheet, out);
    nytp_diff_lines_free(&d.lines);
    nytp_diff_amounts_free(&d.amounts);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_csv = {
    .name = "csv",
    .title = "one row per sub, for spreadsheets and databases",
    .suffixes = ".csv",
    .shows_counts = true,
    .needs = NYTP_HAS_STATEMENTS | NYTP_HAS_ARCS,
    .write = write_csv,
    .write_diff = write_csv_diff,
    .takes = "unit",
    .takes_diff = "lines unit",
};
