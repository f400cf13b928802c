/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The regular expressions with the most time, as a table for the terminal: what was matched
 * where, how often, how long, and a hint for improvement.
 */
#include "exporters/base/regex_rows.h"
#include "exporters/table/sheet.h"

#include <stdio.h>
#include <string.h>

#define NARROW 140 /* narrower terminals get only the most important columns */

enum {
    TIME,
    SHARE,
    CALLS,
    FOUND,
    MEAN,
    LONGEST,
    LONGEST_BYTES,
    OP,
    PLACE,
    PATTERN
};

static const struct nytp_column columns[] = {
    [TIME] = {"time", "time", NYTP_CELL_NS, 10, 10},
    [SHARE] = {"share", "%", NYTP_CELL_SHARE, 7, 7},
    [CALLS] = {"calls", "calls", NYTP_CELL_COUNT, 9, 9},
    [FOUND] = {"found", "found", NYTP_CELL_COUNT, 9},
    [MEAN] = {"mean", "mean", NYTP_CELL_NS, 11},
    [LONGEST] = {"longest", "longest", NYTP_CELL_NS, 11},
    [LONGEST_BYTES] = {"longest_bytes", "of bytes", NYTP_CELL_COUNT, 9},
    [OP] = {"op", "op", NYTP_CELL_WORD, 8, 8},
    [PLACE] = {"", "place", NYTP_CELL_PLACE, 33, 25, .is_cut = true},
    [PATTERN] = {"pattern", "pattern", NYTP_CELL_CODE},
};

static const struct nytp_regex_row *row_of(const struct nytp_sheet *sheet, uint32_t row)
{
    return &((const struct nytp_regex_rows *)sheet->context)->rows[row];
}

static void fill(const struct nytp_sheet *sheet, uint32_t row, struct nytp_cell *cells)
{
    const struct nytp_regex *const sums = &row_of(sheet, row)->sums;
    const bool is_compile = sums->kind == NYTP_REGEX_COMPILE;
    cells[TIME].value = cells[SHARE].value = (int64_t)sums->total_ns;
    cells[SHARE].of = nytp_total_ns(sheet->profile);
    cells[CALLS].value = (int64_t)sums->calls;
    cells[FOUND].value = (int64_t)(is_compile ? sums->compiled : sums->matches);
    cells[MEAN].value = (int64_t)(sums->calls > 0 ? sums->total_ns / sums->calls : 0);
    cells[LONGEST].value = (int64_t)sums->max_ns;
    cells[LONGEST_BYTES].value = (int64_t)sums->max_len;
    cells[OP].text = nytp_name_of_text(nytp_regex_kind_names[sums->kind]);
    cells[PLACE] = (struct nytp_cell){.file = sums->file, .line = sums->line};
    cells[PATTERN].text = sums->pattern;
}

static void put_pattern(const struct nytp_sheet *sheet, uint32_t index, uint32_t pad,
                        uint32_t room, struct nytp_out *out)
{
    const struct nytp_regex_row *const row = row_of(sheet, index);
    char more[40] = "";
    if (row->n_patterns > 1)
        snprintf(more, sizeof more, " and %llu more", (unsigned long long)row->n_patterns - 1);
    const uint32_t used = (uint32_t)strlen(more);
    nytp_text_pad(out, pad);
    nytp_text_put(out, row->sums.pattern, nytp_columns_left(room, used, 4));
    nytp_puts(out, more);
}

static void put_remark(const struct nytp_sheet *sheet, uint32_t row, struct nytp_out *out)
{
    char remark[100];
    nytp_regex_remark(row_of(sheet, row), remark);
    if (*remark == '\0')
        return;
    nytp_text_style(out, sheet->options->color, NYTP_STYLE_HOT);
    nytp_printf(out, "           ^ %s", remark);
    nytp_text_style(out, sheet->options->color, NYTP_STYLE_PLAIN);
    nytp_putc(out, '\n');
}

static bool write_patterns(const struct nytp_profile *profile,
                           const struct nytp_export_options *options, struct nytp_out *out)
{
    static const uint8_t of_samples[] = {TIME, SHARE, CALLS, OP, PLACE, PATTERN};
    struct nytp_regex_rows rows;
    struct nytp_sheet sheet = nytp_sheet_of(profile, options, columns, PATTERN + 1);
    if (!nytp_regex_rows_init(&rows, profile))
        nytp_out_of_memory(&out->error);
    sheet.name = "patterns";
    sheet.more = "more";
    sheet.is_narrow = options->columns > 0 && options->columns < NARROW;
    sheet.context = &rows;
    sheet.n = rows.n;
    sheet.fill = fill;
    sheet.tail = put_pattern;
    sheet.below = put_remark;
    if (profile->sampled) {
        nytp_sheet_show_only(&sheet, of_samples, sizeof of_samples);
        sheet.columns[CALLS].name = sheet.columns[CALLS].title = "samples";
    }
    if (!nytp_sheets_put(&sheet, 1, out)) {
        nytp_text_headline(out, profile, options);
        if (rows.n == 0)
            nytp_puts(out, "No regular expression was recorded; NYTPROF=regex=1 does that.\n");
        nytp_sheet_put_text(&sheet, out);
    }
    nytp_regex_rows_free(&rows);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_patterns = {
    .name = "patterns",
    .title =
        "regular expressions with the most time, in the terminal; of recordings with regex=1",
    .adds_processes = true,
    .write = write_patterns,
    .no_diff = "it has no runs to compare; use --top",
    .takes = "as",
    .refuses = "focus ignore show show-from no-wait",
    .options = NYTP_OPTIONS(
        NYTP_OWN_OPTION("patterns", ROWS, top, "[=N]",
                        "the N regular expressions with the most time, default 20; 0 is all")),
};
