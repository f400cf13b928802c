/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Lines summed up at the first line of their block or sub. The recording has the block and sub
 * of each statement. Later changes of a line's time (recording cost, a selection) are divided
 * among them in proportion. See report.h.
 */
#include "report.h"

#include "formats/base/wide.h"

#include <stdlib.h>
#include <string.h>

/* Returns sum * part / whole, so that differences of consecutive results add up to `sum`. */
static int64_t share(int64_t sum, uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : nytp_mul_div_signed(sum, (int64_t)part, (int64_t)whole);
}

/* Makes rows for the `n` blocks of one line, at their first lines. */
static void share_out(const struct nytp_line_row *line, const struct nytp_block *blocks,
                      uint32_t n, enum nytp_level level, struct nytp_line_rows *rows)
{
    uint64_t ticks = 0, statements = 0, ticks_before = 0, statements_before = 0;
    for (uint32_t i = 0; i < n; i++) {
        ticks += (uint64_t)blocks[i].ticks;
        statements += blocks[i].statements;
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t t = ticks_before + (uint64_t)blocks[i].ticks;
        const uint64_t s = statements_before + blocks[i].statements;
        struct nytp_line_row row = {
            .file = line->file,
            .line = level == NYTP_LEVEL_BLOCK ? blocks[i].block_line : blocks[i].sub_line,
            .statements =
                (uint64_t)(share((int64_t)line->statements, s, statements) -
                           share((int64_t)line->statements, statements_before, statements)),
            .self_ticks = share(line->self_ticks, t, ticks) -
                          share(line->self_ticks, ticks_before, ticks),
        };
        if (ticks == 0 && i == 0) /* no times to share it by */
            row.self_ticks = line->self_ticks;
        rows->rows[rows->n++] = row;
        ticks_before = t;
        statements_before = s;
    }
}

struct nytp_line_rows nytp_report_rows(const struct nytp_report *report, uint32_t f,
                                       enum nytp_level level)
{
    const struct nytp_report_file *file = &report->files[f];
    const uint32_t n_lines = file->of[NYTP_REPORT_ROWS].n;
    const struct nytp_line_row *lines = report->lines.rows + file->of[NYTP_REPORT_ROWS].first;
    if (level == NYTP_LEVEL_LINE)
        return (struct nytp_line_rows){report->lines.rows + file->of[NYTP_REPORT_ROWS].first,
                                       n_lines};
    const struct nytp_block *blocks = report->profile->blocks + file->blocks.first;
    struct nytp_line_rows rows = {
        malloc(((size_t)file->blocks.n + n_lines + 1) * sizeof *rows.rows), 0};
    for (uint32_t i = 0, b = 0; rows.rows != NULL && i < n_lines; i++) {
        while (b < file->blocks.n && blocks[b].line < lines[i].line)
            b++;
        uint32_t n = 0;
        while (b + n < file->blocks.n && blocks[b + n].line == lines[i].line)
            n++;
        if (n > 0)
            share_out(&lines[i], blocks + b, n, level, &rows);
        else
            rows.rows[rows.n++] = lines[i];
    }
    if (rows.rows != NULL)
        nytp_lines_sum(&rows);
    return rows;
}
