/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The index's table of waits of a sampled program, if recorded. See report.h.
 */
#include "report.h"

#include "exporters/base/regex_rows.h"
#include "exporters/base/wait_rows.h"
#include "formats/base/wide.h"

#define MOST 100 /* rows */

static const struct nytp_report_column columns[] = {
    {"time", "Time of waiting", "Time", false},
    {"", "Its share of all time", "%", false},
    {"samples", "Samples that saw it waiting", "Samples", false},
    {"for", NULL, "For", true},
};

static void put_row(struct nytp_report *report, const struct nytp_waited *row, int64_t all_ns)
{
    struct nytp_out *const out = report->out;
    nytp_printf(out, "><td data-n=%lld>", (long long)row->ns);
    nytp_report_put_seconds(report, out, (double)row->ns / NYTP_NS_PER_SEC);
    nytp_printf(out, "<td>%.1f<td>%llu<td>%s ",
                all_ns > 0 ? 100 * (double)row->ns / (double)all_ns : 0,
                (unsigned long long)row->samples, nytp_wait_reason_name(row->reason));
    nytp_html_text(out, row->peer.ptr, row->peer.len);
    nytp_puts(out, " <small>at ");
    nytp_report_put_place(report, row->file, row->line);
    nytp_puts(out, "</small>\n");
}

void nytp_report_reason_table(struct nytp_report *report)
{
    struct nytp_wait_rows rows;
    if (!nytp_wait_rows_init(&rows, report->profile, NULL))
        nytp_out_of_memory(&report->out->error);
    /* rows include waits for other processes; the total does not any more */
    const int64_t all_ns = nytp_total_ns(report->profile) +
                           nytp_mul_div_signed(report->options->child_wait_ticks,
                                               NYTP_NS_PER_SEC, report->profile->ticks_per_sec);
    if (rows.known_ns > 0) {
        nytp_report_table_begin(report, "reasons loops",
                                "What was waited for, of the whole recording", "time", columns,
                                sizeof columns / sizeof *columns);
        for (uint32_t i = 0; i < rows.n && i < MOST; i++) {
            nytp_report_row_begin(report->out, i);
            put_row(report, &rows.rows[i], all_ns);
        }
        nytp_puts(report->out, "</table></div>\n");
        if (rows.n > MOST)
            nytp_printf(report->out, "<p>%lu more: nytp export --waits=0 shows all.</p>\n",
                        (unsigned long)rows.n - MOST);
    }
    nytp_wait_rows_free(&rows);
}
