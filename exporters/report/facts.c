/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The index's tables of facts that a recording may have: database statements (requests, and
 * statements that are sent again and again), regular expressions, waits of a sampled program.
 * See report.h.
 */
#include "report.h"

#include "exporters/base/regex_rows.h"
#include "exporters/base/wait_rows.h"
#include "exporters/stacks/queries.h"
#include "formats/base/wide.h"

#define MOST         100 /* rows */
#define MOST_REGEXES 30

/* ---- database statements ---- */

static const struct nytp_report_column request_columns[] = {
    {"n", "How often there was such a request", "Times", .is_text = false},
    {"statements", "Statements that were sent", "Statements", .is_text = false},
    {"most", "The most in one request", "Most", .is_text = false},
    {"different", "Different ones, without their values", "Different", .is_text = false},
    {"database", "Time in methods of DBI's handles", "Database", .is_text = false},
    {"", "The database's share of the time", "%", .is_text = false},
    {"time", "Time of all these requests", "Time", .is_text = false},
    {"request", NULL, "Request", .is_text = true},
};

static const struct nytp_report_column loop_columns[] = {
    {"calls", "How often it was sent", "Calls", .is_text = false},
    {"most", "The most in one request", "Most", .is_text = false},
    {"database", "Time of all these calls", "Database", .is_text = false},
    {"statement", NULL, "Statement", .is_text = true},
};

/* The row for all that is outside of requests has no number and no total time. */
static void put_request(struct nytp_report *report, void *context, uint32_t row)
{
    const struct nytp_queries *const queries = context;
    const struct nytp_request *const request = &queries->requests[row];
    const bool has_requests = queries->key.len > 0;
    const int64_t whole = request->n > 0 ? request->ticks
                          : has_requests ? 0
                                         : report->profile->total.ticks;
    nytp_report_put_label_part(report, queries->key, request->value);
    nytp_puts(report->out, "><td>");
    if (request->n > 0)
        nytp_put_u64(report->out, request->n);
    nytp_report_count_cell(report, request->queries);
    nytp_report_count_cell(report, request->most);
    nytp_report_count_cell(report, request->texts);
    nytp_report_time_cell(report, request->database_ticks, true, 0);
    nytp_report_share_cell(report, request->database_ticks, whole);
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

struct loops {
    const struct nytp_repeat *repeats;
    bool are_parts; /* the flame graph can show each alone */
};

static void put_loop(struct nytp_report *report, void *context, uint32_t row)
{
    struct loops *const loops = context;
    const struct nytp_repeat *const repeat = &loops->repeats[row];
    if (!nytp_report_put_label_part(report, nytp_name_of_text("sql"), repeat->text))
        loops->are_parts = false;
    nytp_putc(report->out, '>');
    nytp_report_count_cell(report, repeat->calls);
    nytp_report_count_cell(report, repeat->most);
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
}

void nytp_report_query_tables(struct nytp_report *report)
{
    static const struct nytp_report_table request_table = {"requests",
                                                           "What requests ask of databases",
                                                           "database",
                                                           NYTP_REPORT_COLUMNS(request_columns),
                                                           .put_row = put_request,
                                                           .most = MOST,
                                                           .more = "--sql=0"};
    static const struct nytp_report_table loop_table = {
        "loops",
        "Statements in a loop: one statement for all may do",
        "calls",
        NYTP_REPORT_COLUMNS(loop_columns),
        .put_row = put_loop,
        .most = MOST,
        .more = "--sql=0"};
    struct nytp_queries queries;
    if (!nytp_queries_init(&queries, report->profile))
        nytp_out_of_memory(&report->out->error);
    struct loops loops = {queries.repeats, true};
    if (queries.n > 0)
        nytp_report_put_table(report, &request_table, queries.n_requests, &queries);
    if (queries.n_repeats > 0)
        nytp_report_put_table(report, &loop_table, queries.n_repeats, &loops);
    if (!loops.are_parts)
        nytp_report_put_part_bounds(report);
    nytp_queries_free(&queries);
}

/* ---- regular expressions ---- */

static const struct nytp_report_column regex_columns[] = {
    {"time", "Time of all calls", "Time", .is_text = false},
    {"calls", "Matches that were tried, or compilations that were asked for", "Calls",
     .is_text = false},
    {"found", "Calls that found something, or that compiled", "Found", .is_text = false},
    {"mean", "Mean time of a call", "Mean", .is_text = false},
    {"longest", "Time of the longest call", "Longest", .is_text = false},
    {"bytes", "Bytes that the longest call searched", "Of bytes", .is_text = false},
    {"op", NULL, "Operation", .is_text = true},
    {"place", NULL, "Place", .is_text = true},
    {"pattern", NULL, "Pattern", .is_text = true},
};

static const struct nytp_report_column sampled_regex_columns[] = {
    {"time", "Time of all samples", "Time", .is_text = false},
    {"samples", "Samples that were taken while it ran", "Samples", .is_text = false},
    {"op", NULL, "Operation", .is_text = true},
    {"place", NULL, "Place", .is_text = true},
    {"pattern", NULL, "Pattern", .is_text = true},
};

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
    nytp_report_count_cell(report,
                           sums->kind == NYTP_REGEX_COMPILE ? sums->compiled : sums->matches);
    nytp_report_seconds_cell(
        report, (double)(sums->calls > 0 ? sums->total_ns / sums->calls : 0) / NYTP_NS_PER_SEC);
    nytp_report_seconds_cell(report, (double)(sums->max_ns) / NYTP_NS_PER_SEC);
    nytp_report_count_cell(report, sums->max_len);
}

