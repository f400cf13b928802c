/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A comparison as Markdown with tables, for job summaries and comments on pull requests.
 */
#include "exporters/base/markdown.h"
#include "exporters/base/text.h"
#include "diff_amounts.h"
#include "diff_formats.h"
#include "diff_lines.h"

#include <stdio.h>

#define SHOWN_ROWS  20 /* the others are folded */
#define SHOWN_LINES 10 /* of a sub */

static void put_totals(struct nytp_out *out, const struct nytp_diff *diff,
                       enum nytp_weight weight)
{
    enum nytp_weight counts[NYTP_DIFF_MOST_COUNTS];
    const uint32_t n_counts = nytp_diff_counts(diff, weight, counts);
    char title[120], answer[240];
    nytp_diff_title(diff, title, sizeof title);
    nytp_puts(out, "### ");
    nytp_markdown_code(out, nytp_name_of_text(title));
    nytp_diff_answer(diff, answer, sizeof answer);
    nytp_printf(out, "\n\n**%s**\n\n| | base | new | change | |\n|---|---:|---:|---:|---|\n",
                answer);
    for (uint32_t i = 0; i <= n_counts; i++) {
        const struct nytp_diff_total_text text =
            i < n_counts ? nytp_diff_count_total(diff, counts[i]) : nytp_diff_time_total(diff);
        nytp_printf(out, "| %s | %s | %s | %s | %s |\n", text.label, text.base, text.now,
                    text.change, text.remark);
    }
    nytp_putc(out, '\n');
    for (uint32_t i = 0; i < diff->n_notes; i++) {
        nytp_puts(out, "> ");
        nytp_markdown_text(out, nytp_name_of_text(diff->notes[i]));
        nytp_puts(out, "\n\n");
    }
}

static void put_change(struct nytp_out *out, int64_t change)
{
    nytp_printf(out, change == 0 ? "| %lld " : "| %+lld ", (long long)change);
}

static void put_value(struct nytp_out *out, const struct nytp_diff *diff,
                      const struct nytp_diff_cell *cell, enum nytp_weight weight)
{
    char text[40];
    nytp_diff_text(diff, nytp_diff_value(cell, weight), weight, text, sizeof text);
    nytp_printf(out, "| %s ", text);
}

static void put_row(struct nytp_out *out, const struct nytp_diff *diff,
                    const struct nytp_diff_row *row, enum nytp_weight weight)
{
    const struct nytp_diff_cell *base = &row->median[NYTP_DIFF_BASE];
    const struct nytp_diff_cell *now = &row->median[NYTP_DIFF_NEW];
    char time[100], place[512];
    nytp_diff_time_change(diff, row, time, sizeof time);
    nytp_diff_place(row, place, sizeof place);
    put_change(out, now->statements - base->statements);
    put_change(out, now->calls - base->calls);
    nytp_printf(out, "| %s ", time);
    put_value(out, diff, base, weight);
    put_value(out, diff, now, weight);
    nytp_puts(out, "| ");
    nytp_markdown_code(out, row->name);
    if (row->status != NYTP_DIFF_EQUAL && row->status != NYTP_DIFF_CHANGED)
        nytp_printf(out, " (%s)", nytp_diff_status_names[row->status]);
    if (row->status == NYTP_DIFF_RENAMED) {
        nytp_puts(out, " was ");
        nytp_markdown_code(out, row->was);
    }
    if (*place != '\0') {
        nytp_putc(out, ' ');
        nytp_markdown_code(out, nytp_name_of_text(place));
    }
    nytp_puts(out, " |\n");
}

static void put_line(struct nytp_out *out, const struct nytp_diff *diff,
                     const struct nytp_diff_line *line, enum nytp_weight weight)
{
    const struct nytp_diff_cell *base = &line->mean[NYTP_DIFF_BASE];
    const struct nytp_diff_cell *now = &line->mean[NYTP_DIFF_NEW];
    char time[40];
    nytp_diff_time(diff, now->ticks - base->ticks, true, time, sizeof time);
    put_change(out, nytp_diff_line_statements(line));
    nytp_printf(out, "| | %s ", time);
    put_value(out, diff, base, nytp_diff_line_weight(weight));
    put_value(out, diff, now, nytp_diff_line_weight(weight));
    nytp_printf(out, "| line %lu |\n", (unsigned long)line->line);
}

