/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Differences from a base (--diff): a summary, and a table of subs with base, profile and
 * difference side by side. See report.h.
 *
 * The numbers are those of compare/diff.h, medians if a side has several runs. So they can
 * differ from the report's other tables, which add up its runs.
 */
#include "report.h"

#include "exporters/compare/diff_amounts.h"
#include "exporters/compare/diff_formats.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct nytp_report_column columns[] = {
    {"bcalls", "Calls in the base", "Calls before", .is_text = false},
    {"calls", "Calls in this profile", "Calls now", .is_text = false},
    {"dcalls", "Change of calls", "\xce\x94 calls", .is_text = false},
    {"bexcl", "Time in the sub itself in the base", "Time before", .is_text = false},
    {"excl", "Time in the sub itself in this profile", "Time now", .is_text = false},
    {"dexcl", "Change of that time", "\xce\x94 time", .is_text = false},
    {"dstmts", "Change of statements executed in the sub", "\xce\x94 statements",
     .is_text = false},
    {"dinuse", "Change of bytes that it allocated itself and that were in use at the end",
     "\xce\x94 in use", .memory = NYTP_MEMORY_SPACE},
    {"dsvs", "Change of perl's values that it made itself, less those that it freed",
     "\xce\x94 SVs", .memory = NYTP_MEMORY_SVS},
    {"sub", NULL, "Subroutine", .is_text = true},
};

static const struct nytp_report_column amount_columns[] = {
    {"base", NULL, "Before", .is_text = false},
    {"new", NULL, "Now", .is_text = false},
    {"change", NULL, "Change", .is_text = false},
    {"name", NULL, "SQL statements and waiting", .is_text = true},
};

/* ---- selected rows ---- */

/* Returns the rows with a difference, or NULL if memory is out. The largest change of time
 * comes first; without times of the base, of statements. */
static uint32_t *sorted_rows(const struct nytp_diff *diff, bool only_certain, uint32_t *n)
{
    const enum nytp_weight weight =
        diff->base_has_times ? NYTP_WEIGHT_TIME : NYTP_WEIGHT_STATEMENTS;
    struct nytp_report_key *keys = nytp_report_keys(diff->n_rows);
    *n = 0;
    for (uint32_t i = 0; keys != NULL && i < diff->n_rows; i++) {
        if (only_certain ? !nytp_diff_is_listed(diff, &diff->rows[i], weight)
                         : !nytp_diff_row_differs(diff, &diff->rows[i]))
            continue;
        const int64_t by = nytp_diff_change(&diff->rows[i], weight);
        keys[(*n)++] = (struct nytp_report_key){.time = by < 0 ? -by : by, .index = i};
    }
    return nytp_report_sorted(keys, *n);
}

/* ---- cells ---- */

static void put_count(struct nytp_out *out, int64_t count, bool sign)
{
    nytp_printf(out, sign && count > 0 ? "<td>+%lld" : "<td>%lld", (long long)count);
}

/* An insignificant change is shown as unchanged. */
static void put_change_of_time(struct nytp_report *report, const struct nytp_diff_row *row)
{
    const struct nytp_diff *diff = report->options->report.diff;
    struct nytp_out *out = report->out;
    const int64_t ticks = nytp_diff_change(row, NYTP_WEIGHT_TIME);
    const bool is_noise = diff->tested && !row->significant;
    if (!diff->base_has_times) {
        nytp_puts(out, "<td>");
        return;
    }
    nytp_puts(out, "<td");
    nytp_report_put_exact(report, ticks);
    if (diff->tested && row->p >= 0)
        nytp_printf(out, " title=\"p=%.2g%s\"", row->p, is_noise ? ": may be noise" : "");
    nytp_puts(out, is_noise ? ">~ " : ticks > 0 ? ">+" : ">");
    nytp_report_put_time(report, out, ticks);
    nytp_puts(out, diff->tested || ticks == 0 ? "" : " ?");
}

