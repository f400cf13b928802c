/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Comma-separated values, one row per sub, for spreadsheets and databases: RFC 4180, but with
 * lines that end in LF. The program comes first, then subs by name and file. A comparison with
 * the option `lines` has one row per line of each sub.
 */
#include "exporters/compare/diff_amounts.h"
#include "exporters/compare/diff_formats.h"
#include "exporters/compare/diff_lines.h"
#include "exporters/base/csv_field.h"
#include "exporters/base/exporter.h"
#include "exporters/base/json.h"
#include "exporters/base/text.h"
#include "exporters/stacks/sub_rows.h"

static void put_number(struct nytp_out *out, int64_t value)
{
    nytp_putc(out, ',');
    nytp_put_i64(out, value);
}

static void put_time(struct nytp_out *out, const struct nytp_json_times *times, int64_t ticks)
{
    nytp_putc(out, ',');
    nytp_json_time(out, times, ticks);
}

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

static void put_pair(struct nytp_out *out, int64_t base, int64_t now)
{
    put_number(out, base);
    put_number(out, now);
}

static void put_time_pair(struct nytp_out *out, const struct nytp_diff *diff,
                          const struct nytp_json_times *times, int64_t base, int64_t now)
{
    if (diff->base_has_times)
        put_time(out, times, base);
    else
        nytp_putc(out, ',');
    put_time(out, times, now);
}

static bool is_column(const struct nytp_diff *diff, enum nytp_weight weight)
{
    return nytp_diff_side_has(diff, NYTP_DIFF_BASE, weight) ||
           nytp_diff_side_has(diff, NYTP_DIFF_NEW, weight);
}

static void put_memory_names(const struct nytp_diff *diff, struct nytp_out *out)
{
    for (int weight = NYTP_MEMORY_FIRST; weight < NYTP_MEMORY_END; weight++)
        if (is_column(diff, weight))
            nytp_printf(out, ",base_%s,new_%s", nytp_measures[weight].name,
                        nytp_measures[weight].name);
}

/* `cells` has both sides, or is NULL for empty fields. */
static void put_memory(const struct nytp_diff *diff, const struct nytp_diff_cell *cells,
                       struct nytp_out *out)
{
    for (int weight = NYTP_MEMORY_FIRST; weight < NYTP_MEMORY_END; weight++)
        for (int side = 0; is_column(diff, weight) && side < NYTP_DIFF_SIDES; side++) {
            nytp_putc(out, ',');
            if (cells != NULL && nytp_diff_side_has(diff, side, weight))
                nytp_put_i64(out, nytp_diff_value(&cells[side], weight));
        }
}

static void put_diff_row(const struct nytp_diff *diff, const struct nytp_diff_row *row,
                         const struct nytp_json_times *times, struct nytp_out *out)
{
    const struct nytp_diff_cell *base = &row->median[NYTP_DIFF_BASE];
    const struct nytp_diff_cell *now = &row->median[NYTP_DIFF_NEW];
    nytp_csv_field(out, row->name);
    nytp_putc(out, ',');
    nytp_csv_field(out, row->shown_file);
    put_number(out, row->line);
    nytp_printf(out, ",%s", nytp_diff_status_names[row->status]);
    put_pair(out, base->calls, now->calls);
    put_pair(out, base->statements, now->statements);
    put_time_pair(out, diff, times, base->ticks, now->ticks);
    put_time_pair(out, diff, times, base->incl_ticks, now->incl_ticks);
    nytp_putc(out, ',');
    if (row->p >= 0)
        nytp_json_double(out, row->p);
    nytp_printf(out, ",%d", row->significant);
    put_memory(diff, row->median, out);
}