static void put_regex(struct nytp_report *report, void *context, uint32_t at)
{
    const struct nytp_regex_row *const row = (const struct nytp_regex_row *)context + at;
    const struct nytp_regex *const sums = &row->sums;
    nytp_putc(report->out, '>');
    nytp_report_seconds_cell(report, (double)(sums->total_ns) / NYTP_NS_PER_SEC);
    nytp_report_count_cell(report, sums->calls);
    if (!report->profile->sampled)
        put_calls(report, sums);
    nytp_printf(report->out, "<td>%s", nytp_regex_kind_names[sums->kind]);
    nytp_puts(report->out, "<td>");
    nytp_report_put_place(report, sums->file, sums->line);
    put_pattern(report, row);
}

void nytp_report_regex_table(struct nytp_report *report)
{
    const bool sampled = report->profile->sampled;
    const struct nytp_report_table table = {
        .id = "regexes",
        .caption = "Regular expressions with most time, of the whole recording",
        .sum = "time",
        .columns = sampled ? sampled_regex_columns : regex_columns,
        .n_columns = sampled ? sizeof sampled_regex_columns / sizeof *sampled_regex_columns
                             : sizeof regex_columns / sizeof *regex_columns,
        .put_row = put_regex,
        .most = MOST_REGEXES};
    struct nytp_regex_rows rows;
    if (report->profile->n_regexes == 0)
        return;
    if (!nytp_regex_rows_init(&rows, report->profile))
        nytp_out_of_memory(&report->out->error);
    if (rows.n > 0)
        nytp_report_put_table(report, &table, rows.n, rows.rows);
    nytp_regex_rows_free(&rows);
}

/* ---- waits ---- */

static const struct nytp_report_column reason_columns[] = {
    {"time", "Time of waiting", "Time", .is_text = false},
    {"", "Its share of all time", "%", .is_text = false},
    {"samples", "Samples that saw it waiting", "Samples", .is_text = false},
    {"for", NULL, "For", .is_text = true},
};

struct reasons {
    struct nytp_wait_rows rows;
    int64_t all_ns;
};

static void put_reason(struct nytp_report *report, void *context, uint32_t at)
{
    const struct reasons *const reasons = context;
    const struct nytp_waited *const row = &reasons->rows.rows[at];
    struct nytp_out *const out = report->out;
    nytp_putc(out, '>');
    nytp_report_seconds_cell(report, (double)row->ns / NYTP_NS_PER_SEC);
    nytp_report_share_cell(report, row->ns, reasons->all_ns);
    nytp_report_count_cell(report, row->samples);
    nytp_printf(out, "<td>%s ", nytp_wait_reason_name(row->reason));
    nytp_html_text(out, row->peer.ptr, row->peer.len);
    nytp_puts(out, " <small>at ");
    nytp_report_put_place(report, row->file, row->line);
    nytp_puts(out, "</small>\n");
}

void nytp_report_reason_table(struct nytp_report *report)
{
    static const struct nytp_report_table table = {
        "reasons loops",
        "What was waited for, of the whole recording",
        "time",
        NYTP_REPORT_COLUMNS(reason_columns),
        .put_row = put_reason,
        .most = MOST,
        .more = "--waits=0"};
    struct reasons reasons;
    if (!nytp_wait_rows_init(&reasons.rows, report->profile, NULL))
        nytp_out_of_memory(&report->out->error);
    /* rows include waits for other processes; the total does not any more */
    reasons.all_ns = nytp_total_ns(report->profile) +
                     nytp_mul_div_signed(report->options->child_wait_ticks, NYTP_NS_PER_SEC,
                                         report->profile->ticks_per_sec);
    if (reasons.rows.known_ns > 0)
        nytp_report_put_table(report, &table, reasons.rows.n, &reasons);
    nytp_wait_rows_free(&reasons.rows);
}
