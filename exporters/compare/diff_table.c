/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A comparison as a table for the terminal, the largest changes first.
 */
#include "exporters/base/text.h"
#include "diff_amounts.h"
#include "diff_formats.h"
#include "diff_lines.h"

#include <stdio.h>
#include <string.h>

#define DEFAULT_ROWS   20
#define TIME_COLUMNS   20
#define FIXED_COLUMNS  72 /* the numbers and gaps */
#define FEW_COLUMNS    46 /* the same on a narrow terminal, without both sides' values */
#define MIN_NAME       16
#define MIN_MARKED     8   /* with "new" and the like behind it */
#define MOST_NAME      200 /* columns of an SQL statement if there is no terminal */
#define AMOUNT_COLUMNS 33  /* before their names */

static uint32_t fixed_columns(uint32_t columns)
{
    return nytp_text_is_narrow(columns) ? FEW_COLUMNS : FIXED_COLUMNS;
}

/* Right-aligns by characters, not bytes: "±" has two bytes. A longer text stands apart, too. */
static void put_right(struct nytp_out *out, const char *text, uint32_t columns)
{
    const uint32_t width = nytp_text_width(nytp_name_of_text(text));
    nytp_text_pad(out, width < columns ? columns - width : 1);
    nytp_puts(out, text);
}

/* 78 columns with the longest remark. */
static void put_total(struct nytp_out *out, const char *label, const char *base,
                      const char *now, const char *change, const char *remark)
{
    nytp_text_put(out, nytp_name_of_text(label), 0);
    const uint32_t width = nytp_text_width(nytp_name_of_text(label));
    nytp_text_pad(out, width < 24 ? 24 - width : 0);
    put_right(out, base, 10);
    put_right(out, now, 10);
    put_right(out, change, 11);
    if (*remark != '\0')
        nytp_printf(out, "  %s", remark);
    nytp_putc(out, '\n');
}

static void put_head(struct nytp_out *out, const struct nytp_diff *diff,
                     const struct nytp_export_options *options)
{
    const bool color = options->color;
    char title[120], answer[240];
    enum nytp_weight counts[NYTP_DIFF_MOST_COUNTS];
    nytp_diff_title(diff, title, sizeof title);
    nytp_diff_answer(diff, answer, sizeof answer);
    nytp_printf(out, "%s\n\n", answer);
    nytp_text_style(out, color, NYTP_STYLE_BOLD);
    put_total(out, title, "base", "new", "change", "");
    nytp_text_style(out, color, NYTP_STYLE_PLAIN);
    const uint32_t n = nytp_diff_counts(diff, nytp_diff_weight(options), counts);
    for (uint32_t i = 0; i < n; i++) {
        const struct nytp_diff_total_text text = nytp_diff_count_total(diff, counts[i]);
        put_total(out, text.label, text.base, text.now, text.change, text.remark);
    }
    const struct nytp_diff_total_text time = nytp_diff_time_total(diff);
    put_total(out, diff->tested ? "time (median)" : time.label,
              diff->base_has_times ? time.base : "-", time.now, time.change, time.remark);
    for (uint32_t i = 0; i < diff->n_notes; i++) {
        nytp_puts(out, "note: ");
        nytp_text_put(out, nytp_name_of_text(diff->notes[i]), 0);
        nytp_putc(out, '\n');
    }
}

static void put_change(struct nytp_out *out, int64_t change, uint32_t columns)
{
    char text[24];
    snprintf(text, sizeof text, change == 0 ? "%lld" : "%+lld", (long long)change);
    put_right(out, text, columns);
}

static void put_value(struct nytp_out *out, const struct nytp_diff *diff,
                      const struct nytp_diff_cell *cell, enum nytp_weight weight)
{
    char text[40];
    nytp_diff_text(diff, nytp_diff_value(cell, weight), weight, text, sizeof text);
    put_right(out, text, 11);
}

static struct nytp_name mark_of(const struct nytp_diff_row *row)
{
    static const char *const marks[NYTP_DIFF_STATUSES] = {
        "", "", "new ", "gone ", "not called ", "renamed "};
    return nytp_name_of_text(marks[row->status]);
}

/* On a line of its own. */
static void put_old_name(struct nytp_out *out, struct nytp_name was, uint32_t columns)
{
    static const char before[] = "    was ", behind[] = "; equal in every count";
    const uint32_t used = sizeof before + sizeof behind - 2;
    nytp_printf(out, "\n%s", before);
    nytp_text_put_tail(out, was, columns > used + MIN_NAME ? columns - used : 0);
    nytp_puts(out, behind);
}

