/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The index's table of regular expressions, if recorded. See report.h.
 */
#include "report.h"

#include "exporters/base/regex_rows.h"

#define MOST 30 /* rows */

static const struct nytp_report_column columns[] = {
    {"time", "Time of all calls", "Time", false},
    {"calls", "Matches that were tried, or compilations that were asked for", "Calls", false},
    {"found", "Calls that found something, or that compiled", "Found", false},
    {"mean", "Mean time of a call", "Mean", false},
    {"longest", "Time of the longest call", "Longest", false},
    {"bytes", "Bytes that the longest call searched", "Of bytes", false},
    {"op", NULL, "Operation", true},
    {"place", NULL, "Place", true},
    {"pattern", NULL, "Pattern", true},
};

static const struct nytp_report_column sampled_columns[] = {
    {"time", "Time of all samples", "Time", false},
    {"samples", "Samples that were taken while it ran", "Samples", false},
    {"op", NULL, "Operation", true},
    {"place", NULL, "Place", true},
    {"pattern", NULL, "Pattern", true},
};

static void put_ns(struct nytp_report *report, uint64_t ns)
{
    nytp_printf(report->out, "<td data-n=%llu>", (unsigned long long)ns);
    nytp_report_put_seconds(report, report->out, (double)ns / NYTP_NS_PER_SEC);
}

static void put_count(struct nytp_report *report, uint64_t count)
{
    nytp_printf(report->out, "<td>%llu", (unsigned long long)count);
}

static void put_pattern(struct nytp_report *report, const struct nytp_regex_row *row)
{
    char remark[100];
    nytp_regex_remark(row, remark);
    nytp_puts(report->out, "<td><code>");
    nytp_html_text(report->out, row->sums.pattern.ptr, row->sums.pattern.len);
    nytp_puts(report->out, "</code>");
    if (row->n_patterns > 1)
        nytp_printf(report->out, " and %llu more", (unsigned long long)row->n_patterns - 1);
    if (*remark != '\0')
        nytp_printf(report->out, " <small>%s</small>", remark);
    nytp_putc(report->out, '\n');
}

static void put_calls(struct nytp_report *report, const struct nytp_regex *sums)
{
    put_count(report, sums->kind == NYTP_REGEX_COMPILE ? sums->compiled : sums->matches);
    put_ns(report, sums->calls > 0 ? sums->total_ns / sums->calls : 0);
    put_ns(report, sums->max_ns);
    put_count(report, sums->max_len);
}

static void put_row(struct nytp_report *report, const struct nytp_regex_row *row)
{
    const struct nytp_regex *const sums = &row->sums;
    nytp_putc(report->out, '>');
    put_ns(report, sums->total_ns);
    put_count(report, sums->calls);
    if (!report->profile->sampled)
        put_calls(report, sums);
    nytp_printf(report->out, "<td>%s", nytp_regex_kind_names[sums->kind]);
    nytp_puts(report->out, "<td>");
    nytp_report_put_place(report, sums->file, sums->line);
    put_pattern(report, row);
}

void nytp_report_regex_table(struct nytp_report *report)
{
    struct nytp_regex_rows rows;
    if (report->profile->n_regexes == 0)
        return;
    if (!nytp_regex_rows_init(&rows, report->profile))
        nytp_out_of_memory(&report->out->error);
    if (rows.n > 0) {
        nytp_report_table_begin(
            report, "regexes", "Regular expressions with most time, of the whole recording",
            "time", report->profile->sampled ? sampled_columns : columns,
            report->profile->sampled ? sizeof sampled_columns / sizeof *sampled_columns
                                     : sizeof columns / sizeof *columns);
        for (uint32_t i = 0; i < rows.n && i < MOST; i++) {
            nytp_report_row_begin(report->out, i);
            put_row(report, &rows.rows[i]);
        }
        nytp_puts(report->out, "</table></div>\n");
    }
    nytp_regex_rows_free(&rows);
}
