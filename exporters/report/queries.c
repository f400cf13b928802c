/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The index's tables of database statements, if the recording has calls of DBI: requests, and
 * statements that are sent again and again. See report.h.
 */
#include "report.h"

#include "exporters/stacks/queries.h"

#define MOST 100 /* rows */

static const struct nytp_report_column request_columns[] = {
    {"n", "How often there was such a request", "Times", false},
    {"statements", "Statements that were sent", "Statements", false},
    {"most", "The most in one request", "Most", false},
    {"different", "Different ones, without their values", "Different", false},
    {"database", "Time in methods of DBI's handles", "Database", false},
    {"", "The database's share of the time", "%", false},
    {"time", "Time of all these requests", "Time", false},
    {"request", NULL, "Request", true},
};

static const struct nytp_report_column loop_columns[] = {
    {"calls", "How often it was sent", "Calls", false},
    {"most", "The most in one request", "Most", false},
    {"database", "Time of all these calls", "Database", false},
    {"statement", NULL, "Statement", true},
};

static void put_count(struct nytp_report *report, uint64_t count)
{
    nytp_printf(report->out, "<td>%llu", (unsigned long long)count);
}

static void put_share(struct nytp_report *report, int64_t part, int64_t whole)
{
    nytp_puts(report->out, "<td>");
    if (whole > 0)
        nytp_printf(report->out, "%.1f", 100 * (double)part / (double)whole);
}

/* The row for all that is outside of requests has no number and no total time. */
static void put_request(struct nytp_report *report, const struct nytp_queries *queries,
                        const struct nytp_request *request)
{
    const bool has_requests = queries->key.len > 0;
    const int64_t whole = request->n > 0 ? request->ticks
                          : has_requests ? 0
                                         : report->profile->total_ticks;
    nytp_report_put_label_part(report, queries->key, request->value);
    nytp_puts(report->out, "><td>");
    if (request->n > 0)
        nytp_put_u64(report->out, request->n);
    put_count(report, request->queries);
    put_count(report, request->most);
    put_count(report, request->texts);
    nytp_report_time_cell(report, request->database_ticks, true, 0);
    put_share(report, request->database_ticks, whole);
    nytp_report_time_cell(report, whole, false, 0);
    nytp_puts(report->out, "<td>");
    if (request->n > 0)
        nytp_html_text(report->out, request->value.ptr, request->value.len);
    else
        nytp_puts(report->out, has_requests ? "(no request)" : "(all)");
    nytp_putc(report->out, '\n');
}

static void put_place(struct nytp_report *report, uint32_t sub, uint32_t file, uint32_t line)
{
    nytp_report_put_sub(report, sub);
    nytp_puts(report->out, " at ");
    nytp_report_put_place(report, file, line);
}

/* Returns true if the flame graph can show it alone. */
static bool put_loop(struct nytp_report *report, const struct nytp_repeat *repeat)
{
    const bool is_part =
        nytp_report_put_label_part(report, nytp_name_of_text("sql"), repeat->text);
    nytp_putc(report->out, '>');
    put_count(report, repeat->calls);
    put_count(report, repeat->most);
    nytp_report_time_cell(report, repeat->ticks, true, 0);
    nytp_puts(report->out, "<td>");
    if (repeat->text.len > 0) {
        nytp_puts(report->out, "<code>");
        nytp_html_text(report->out, repeat->text.ptr, repeat->text.len);
        nytp_puts(report->out, "</code>");
    } else {
        nytp_puts(report->out, "(NYTPROF=sql=1 tells which)");
    }
    nytp_puts(report->out, " <small>sent by ");
    put_place(report, repeat->caller, repeat->file, repeat->line);
    nytp_puts(report->out, "; the loop is in ");
    put_place(report, repeat->loop_sub, repeat->loop_file, repeat->loop_line);
    if (repeat->request.len > 0) {
        nytp_puts(report->out, ", as in ");
        nytp_html_text(report->out, repeat->request.ptr, repeat->request.len);
    }
    nytp_puts(report->out, "</small>\n");
    return is_part;
}

static void put_more(struct nytp_report *report, uint32_t n)
{
    nytp_puts(report->out, "</table></div>\n");
    if (n > MOST)
        nytp_printf(report->out, "<p>%lu more: nytp export --sql=0 shows all.</p>\n",
                    (unsigned long)n - MOST);
}

void nytp_report_query_tables(struct nytp_report *report)
{
    struct nytp_queries queries;
    if (!nytp_queries_init(&queries, report->profile))
        nytp_out_of_memory(&report->out->error);
    if (queries.n > 0) {
        nytp_report_table_begin(report, "requests", "What requests ask of databases",
                                "database", request_columns,
                                sizeof request_columns / sizeof *request_columns);
        for (uint32_t i = 0; i < queries.n_requests && i < MOST; i++) {
            nytp_report_row_begin(report->out, i);
            put_request(report, &queries, &queries.requests[i]);
        }
        put_more(report, queries.n_requests);
    }
    if (queries.n_repeats > 0) {
        nytp_report_table_begin(report, "loops",
                                "Statements in a loop: one statement for all may do", "calls",
                                loop_columns, sizeof loop_columns / sizeof *loop_columns);
        bool are_parts = true;
        for (uint32_t i = 0; i < queries.n_repeats && i < MOST; i++) {
            nytp_report_row_begin(report->out, i);
            are_parts = put_loop(report, &queries.repeats[i]) && are_parts;
        }
        put_more(report, queries.n_repeats);
        if (!are_parts)
            nytp_report_put_part_bounds(report);
    }
    nytp_queries_free(&queries);
}
