/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Sheets, and their form for terminals; see sheet.h.
 */
#include "sheet.h"

#include "exporters/base/columns.h"

#include <stdio.h>
#include <stdlib.h>

#define LEAST_OF_NAME  8
#define LEAST_OF_PLACE 12 /* with the two blanks before it */
#define LEAST_TAIL     12 /* columns of the last column, however narrow the terminal is */

struct nytp_sheet nytp_sheet_of(const struct nytp_profile *profile,
                                const struct nytp_export_options *options,
                                const struct nytp_column *columns, size_t n_columns)
{
    struct nytp_sheet sheet = {.profile = profile,
                               .options = options,
                               .ticks_per_sec = profile != NULL ? profile->ticks_per_sec : 0,
                               .unit = options->unit,
                               .wanted = nytp_wanted_rows(options)};
    memcpy(sheet.columns, columns, n_columns * sizeof *columns);
    for (unsigned i = 0; i < n_columns; i++)
        nytp_sheet_show(&sheet, i, true);
    return sheet;
}

/* Shares and means are of times. */
static bool is_recorded(const struct nytp_sheet *sheet, unsigned column)
{
    const enum nytp_cell_kind kind = sheet->columns[column].kind;
    return sheet->profile == NULL || nytp_profile_has(sheet->profile, NYTP_WEIGHT_TIME) ||
           !(kind == NYTP_CELL_TICKS || kind == NYTP_CELL_SHARE || kind == NYTP_CELL_MEAN);
}

void nytp_sheet_show(struct nytp_sheet *sheet, unsigned column, bool shown)
{
    if (shown && is_recorded(sheet, column))
        sheet->shown[sheet->n_shown++] = (uint8_t)column;
}

void nytp_sheet_show_only(struct nytp_sheet *sheet, const uint8_t *columns, size_t n)
{
    sheet->n_shown = 0;
    for (size_t i = 0; i < n; i++)
        nytp_sheet_show(sheet, columns[i], true);
}

static uint32_t row_at(const struct nytp_sheet *sheet, uint32_t at)
{
    return sheet->rows != NULL ? sheet->rows[at] : at;
}

void nytp_sheet_cells(const struct nytp_sheet *sheet, uint32_t at,
                      struct nytp_cell cells[NYTP_MOST_COLUMNS])
{
    memset(cells, 0, NYTP_MOST_COLUMNS * sizeof *cells);
    sheet->fill(sheet, row_at(sheet, at), cells);
}

struct nytp_name nytp_sheet_text(const struct nytp_sheet *sheet,
                                 const struct nytp_column *column, const struct nytp_cell *cell,
                                 char *buffer, size_t size)
{
    if (column->kind != NYTP_CELL_PLACE || cell->file == 0)
        return cell->text;
    return nytp_text_place_in(sheet->profile, cell->file, cell->line,
                              sheet->short_places ? sheet->options->columns : 0, buffer, size);
}

/* ---- order ---- */

struct keyed {
    double key;
    uint32_t at, row;
};

static int by_key(const void *x, const void *y)
{
    const struct keyed *a = x, *b = y;
    NYTP_RETURN_ORDER(b->key, a->key);
    return (a->at > b->at) - (a->at < b->at);
}

bool nytp_sheet_sort(const struct nytp_sheet *sheet, unsigned column, uint32_t *rows,
                     uint32_t n)
{
    struct keyed *const keyed = malloc(((size_t)n + 1) * sizeof *keyed);
    struct nytp_cell cells[NYTP_MOST_COLUMNS];
    if (keyed == NULL)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        memset(cells, 0, sizeof cells);
        sheet->fill(sheet, rows[i], cells);
        const struct nytp_cell *const cell = &cells[column];
        const double value = (double)cell->value;
        const bool is_mean = sheet->columns[column].kind == NYTP_CELL_MEAN;
        keyed[i] = (struct keyed){!is_mean       ? value
                                  : cell->of > 0 ? value / (double)cell->of
                                                 : 0,
                                  i, rows[i]};
    }
    qsort(keyed, n, sizeof *keyed, by_key);
    for (uint32_t i = 0; i < n; i++)
        rows[i] = keyed[i].row;
    free(keyed);
    return true;
}

/* ---- for terminals ---- */

static uint32_t width_of(const struct nytp_sheet *sheet, const struct nytp_column *column)
{
    return sheet->is_narrow ? column->narrow : column->width;
}

static bool is_text(const struct nytp_column *column)
{
    return column->kind >= NYTP_CELL_WORD;
}

/* Returns true for the text that takes the rest of a line. */
static bool is_tail(const struct nytp_sheet *sheet, const struct nytp_column *column)
{
    return is_text(column) && width_of(sheet, column) == 0;
}