/* The columns of a row's name: a mark behind it stays on a narrow terminal, too. */
static uint32_t name_columns(uint32_t columns, uint32_t name_width, uint32_t mark_width)
{
    const uint32_t beside = fixed_columns(columns) + 2 + mark_width;
    if (columns == 0 || mark_width == 0 || columns >= beside + name_width)
        return name_width;
    return columns > beside + MIN_MARKED ? columns - beside : MIN_MARKED;
}

static void put_row(struct nytp_out *out, const struct nytp_diff *diff,
                    const struct nytp_export_options *options, const struct nytp_diff_row *row,
                    uint32_t name_width)
{
    const enum nytp_weight weight = nytp_diff_weight(options);
    char time[100], place[1024];
    put_change(out, nytp_diff_change(row, NYTP_WEIGHT_STATEMENTS), 13);
    put_change(out, nytp_diff_change(row, NYTP_WEIGHT_CALLS), 11);
    nytp_diff_time_change(diff, row, time, sizeof time);
    const bool claim = diff->tested && row->significant;
    nytp_text_style(out, options->color, claim ? NYTP_STYLE_PLAIN : NYTP_STYLE_DIM);
    put_right(out, time, TIME_COLUMNS);
    nytp_text_style(out, options->color, NYTP_STYLE_PLAIN);
    if (!nytp_text_is_narrow(options->columns)) {
        put_value(out, diff, &row->median[NYTP_DIFF_BASE], weight);
        put_value(out, diff, &row->median[NYTP_DIFF_NEW], weight);
    }
    nytp_puts(out, "  ");
    const uint32_t mark_width = nytp_text_width(mark_of(row));
    const uint32_t room = name_columns(options->columns, name_width, mark_width);
    const uint32_t width = nytp_text_put_tail(out, row->name, options->columns > 0 ? room : 0);
    nytp_text_pad(out, room - width + 2);
    nytp_diff_place(row, place, sizeof place);
    const uint32_t used = fixed_columns(options->columns) + room + 2 + mark_width;
    const bool narrow = nytp_text_is_narrow(options->columns);
    const struct nytp_name at =
        narrow ? nytp_base_name(nytp_name_of_text(place)) : nytp_name_of_text(place);
    const uint32_t least = nytp_text_width(at) < MIN_NAME ? nytp_text_width(at) : MIN_NAME;
    const bool fits = options->columns == 0 || options->columns >= used + least;
    nytp_text_put(out, mark_of(row), 0);
    nytp_text_style(out, options->color, NYTP_STYLE_DIM);
    if (fits)
        nytp_text_put_tail(out, at, options->columns > 0 ? options->columns - used : 0);
    if (row->status == NYTP_DIFF_RENAMED)
        put_old_name(out, row->was, options->columns);
    nytp_text_style(out, options->color, NYTP_STYLE_PLAIN);
    nytp_putc(out, '\n');
}

static void put_line(struct nytp_out *out, const struct nytp_diff *diff,
                     const struct nytp_diff_line *line,
                     const struct nytp_export_options *options)
{
    const enum nytp_weight weight = nytp_diff_line_weight(nytp_diff_weight(options));
    const struct nytp_diff_cell *base = &line->mean[NYTP_DIFF_BASE];
    const struct nytp_diff_cell *now = &line->mean[NYTP_DIFF_NEW];
    char time[40];
    nytp_diff_time(diff, now->ticks - base->ticks, true, time, sizeof time);
    put_change(out, nytp_diff_line_statements(line), 13);
    nytp_text_pad(out, 11);
    put_right(out, time, TIME_COLUMNS);
    if (!nytp_text_is_narrow(options->columns)) {
        put_value(out, diff, base, weight);
        put_value(out, diff, now, weight);
    }
    nytp_printf(out, "    line %lu\n", (unsigned long)line->line);
}

static void put_lines(struct nytp_out *out, const struct nytp_diff *diff,
                      const struct nytp_diff_lines *lines, const struct nytp_diff_row *row,
                      const struct nytp_export_options *options)
{
    const uint32_t at = (uint32_t)(row - diff->rows);
    for (uint32_t i = lines->first[at]; i < lines->first[at + 1]; i++)
        if (nytp_diff_line_matters(row, &lines->lines[i], nytp_diff_weight(options)))
            put_line(out, diff, &lines->lines[i], options);
}