static void put_lines(struct nytp_out *out, const struct nytp_diff *diff,
                      const struct nytp_diff_lines *lines, const struct nytp_diff_row *row,
                      enum nytp_weight weight)
{
    const uint32_t at = (uint32_t)(row - diff->rows);
    uint32_t n = 0;
    for (uint32_t i = lines->first[at]; i < lines->first[at + 1]; i++)
        if (nytp_diff_line_matters(row, &lines->lines[i], weight) && n++ < SHOWN_LINES)
            put_line(out, diff, &lines->lines[i], weight);
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

/* Writes rows while there is room, with lines if any. Returns how many. */
static uint32_t put_rows(struct nytp_out *out, const struct nytp_diff *diff,
                         struct nytp_diff_list list, const struct nytp_diff_lines *lines,
                         enum nytp_weight weight)
{
    uint32_t i = 0;
    put_table_head(out, diff);
    for (; i < list.n && out->n_bytes < NYTP_MARKDOWN_ROOM; i++) {
        put_row(out, diff, list.rows[i], weight);
        if (lines->lines != NULL)
            put_lines(out, diff, lines, list.rows[i], weight);
    }
    nytp_putc(out, '\n');
    return i;
}

static void put_list(struct nytp_out *out, const struct nytp_diff *diff,
                     const struct nytp_diff_list *list, const struct nytp_diff_lines *lines,
                     enum nytp_weight weight, uint32_t wanted)
{
    uint32_t n = list->n < wanted ? list->n : wanted;
    if (n > 0)
        n = put_rows(out, diff, (struct nytp_diff_list){list->rows, n}, lines, weight);
    if (n < list->n && out->n_bytes < NYTP_MARKDOWN_ROOM) {
        nytp_printf(out, "<details><summary>%lu more</summary>\n\n",
                    (unsigned long)(list->n - n));
        n += put_rows(out, diff, (struct nytp_diff_list){list->rows + n, list->n - n}, lines,
                      weight);
        nytp_puts(out, "</details>\n\n");
    }
    if (n < list->n)
        nytp_printf(out, "%lu more are left out, since pages that show this have a limit.\n\n",
                    (unsigned long)(list->n - n));
}

static void put_amounts(struct nytp_out *out, const struct nytp_diff *diff)
{
    struct nytp_diff_amounts amounts;
    if (!nytp_diff_amounts_init(&amounts, diff))
        nytp_out_of_memory(&out->error);
    nytp_diff_amounts_keep_changed(&amounts);
    if (amounts.n > 0)
        nytp_puts(out, "\n| base | new | change | besides |\n|---:|---:|---:|---|\n");
    uint32_t i = 0;
    for (; i < amounts.n && out->n_bytes < NYTP_MARKDOWN_ROOM; i++) {
        const struct nytp_diff_amount_text text = nytp_diff_amount_text(diff, &amounts.list[i]);
        nytp_printf(out, "| %s | %s | %s | %s", text.base, text.now, text.change, text.what);
        if (amounts.list[i].name.len > 0)
            nytp_markdown_code(out, amounts.list[i].name);
        nytp_puts(out, " |\n");
    }
    const uint32_t n_left = amounts.n_left + amounts.n - i;
    if (n_left > 0)
        nytp_printf(out, "\n%lu more: --json\n", (unsigned long)n_left);
    nytp_diff_amounts_free(&amounts);
}

bool nytp_diff_write_markdown(const struct nytp_diff *diff,
                              const struct nytp_export_options *options, struct nytp_out *out)
{
    struct nytp_diff_list list = {0};
    struct nytp_diff_lines lines;
    if (!nytp_diff_lines_asked(&lines, diff, options) ||
        !nytp_diff_list_init(&list, diff, options)) {
        nytp_out_of_memory(&out->error);
    } else {
        const enum nytp_weight weight = nytp_diff_weight(options);
        char summary[160];
        put_totals(out, diff, weight);
        put_list(out, diff, &list, &lines, weight,
                 options->top > 0 ? options->top : SHOWN_ROWS);
        nytp_diff_summary(diff, summary, sizeof summary);
        nytp_printf(out, "%s\n", summary);
        put_amounts(out, diff);
    }
    nytp_diff_list_free(&list);
    nytp_diff_lines_free(&lines);
    return out->error.status == NYTP_OK;
}