uint32_t nytp_sheet_fixed(const struct nytp_sheet *sheet)
{
    uint32_t sum = 0;
    bool after_text = true;
    for (uint32_t i = 0; i < sheet->n_shown; i++) {
        const struct nytp_column *const column = &sheet->columns[sheet->shown[i]];
        if (is_text(column))
            sum += column->gap + (after_text ? 0 : 1);
        if (is_tail(sheet, column))
            break;
        sum += width_of(sheet, column);
        after_text = is_text(column) || (after_text && width_of(sheet, column) == 0);
    }
    return sum;
}

void nytp_sheet_fit(struct nytp_sheet *sheet, unsigned column, uint32_t most)
{
    const uint32_t n = sheet->n < sheet->wanted ? sheet->n : sheet->wanted;
    uint32_t widest = nytp_text_width(nytp_name_of_text(sheet->columns[column].title));
    struct nytp_cell cells[NYTP_MOST_COLUMNS];
    char buffer[4096];
    for (uint32_t i = 0; i < n; i++) {
        nytp_sheet_cells(sheet, i, cells);
        const uint32_t width = nytp_text_width(nytp_sheet_text(
            sheet, &sheet->columns[column], &cells[column], buffer, sizeof buffer));
        widest = width > widest ? width : widest;
    }
    widest = widest < most ? widest : most;
    sheet->columns[column].width = sheet->columns[column].narrow = widest + 1;
}

static void put_ratio(const struct nytp_cell *cell, int width, struct nytp_out *out)
{
    char text[24] = "-";
    const double ratio = cell->of > 0 ? (double)cell->value / (double)cell->of : -1;
    if (ratio >= 0)
        snprintf(text, sizeof text, ratio < 9.95 ? "x%.1f" : "x%.0f", ratio);
    nytp_printf(out, "%*s", width, text);
}

void nytp_sheet_put_number(const struct nytp_sheet *sheet, const struct nytp_column *column,
                           const struct nytp_cell *cell, uint32_t columns, struct nytp_out *out)
{
    const int width = (int)columns;
    if (cell->is_none || (column->dashes_zero && cell->value == 0)) {
        nytp_printf(out, "%*s", width, "-");
        return;
    }
    switch (column->kind) {
    case NYTP_CELL_TICKS:
        if (cell->is_about)
            nytp_text_about(out, cell->value, sheet->ticks_per_sec, width);
        else
            nytp_text_time(out, cell->value, sheet->ticks_per_sec, sheet->unit, width);
        break;
    case NYTP_CELL_NS:
        nytp_text_ns(out, cell->value, sheet->ticks_per_sec, sheet->unit, width);
        break;
    case NYTP_CELL_MEAN:
        nytp_text_per_call(out, cell->value, (uint64_t)cell->of, sheet->ticks_per_sec,
                           sheet->unit, width);
        break;
    case NYTP_CELL_SHARE:
        nytp_text_pad(out, columns > 6 ? columns - 6 : 0);
        nytp_text_percent(out, cell->value, cell->of);
        break;
    case NYTP_CELL_RATIO:
        put_ratio(cell, width, out);
        break;
    case NYTP_CELL_BYTES:
        nytp_text_bytes(out, cell->value, width);
        break;
    default:
        nytp_printf(out, "%*lld", width, (long long)cell->value);
    }
}

/* Writes a text; returns the blanks that belong behind it. */
static uint32_t put_text(const struct nytp_sheet *sheet, const struct nytp_column *column,
                         const struct nytp_cell *cell, uint32_t width, struct nytp_out *out)
{
    char buffer[4096];
    const struct nytp_name text = nytp_sheet_text(sheet, column, cell, buffer, sizeof buffer);
    const uint32_t used = nytp_text_put_tail(out, text, column->is_cut ? width - 1 : 0);
    return used < width ? width - used : 1;
}

static void put_tail(const struct nytp_sheet *sheet, uint32_t row, uint32_t pad,
                     const struct nytp_column *column, const struct nytp_cell *cells,
                     struct nytp_out *out)
{
    const ptrdiff_t last = column - sheet->columns;
    const uint32_t room =
        nytp_columns_left(sheet->options->columns, nytp_sheet_fixed(sheet), LEAST_TAIL);
    char buffer[4096];
    if (sheet->tail != NULL && cells != NULL) {
        sheet->tail(sheet, row, pad, room, out);
        return;
    }
    if (cells != NULL || *column->title != '\0')
        nytp_text_pad(out, pad);
    if (cells == NULL)
        nytp_text_put(out, nytp_name_of_text(column->title), room);
    else if (column->kind == NYTP_CELL_PLACE)
        nytp_text_put_tail(
            out, nytp_sheet_text(sheet, column, &cells[last], buffer, sizeof buffer), room);
    else
        nytp_text_put(out, cells[last].text, room);
}