static uint32_t widest_name(const struct nytp_diff_list *list, uint32_t n, uint32_t columns)
{
    uint32_t widest = 4;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t width = nytp_text_width(list->rows[i]->name);
        widest = width > widest ? width : widest;
    }
    const uint32_t fixed = fixed_columns(columns);
    const uint32_t left = columns > fixed + MIN_NAME ? columns - fixed : MIN_NAME;
    return columns > 0 && widest > left ? left : widest;
}

static void put_amount(struct nytp_out *out, const struct nytp_diff *diff,
                       const struct nytp_diff_amount *amount, uint32_t columns)
{
    const struct nytp_diff_amount_text text = nytp_diff_amount_text(diff, amount);
    put_right(out, text.base, 10);
    put_right(out, text.now, 10);
    put_right(out, text.change, 11);
    nytp_printf(out, "  %s", text.what);
    const uint32_t used = AMOUNT_COLUMNS + (uint32_t)strlen(text.what);
    nytp_text_put(out, amount->name, columns > used ? columns - used : MOST_NAME);
    nytp_putc(out, '\n');
}

static void put_amounts(struct nytp_out *out, const struct nytp_diff *diff,
                        const struct nytp_export_options *options)
{
    struct nytp_diff_amounts amounts;
    if (!nytp_diff_amounts_init(&amounts, diff))
        nytp_out_of_memory(&out->error);
    nytp_diff_amounts_keep_changed(&amounts);
    if (amounts.n > 0) {
        nytp_text_style(out, options->color, NYTP_STYLE_BOLD);
        nytp_puts(out, "\n      base       new     change  besides");
        nytp_text_style(out, options->color, NYTP_STYLE_PLAIN);
        nytp_putc(out, '\n');
    }
    for (uint32_t i = 0; i < amounts.n; i++)
        put_amount(out, diff, &amounts.list[i], options->columns);
    if (amounts.n_left > 0)
        nytp_printf(out, "%31s  (%lu more: --json)\n", "", (unsigned long)amounts.n_left);
    nytp_diff_amounts_free(&amounts);
}

static void put_rows_head(struct nytp_out *out, const struct nytp_diff *diff,
                          const struct nytp_export_options *options)
{
    static const char *const changes[] = {"Δ statements", "Δ samples", "Δ counts"};
    nytp_text_style(out, options->color, NYTP_STYLE_BOLD);
    nytp_putc(out, '\n');
    put_right(out, changes[nytp_text_counted(diff->profile)], 13);
    put_right(out, "Δ calls", 11);
    put_right(out, "Δ self time", TIME_COLUMNS);
    nytp_printf(out, "%s  sub",
                nytp_text_is_narrow(options->columns) ? "" : "       base        new");
    nytp_text_style(out, options->color, NYTP_STYLE_PLAIN);
    nytp_putc(out, '\n');
}

static void put_table(struct nytp_out *out, const struct nytp_diff *diff,
                      const struct nytp_diff_list *list, const struct nytp_diff_lines *lines,
                      const struct nytp_export_options *options)
{
    const uint32_t wanted = options->top > 0 ? options->top : DEFAULT_ROWS;
    const uint32_t n = list->n < wanted ? list->n : wanted;
    const uint32_t name_width = widest_name(list, n, options->columns);
    char summary[160];
    put_head(out, diff, options);
    if (n > 0)
        put_rows_head(out, diff, options);
    for (uint32_t i = 0; i < n; i++) {
        put_row(out, diff, options, list->rows[i], name_width);
        if (lines->lines != NULL)
            put_lines(out, diff, lines, list->rows[i], options);
    }
    if (n < list->n)
        nytp_printf(out, "%*s  (%lu more subs)\n", (int)fixed_columns(options->columns) - 4, "",
                    (unsigned long)(list->n - n));
    nytp_diff_summary(diff, summary, sizeof summary);
    nytp_printf(out, "%s%s\n", n > 0 ? "" : "\n", summary);
    put_amounts(out, diff, options);
}

bool nytp_diff_write_table(const struct nytp_diff *diff,
                           const struct nytp_export_options *options, struct nytp_out *out)
{
    struct nytp_diff_list list = {0};
    struct nytp_diff_lines lines;
    if (nytp_diff_lines_asked(&lines, diff, options) &&
        nytp_diff_list_init(&list, diff, options))
        put_table(out, diff, &list, &lines, options);
    else
        nytp_out_of_memory(&out->error);
    nytp_diff_list_free(&list);
    nytp_diff_lines_free(&lines);
    return out->error.status == NYTP_OK;
}
