/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Differences of lines from a base (--diff), for the margin of source pages; see report.h.
 *
 * Lines are matched as in compare/diff_lines.h, by their distance from the first line of their
 * sub that ran. A line that ran only in the base is placed by the same rule, and not at all if
 * nothing of its sub ran.
 */
#include "report.h"

#include "exporters/compare/diff_formats.h"
#include "exporters/compare/diff_lines.h"
#include "formats/base/bisect.h"
#include "formats/base/table.h"

#include <stdlib.h>

static int by_place(const void *x, const void *y)
{
    const struct nytp_report_change *a = x, *b = y;
    NYTP_RETURN_ORDER(a->file, b->file);
    return (a->line > b->line) - (a->line < b->line);
}

/* Equal names of one profile are at the same address. */
static struct nytp_key key_of(struct nytp_name name)
{
    const uint64_t at = (uint64_t)(uintptr_t)name.ptr;
    return (struct nytp_key){.a = (uint32_t)at, .b = (uint32_t)(at >> 32)};
}

static bool index_names(const struct nytp_report *report, struct nytp_table *by_name)
{
    bool ok = true;
    for (uint32_t f = report->profile->n_files; ok && f-- > 1;)
        if (report->files[f].merged_into == NYTP_REPORT_NONE)
            ok = nytp_table_put(by_name, key_of(report->profile->files[f].name), f);
    return ok;
}

static bool ran(const struct nytp_diff_line *line, enum nytp_diff_side side)
{
    return line->mean[side].statements != 0 || line->mean[side].ticks != 0;
}

/* Returns the line number of offset 0 in the new side, or 0 if no line of the row ran there. */
static uint32_t first_line(const struct nytp_diff_lines *lines, uint32_t row)
{
    for (uint32_t i = lines->first[row]; i < lines->first[row + 1]; i++)
        if (ran(&lines->lines[i], NYTP_DIFF_NEW))
            return lines->lines[i].line - lines->lines[i].offset;
    return 0;
}

static void add_row(struct nytp_report *report, const struct nytp_table *by_name,
                    const struct nytp_diff_lines *lines, uint32_t row)
{
    const uint32_t first = first_line(lines, row);
    const uint32_t file =
        nytp_table_get(by_name, key_of(report->options->report.diff->rows[row].file));
    const bool placed = first != 0 && file != NYTP_TABLE_NONE;
    for (uint32_t i = lines->first[row]; placed && i < lines->first[row + 1]; i++) {
        struct nytp_report_change *change = &report->changes[report->n_changes++];
        *change =
            (struct nytp_report_change){.file = file, .line = first + lines->lines[i].offset};
        for (int side = 0; side < NYTP_DIFF_SIDES; side++) {
            change->statements[side] = lines->lines[i].mean[side].statements;
            change->ticks[side] = lines->lines[i].mean[side].ticks;
        }
    }
}

bool nytp_report_index_changes(struct nytp_report *report)
{
    const struct nytp_diff *diff = report->options->report.diff;
    struct nytp_diff_lines lines;
    if (diff == NULL || !diff->base_has_times)
        return true;
    struct nytp_table by_name = {0};
    bool ok = nytp_diff_lines_init(&lines, diff) && index_names(report, &by_name);
    report->changes = ok ? calloc((size_t)lines.n + 1, sizeof *report->changes) : NULL;
    ok = report->changes != NULL;
    for (uint32_t row = 0; ok && row < diff->n_rows; row++)
        add_row(report, &by_name, &lines, row);
    if (ok)
        qsort(report->changes, report->n_changes, sizeof *report->changes, by_place);
    nytp_diff_lines_free(&lines);
    nytp_table_free(&by_name);
    return ok;
}

static uint32_t first_at(const struct nytp_report *report, uint32_t file, uint32_t line)
{
    const struct nytp_report_change wanted = {.file = file, .line = line};
    uint32_t low = 0;
    NYTP_BISECT(low, report->n_changes, middle,
                by_place(&report->changes[middle], &wanted) < 0);
    return low;
}

struct nytp_report_change nytp_report_change_at(const struct nytp_report *report, uint32_t file,
                                                uint32_t line)
{
    struct nytp_report_change sum = {.file = file, .line = line};
    for (uint32_t i = first_at(report, file, line);
         i < report->n_changes && by_place(&report->changes[i], &sum) == 0; i++)
        for (int side = 0; side < NYTP_DIFF_SIDES; side++) {
            sum.statements[side] += report->changes[i].statements[side];
            sum.ticks[side] += report->changes[i].ticks[side];
        }
    return sum;
}

int64_t nytp_report_more_statements(const struct nytp_report_change *change)
{
    return change->statements[NYTP_DIFF_NEW] - change->statements[NYTP_DIFF_BASE];
}

void nytp_report_put_change(struct nytp_report *report, const struct nytp_report_change *change)
{
    const int64_t more = nytp_report_more_statements(change);
    char time[40];
    if (more == 0) {
        nytp_puts(report->out, "<td>");
        return;
    }
    nytp_diff_time(report->options->report.diff,
                   change->ticks[NYTP_DIFF_NEW] - change->ticks[NYTP_DIFF_BASE], true, time,
                   sizeof time);
    nytp_printf(report->out, "<td class=%s title=\"%lld before, %lld now; time %s\">%+lld",
                more > 0 ? "grew" : "shrank", (long long)change->statements[NYTP_DIFF_BASE],
                (long long)change->statements[NYTP_DIFF_NEW], time, (long long)more);
}