/* Writes the memory column, if any, with both sides' values as the title. */
static void put_change_of_memory(struct nytp_report *report, const struct nytp_diff_row *row)
{
    const struct nytp_diff *diff = report->options->report.diff;
    enum nytp_weight weight;
    char base[40], now[40], text[40];
    if (!nytp_diff_memory(diff, &weight))
        return;
    const int64_t by = nytp_diff_change(row, weight);
    nytp_diff_text(diff, nytp_diff_value(&row->median[NYTP_DIFF_BASE], weight), weight, base,
                   sizeof base);
    nytp_diff_text(diff, nytp_diff_value(&row->median[NYTP_DIFF_NEW], weight), weight, now,
                   sizeof now);
    nytp_diff_text(diff, by, weight, text, sizeof text);
    nytp_printf(report->out, "<td data-n=%lld title=\"%s before, %s now\">%s%s", (long long)by,
                base, now, by > 0 ? "+" : "", text);
}

static void put_name(struct nytp_report *report, const struct nytp_diff_row *row)
{
    static const char *const words[NYTP_DIFF_STATUSES] = {
        [NYTP_DIFF_ADDED] = " <small>new</small>",
        [NYTP_DIFF_GONE] = " <small>gone</small>",
        [NYTP_DIFF_UNCALLED] = " <small>not called</small>"};
    struct nytp_out *out = report->out;
    nytp_puts(out, "<td>");
    nytp_report_put_linked_name(report,
                                row->status != NYTP_DIFF_GONE
                                    ? nytp_report_sub_named(report, row->name)
                                    : NYTP_REPORT_NONE,
                                row->name);
    if (words[row->status] != NULL)
        nytp_puts(out, words[row->status]);
    if (row->varies)
        nytp_puts(out, " <small>runs differ</small>");
    nytp_putc(out, '\n');
}

static void put_row(struct nytp_report *report, void *context, uint32_t at)
{
    const struct nytp_diff *diff = report->options->report.diff;
    const struct nytp_diff_row *const row = &diff->rows[((const uint32_t *)context)[at]];
    const struct nytp_diff_cell *base = &row->median[NYTP_DIFF_BASE];
    const struct nytp_diff_cell *now = &row->median[NYTP_DIFF_NEW];
    nytp_putc(report->out, '>');
    put_count(report->out, base->calls, false);
    put_count(report->out, now->calls, false);
    put_count(report->out, now->calls - base->calls, true);
    if (diff->base_has_times)
        nytp_report_time_cell(report, base->ticks, false, 0);
    else
        nytp_puts(report->out, "<td>");
    nytp_report_time_cell(report, now->ticks, false, 0);
    put_change_of_time(report, row);
    put_count(report->out, now->statements - base->statements, true);
    put_change_of_memory(report, row);
    put_name(report, row);
}

/* ---- all of it ---- */

static void put_paragraph(struct nytp_report *report, const char *class, const char *text)
{
    nytp_printf(report->out, "<p class=\"%s\">", class);
    nytp_html_puts(report->out, text);
    nytp_puts(report->out, "</p>\n");
}

static void put_inputs(struct nytp_report *report, enum nytp_diff_side side)
{
    const struct nytp_diff *diff = report->options->report.diff;
    const char *separator = "";
    for (uint32_t i = 0; i < diff->profile->n_recordings; i++) {
        if (diff->side_of_recording[i] != (uint8_t)side)
            continue;
        nytp_puts(report->out, separator);
        nytp_html_text(report->out, diff->profile->recordings[i].path.ptr,
                       diff->profile->recordings[i].path.len);
        separator = ", ";
    }
    if (*separator == '\0')
        nytp_puts(report->out, "a table of counts");
}

/* "Statements: 471000 -> 336091, -28.7 % (exact)", and so on. */
static void put_totals(struct nytp_report *report)
{
    const struct nytp_diff *diff = report->options->report.diff;
    enum nytp_weight counts[NYTP_DIFF_MOST_COUNTS];
    const uint32_t n = nytp_diff_counts(diff, NYTP_WEIGHT_TIME, counts);
    for (uint32_t i = 0; i < n; i++) {
        const struct nytp_diff_total_text text = nytp_diff_count_total(diff, counts[i]);
        char label[40];
        snprintf(label, sizeof label, "%s", text.label);
        label[0] = (char)toupper((unsigned char)label[0]);
        nytp_puts(report->out, "\n<dt>");
        nytp_html_puts(report->out, label);
        nytp_printf(report->out, "<dd>%s \xe2\x86\x92 %s: %s (%s)", text.base, text.now,
                    text.change, text.remark);
    }
}

