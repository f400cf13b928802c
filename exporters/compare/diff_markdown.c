/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A comparison as Markdown with tables, for job summaries and comments on pull requests.
 */
#include "exporters/base/markdown.h"
#include "exporters/base/text.h"
#include "diff_formats.h"
#include "diff_lines.h"

#include <stdio.h>

#define SHOWN_ROWS  20 /* the others fold up */
#define SHOWN_LINES 10 /* of a sub */

static void put_count_total(struct nytp_out *out, const struct nytp_diff *diff,
                            const char *label, enum nytp_weight weight)
{
    const int64_t base = nytp_diff_value(&diff->total.median[NYTP_DIFF_BASE], weight);
    const int64_t now = nytp_diff_value(&diff->total.median[NYTP_DIFF_NEW], weight);
    char change[24];
    nytp_diff_percent(base, now, change, sizeof change);
    nytp_printf(out, "| %s | %lld | %lld | %s | %s |\n", label, (long long)base, (long long)now,
                change, nytp_diff_count_remark(diff));
}

static void put_totals(struct nytp_out *out, const struct nytp_diff *diff)
{
    const struct nytp_diff_row *total = &diff->total;
    char title[120], base[40] = "", now[40], change[40] = "~", remark[100], answer[240];
    nytp_diff_title(diff, title, sizeof title);
    nytp_puts(out, "### ");
    nytp_markdown_code(out, (struct nytp_name){title, (uint32_t)strlen(title)});
    nytp_diff_answer(diff, answer, sizeof answer);
    nytp_printf(out, "\n\n**%s**\n\n| | base | new | change | |\n|---|---:|---:|---:|---|\n",
                answer);
    put_count_total(out, diff, nytp_text_statements(diff->profile), NYTP_WEIGHT_STATEMENTS);
    put_count_total(out, diff, nytp_text_calls(diff->profile), NYTP_WEIGHT_CALLS);
    if (diff->base_has_times) {
        nytp_diff_time(diff, total->median[NYTP_DIFF_BASE].ticks, false, base, sizeof base);
        if (!diff->tested || total->significant)
            nytp_diff_percent(total->median[NYTP_DIFF_BASE].ticks,
                              total->median[NYTP_DIFF_NEW].ticks, change, sizeof change);
    }
    nytp_diff_time(diff, total->median[NYTP_DIFF_NEW].ticks, false, now, sizeof now);
    nytp_diff_time_remark(diff, remark, sizeof remark);
    nytp_printf(out, "| time | %s | %s | %s | %s |\n\n", base, now, change, remark);
    for (uint32_t i = 0; i < diff->n_notes; i++) {
        nytp_puts(out, "> ");
        nytp_markdown_text(
            out, (struct nytp_name){diff->notes[i], (uint32_t)strlen(diff->notes[i])});
        nytp_puts(out, "\n\n");
    }
}

static void put_change(struct nytp_out *out, int64_t change)
{
    nytp_printf(out, change == 0 ? "| %lld " : "| %+lld ", (long long)change);
}

static void put_row(struct nytp_out *out, const struct nytp_diff *diff,
                    const struct nytp_diff_row *row)
{
    const struct nytp_diff_cell *base = &row->median[NYTP_DIFF_BASE];
    const struct nytp_diff_cell *now = &row->median[NYTP_DIFF_NEW];
    char time[100], place[512];
    nytp_diff_time_change(diff, row, time, sizeof time);
    nytp_diff_place(row, place, sizeof place);
    put_change(out, now->statements - base->statements);
    put_change(out, now->calls - base->calls);
    nytp_printf(out, "| %s | %lld | %lld | ", time, (long long)base->statements,
                (long long)now->statements);
    nytp_markdown_code(out, row->name);
    if (row->status != NYTP_DIFF_EQUAL && row->status != NYTP_DIFF_CHANGED)
        nytp_printf(out, " (%s)", nytp_diff_status_names[row->status]);
    if (row->status == NYTP_DIFF_RENAMED) {
        nytp_puts(out, " was ");
        nytp_markdown_code(out, row->was);
    }
    if (*place != '\0') {
        nytp_putc(out, ' ');
        nytp_markdown_code(out, (struct nytp_name){place, (uint32_t)strlen(place)});
    }
    nytp_puts(out, " |\n");
}