/* Writes the numbers and texts of a line, or, with cells NULL, the titles. */
static void put_line(const struct nytp_sheet *sheet, uint32_t row,
                     const struct nytp_cell *cells, struct nytp_out *out)
{
    uint32_t pad = 0;
    bool after_number = false;
    for (uint32_t i = 0; i < sheet->n_shown; i++) {
        const struct nytp_column *const column = &sheet->columns[sheet->shown[i]];
        const uint32_t width = width_of(sheet, column);
        const struct nytp_cell title = {.text = nytp_name_of_text(column->title)};
        if (width == 0 && !is_text(column))
            continue;
        pad += is_text(column) && after_number ? 1 : 0;
        if (is_tail(sheet, column)) {
            put_tail(sheet, row, pad + column->gap, column, cells, out);
            return;
        }
        const uint32_t blank = !is_text(column) && after_number; /* however long a number is */
        nytp_text_pad(out, pad + column->gap + blank);
        pad = 0;
        after_number = !is_text(column);
        if (is_text(column) && cells == NULL)
            pad = put_text(sheet, &(struct nytp_column){.kind = NYTP_CELL_WORD}, &title, width,
                           out);
        else if (is_text(column))
            pad = put_text(sheet, column, &cells[sheet->shown[i]], width, out);
        else if (cells == NULL)
            nytp_printf(out, "%*s", (int)(width - blank), column->title);
        else
            nytp_sheet_put_number(sheet, column, &cells[sheet->shown[i]], width - blank, out);
    }
}

static void put_head(const struct nytp_sheet *sheet, struct nytp_out *out)
{
    nytp_text_style(out, sheet->options->color, NYTP_STYLE_BOLD);
    put_line(sheet, 0, NULL, out);
    nytp_text_style(out, sheet->options->color, NYTP_STYLE_PLAIN);
    nytp_putc(out, '\n');
}

static void put_row(const struct nytp_sheet *sheet, uint32_t at, struct nytp_out *out)
{
    struct nytp_cell cells[NYTP_MOST_COLUMNS];
    nytp_sheet_cells(sheet, at, cells);
    put_line(sheet, row_at(sheet, at), cells, out);
    nytp_putc(out, '\n');
    if (sheet->below != NULL)
        sheet->below(sheet, row_at(sheet, at), out);
}

/* Writes the sums of the rows that are not shown, up to the first text. */
static void put_sums(const struct nytp_sheet *sheet, uint32_t begin, struct nytp_out *out)
{
    struct nytp_cell sums[NYTP_MOST_COLUMNS] = {0}, cells[NYTP_MOST_COLUMNS];
    for (uint32_t row = begin; row < sheet->n; row++) {
        nytp_sheet_cells(sheet, row, cells);
        for (uint32_t i = 0; i < NYTP_MOST_COLUMNS; i++) {
            sums[i].value += cells[i].value;
            sums[i].of = cells[i].of;
        }
    }
    for (uint32_t i = 0; i < sheet->n_shown; i++) {
        const struct nytp_column *const column = &sheet->columns[sheet->shown[i]];
        const uint32_t width = width_of(sheet, column);
        if (is_text(column))
            break;
        if (width > 0 && column->is_summed)
            nytp_sheet_put_number(sheet, column, &sums[sheet->shown[i]], width, out);
        else
            nytp_text_pad(out, width);
    }
    nytp_putc(out, ' ');
}

void nytp_sheet_put_text(const struct nytp_sheet *sheet, struct nytp_out *out)
{
    const uint32_t n = sheet->n < sheet->wanted ? sheet->n : sheet->wanted;
    bool has_sums = false;
    for (uint32_t i = 0; i < sheet->n_shown; i++)
        has_sums |= sheet->columns[sheet->shown[i]].is_summed;
    put_head(sheet, out);
    for (uint32_t i = 0; i < n; i++)
        put_row(sheet, i, out);
    if (n == sheet->n || sheet->more == NULL)
        return;
    if (has_sums)
        put_sums(sheet, n, out);
    nytp_printf(out, has_sums ? "(%lu %s)\n" : "%lu %s\n", (unsigned long)(sheet->n - n),
                sheet->more);
}

void nytp_text_put_place(struct nytp_out *out, const struct nytp_profile *profile,
                         const struct nytp_export_options *options, uint32_t file,
                         uint32_t line, uint32_t used)
{
    char buffer[4096];
    const uint32_t columns = options->columns;
    const struct nytp_name place = nytp_text_place(profile, file, line, buffer, sizeof buffer);
    if (place.len == 0 || (columns > 0 && columns <= used + LEAST_OF_PLACE))
        return;
    nytp_puts(out, "  ");
    nytp_text_style(out, options->color, NYTP_STYLE_DIM);
    nytp_text_put_tail(out, place, columns > 0 ? columns - used - 2 : 0);
    nytp_text_style(out, options->color, NYTP_STYLE_PLAIN);
}

void nytp_text_named(struct nytp_out *out, const struct nytp_profile *profile,
                     const struct nytp_export_options *options, const struct nytp_named *named,
                     uint32_t used)
{
    used += nytp_text_put_tail(out, named->name,
                               nytp_columns_left(options->columns, used, LEAST_OF_NAME));
    nytp_text_put_place(out, profile, options, named->file, named->line, used);
}