static void put_amount(struct nytp_report *report, void *context, uint32_t row)
{
    const struct nytp_diff_amount *const amount =
        &((const struct nytp_diff_amounts *)context)->list[row];
    const struct nytp_diff_amount_text text =
        nytp_diff_amount_text(report->options->report.diff, amount);
    nytp_printf(report->out, "><td data-n=%lld>%s<td data-n=%lld>%s<td>%s<td>%s",
                (long long)amount->median[NYTP_DIFF_BASE], text.base,
                (long long)amount->median[NYTP_DIFF_NEW], text.now, text.change, text.what);
    nytp_html_text(report->out, amount->name.ptr, amount->name.len);
    nytp_putc(report->out, '\n');
}

static void put_amounts(struct nytp_report *report)
{
    static const struct nytp_report_table table = {
        "besides loops", "SQL statements and waiting that changed", "",
        NYTP_REPORT_COLUMNS(amount_columns), .put_row = put_amount};
    struct nytp_diff_amounts amounts;
    if (!nytp_diff_amounts_init(&amounts, report->options->report.diff))
        nytp_out_of_memory(&report->out->error);
    nytp_diff_amounts_keep_changed(&amounts);
    if (amounts.n > 0)
        nytp_report_put_table(report, &table, amounts.n, &amounts);
    if (amounts.n_left > 0)
        nytp_printf(report->out, "<p>%lu more: nytp export --diff --json shows all.</p>\n",
                    (unsigned long)amounts.n_left);
    nytp_diff_amounts_free(&amounts);
}

/* These numbers are of one run, as on the terminal; the page's other tables have sums. */
void nytp_report_compared(struct nytp_report *report)
{
    const struct nytp_diff *diff = report->options->report.diff;
    const uint32_t n_new = diff->n_runs[NYTP_DIFF_NEW];
    char text[1024];
    nytp_puts(report->out, "<h2>Compared with a base</h2>\n");
    nytp_diff_answer(diff, text, sizeof text);
    put_paragraph(report, "sentence answer", text);
    if (n_new > 1) {
        snprintf(text, sizeof text,
                 "Differences are those of one run (medians); all else on these pages adds up "
                 "the %lu runs of this profile.",
                 (unsigned long)n_new);
        put_paragraph(report, "sentence", text);
    }
    nytp_puts(report->out, "<dl class=\"about\"><dt>Base<dd>");
    put_inputs(report, NYTP_DIFF_BASE);
    nytp_puts(report->out, "\n<dt>This profile<dd>");
    put_inputs(report, NYTP_DIFF_NEW);
    put_totals(report);
    nytp_puts(report->out, "\n<dt>Times<dd>");
    nytp_html_puts(report->out, nytp_diff_time_total(diff).remark);
    nytp_puts(report->out, "\n<dt>Subs<dd>");
    nytp_diff_summary(diff, text, sizeof text);
    nytp_html_puts(report->out, text);
    nytp_puts(report->out, "\n</dl>\n");
    for (uint32_t i = 0; i < diff->n_notes; i++)
        put_paragraph(report, "note", diff->notes[i]);
    put_amounts(report);
}

static enum nytp_memory_columns memory_of(const struct nytp_diff *diff)
{
    enum nytp_weight weight;
    return !nytp_diff_memory(diff, &weight)    ? NYTP_MEMORY_NONE
           : weight == NYTP_WEIGHT_INUSE_SPACE ? NYTP_MEMORY_SPACE
                                               : NYTP_MEMORY_SVS;
}

void nytp_report_difference_table(struct nytp_report *report, uint32_t most)
{
    const bool only_certain = most < UINT32_MAX;
    const struct nytp_diff *diff = report->options->report.diff;
    uint32_t n;
    uint32_t *rows = sorted_rows(diff, only_certain, &n);
    const struct nytp_report_table table = {"diff",
                                            n > most ? "Subs that changed most"
                                                     : "Subs that changed",
                                            "",
                                            NYTP_REPORT_COLUMNS(columns),
                                            .put_row = put_row,
                                            .most = most,
                                            .memory = memory_of(diff)};
    if (rows == NULL)
        nytp_out_of_memory(&report->out->error);
    else if (n > 0)
        nytp_report_put_table(report, &table, n, rows);
    else
        put_paragraph(report, "sentence",
                      only_certain && diff->tested ? "No sub differs by more than chance."
                                                   : "No sub differs.");
    free(rows);
}