static void put_line(struct nytp_out *out, const struct nytp_diff *diff,
                     const struct nytp_diff_line *line)
{
    char time[40];
    nytp_diff_time(diff, line->ticks[NYTP_DIFF_NEW] - line->ticks[NYTP_DIFF_BASE], true, time,
                   sizeof time);
    put_change(out, line->statements[NYTP_DIFF_NEW] - line->statements[NYTP_DIFF_BASE]);
    nytp_printf(out, "| | %s | %lld | %lld | line %lu |\n", time,
                (long long)line->statements[NYTP_DIFF_BASE],
                (long long)line->statements[NYTP_DIFF_NEW], (unsigned long)line->line);
}

/* Below a sub the first of its lines that matter. */
static void put_lines(struct nytp_out *out, const struct nytp_diff *diff,
                      const struct nytp_diff_lines *lines, const struct nytp_diff_row *row)
{
    const uint32_t at = (uint32_t)(row - diff->rows);
    uint32_t n = 0;
    for (uint32_t i = lines->first[at]; i < lines->first[at + 1]; i++)
        if (nytp_diff_line_matters(row, &lines->lines[i]) && n++ < SHOWN_LINES)
            put_line(out, diff, &lines->lines[i]);
    if (n > SHOWN_LINES)
        nytp_printf(out, "| | | | | | %lu more lines |\n", (unsigned long)(n - SHOWN_LINES));
}

static void put_table_head(struct nytp_out *out, const struct nytp_diff *diff)
{
    nytp_printf(out,
                "| Δ %s | Δ calls | Δ self time | base | new | sub |\n"
                "|---:|---:|---:|---:|---:|---|\n",
                nytp_text_statements(diff->profile));
}

/* Rows [first, end) as far as there is room, with lines if there are any; returns how many. */
static uint32_t put_rows(struct nytp_out *out, const struct nytp_diff *diff,
                         const struct nytp_diff_list *list, const struct nytp_diff_lines *lines,
                         uint32_t first, uint32_t end)
{
    uint32_t i = first;
    put_table_head(out, diff);
    for (; i < end && out->n_bytes < NYTP_MARKDOWN_ROOM; i++) {
        put_row(out, diff, list->rows[i]);
        if (lines->lines != NULL)
            put_lines(out, diff, lines, list->rows[i]);
    }
    nytp_putc(out, '\n');
    return i - first;
}

static void put_list(struct nytp_out *out, const struct nytp_diff *diff,
                     const struct nytp_diff_list *list, const struct nytp_diff_lines *lines,
                     uint32_t wanted)
{
    uint32_t n = list->n < wanted ? list->n : wanted;
    if (n > 0)
        n = put_rows(out, diff, list, lines, 0, n);
    if (n < list->n && out->n_bytes < NYTP_MARKDOWN_ROOM) {
        nytp_printf(out, "<details><summary>%lu more</summary>\n\n",
                    (unsigned long)(list->n - n));
        n += put_rows(out, diff, list, lines, n, list->n);
        nytp_puts(out, "</details>\n\n");
    }
    if (n < list->n)
        nytp_printf(out, "%lu more are left out, since pages that show this have a limit.\n\n",
                    (unsigned long)(list->n - n));
}

bool nytp_diff_write_markdown(const struct nytp_diff *diff,
                              const struct nytp_export_options *options, struct nytp_out *out)
{
    struct nytp_diff_list list = {0};
    struct nytp_diff_lines lines = {0};
    const bool by_line = options->lines && diff->base_has_times;
    if (!nytp_diff_list_init(&list, diff, options) ||
        (by_line && !nytp_diff_lines_init(&lines, diff))) {
        nytp_out_of_memory(&out->error);
    } else {
        char summary[160];
        put_totals(out, diff);
        put_list(out, diff, &list, &lines, options->top > 0 ? options->top : SHOWN_ROWS);
        nytp_diff_summary(diff, summary, sizeof summary);
        nytp_printf(out, "%s\n", summary);
    }
    nytp_diff_list_free(&list);
    nytp_diff_lines_free(&lines);
    return out->error.status == NYTP_OK;
}