static void put_diff_line(const struct nytp_diff *diff, const struct nytp_diff_line *line,
                          const struct nytp_json_times *times, struct nytp_out *out)
{
    const struct nytp_diff_row *row = &diff->rows[line->row];
    const struct nytp_diff_cell *base = &line->mean[NYTP_DIFF_BASE];
    const struct nytp_diff_cell *now = &line->mean[NYTP_DIFF_NEW];
    nytp_csv_field(out, row->name);
    nytp_putc(out, ',');
    nytp_csv_field(out, row->file);
    put_number(out, line->line);
    put_pair(out, base->statements, now->statements);
    put_time_pair(out, diff, times, base->ticks, now->ticks);
    put_memory(diff, line->mean, out);
    nytp_putc(out, '\n');
}

static bool write_csv_diff_lines(const struct nytp_diff *diff, const struct nytp_unit *unit,
                                 const struct nytp_json_times *times, struct nytp_out *out)
{
    struct nytp_diff_lines lines;
    if (nytp_diff_lines_init(&lines, diff)) {
        nytp_printf(out,
                    "sub,file,line,base_statements,new_statements,base_exclusive_%s,"
                    "new_exclusive_%s",
                    unit->name, unit->name);
        put_memory_names(diff, out);
        nytp_putc(out, '\n');
        for (uint32_t i = 0; i < lines.n; i++)
            put_diff_line(diff, &lines.lines[i], times, out);
    } else {
        nytp_out_of_memory(&out->error);
    }
    nytp_diff_lines_free(&lines);
    return out->error.status == NYTP_OK;
}

/* Writes a row without a sub, so that columns of subs still add up. */
static void put_amount(const struct nytp_diff *diff, const struct nytp_diff_amount *amount,
                       const struct nytp_json_times *times, struct nytp_out *out)
{
    nytp_puts(out, ",,,,,,,,,,,,,"); /* the 14 columns up to `significant` */
    put_memory(diff, NULL, out);
    nytp_printf(out, ",%s,", nytp_diff_amount_names[amount->kind]);
    nytp_csv_field(out, amount->name);
    for (int side = 0; side < NYTP_DIFF_SIDES; side++)
        if (amount->kind == NYTP_DIFF_WAIT)
            put_time(out, times, amount->median[side]);
        else
            put_number(out, amount->median[side]);
    nytp_putc(out, '\n');
}

static bool write_csv_diff(const struct nytp_diff *diff,
                           const struct nytp_export_options *options, struct nytp_out *out)
{
    const struct nytp_unit *unit = options->unit != NULL ? options->unit : nytp_unit_find("ns");
    struct nytp_json_times times;
    nytp_json_times_init(&times, unit, diff->ticks_per_sec);
    if (options->lines && diff->base_has_times)
        return write_csv_diff_lines(diff, unit, &times, out);
    struct nytp_diff_amounts amounts;
    if (!nytp_diff_amounts_init(&amounts, diff))
        nytp_out_of_memory(&out->error);
    nytp_printf(out,
                "sub,file,line,status,base_calls,new_calls,base_statements,new_statements,"
                "base_exclusive_%s,new_exclusive_%s,base_inclusive_%s,new_inclusive_%s,p,"
                "significant",
                unit->name, unit->name, unit->name, unit->name);
    put_memory_names(diff, out);
    nytp_puts(out, amounts.n > 0 ? ",kind,name,base,new\n" : "\n");
    for (uint32_t i = 0; i < diff->n_rows; i++) {
        put_diff_row(diff, &diff->rows[i], &times, out);
        nytp_puts(out, amounts.n > 0 ? ",,,,\n" : "\n");
    }
    for (uint32_t i = 0; i < amounts.n; i++)
        put_amount(diff, &amounts.list[i], &times, out);
    nytp_diff_amounts_free(&amounts);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_csv = {
    .name = "csv",
    .title = "one row per sub, for spreadsheets and databases",
    .suffixes = ".csv",
    .needs = NYTP_HAS_STATEMENTS | NYTP_HAS_ARCS,
    .write = write_csv,
    .write_diff = write_csv_diff,
    .takes = "unit",
    .takes_diff = "lines unit",
};
