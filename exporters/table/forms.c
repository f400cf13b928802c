/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Sheets as CSV, JSON, Markdown and HTML; see sheet.h.
 */
#include "sheet.h"

#include "exporters/base/html.h"
#include "exporters/base/json.h"
#include "exporters/base/markdown.h"

/* ---- for programs ---- */

static const struct nytp_unit *unit_of(const struct nytp_sheet *sheet)
{
    return sheet->unit != NULL ? sheet->unit : nytp_unit_find("ns");
}

static bool is_derived(const struct nytp_column *column)
{
    return column->kind == NYTP_CELL_MEAN || column->kind == NYTP_CELL_SHARE ||
           column->kind == NYTP_CELL_RATIO;
}

static bool is_text(const struct nytp_column *column)
{
    return column->kind == NYTP_CELL_WORD || column->kind == NYTP_CELL_CODE;
}

/* Where numbers go to, with the scales for times. */
struct form {
    const struct nytp_sheet *sheet;
    struct nytp_out *out;
    struct nytp_json_times ticks, ns;
};

static struct form form_of(const struct nytp_sheet *sheet, struct nytp_out *out)
{
    struct form form = {.sheet = sheet, .out = out};
    nytp_json_times_init(&form.ticks, unit_of(sheet), sheet->ticks_per_sec);
    nytp_json_times_init(&form.ns, unit_of(sheet), NYTP_NS_PER_SEC);
    return form;
}

static void put_number(const struct form *form, const struct nytp_column *column,
                       const struct nytp_cell *cell)
{
    const bool in_ticks = unit_of(form->sheet)->per_sec == 0;
    if (column->kind == NYTP_CELL_TICKS || cell->kind == NYTP_CELL_TICKS)
        nytp_json_time(form->out, &form->ticks, cell->value);
    else if (column->kind == NYTP_CELL_NS)
        nytp_json_time(form->out, &form->ns,
                       in_ticks ? nytp_ticks_of_ns(cell->value, form->sheet->ticks_per_sec)
                                : cell->value);
    else
        nytp_put_i64(form->out, cell->value);
}

static void put_name(const struct nytp_sheet *sheet, const struct nytp_column *column,
                     const char *side, struct nytp_out *out)
{
    nytp_printf(out, "%s%s%s", side, *side != '\0' && *column->name != '\0' ? "_" : "",
                column->name);
    if (column->kind == NYTP_CELL_NS || column->kind == NYTP_CELL_TICKS)
        nytp_printf(out, "_%s", unit_of(sheet)->name);
}

static struct nytp_name file_of(const struct nytp_sheet *sheet, const struct nytp_cell *cell)
{
    return sheet->profile->files[cell->file].name;
}

/* Returns true if a spreadsheet would take the text for a formula, as the file "-e". */
static bool looks_like_formula(struct nytp_name text)
{
    return text.len > 0 && text.ptr[0] != '\0' && strchr("=+-@\t\r", text.ptr[0]) != NULL;
}

/* Writes a text in quotes where it needs them, and with an apostrophe before what a spreadsheet
 * would take for a formula. */
static void put_csv_field(struct nytp_out *out, struct nytp_name text)
{
    bool needs_quotes = false;
    for (uint32_t i = 0; i < text.len && !needs_quotes; i++)
        needs_quotes = text.ptr[i] == '\0' || strchr(",\"\r\n ", text.ptr[i]) != NULL;
    const char *const quote = needs_quotes ? "\"" : "";
    nytp_puts(out, quote);
    nytp_puts(out, looks_like_formula(text) ? "'" : "");
    for (uint32_t i = 0; i < text.len; i++) {
        const char c = text.ptr[i];
        if (c == '"')
            nytp_putc(out, '"');
        nytp_putc(out, c == '\0' ? ' ' : c); /* spreadsheets end the file at a NUL */
    }
    nytp_puts(out, quote);
}

static void put_field(const struct form *form, const struct nytp_column *column,
                      const struct nytp_cell *cell)
{
    struct nytp_out *const out = form->out;
    if (column->kind == NYTP_CELL_PLACE) {
        put_csv_field(out, file_of(form->sheet, cell));
        nytp_putc(out, ',');
        nytp_put_u64(out, cell->line);
    } else if (is_text(column)) {
        put_csv_field(out, cell->text);
    } else if (!cell->is_none) {
        put_number(form, column, cell);
    }
}

/* Writes a row, or with cells NULL the names of the columns. */
static void put_csv_line(const struct form *form, const struct nytp_cell *cells)
{
    const struct nytp_sheet *const sheet = form->sheet;
    struct nytp_out *const out = form->out;
    const char *separator = "";
    for (uint32_t i = 0; i < sheet->n_shown; i++) {
        const struct nytp_column *const column = &sheet->columns[sheet->shown[i]];
        if (is_derived(column))
            continue;
        nytp_puts(out, separator);
        separator = ",";
        if (cells != NULL)
            put_field(form, column, &cells[sheet->shown[i]]);
        else if (column->kind == NYTP_CELL_PLACE)
            nytp_printf(out, "%sfile,%sline", column->name, column->name);
        else
            put_name(sheet, column, column->differs ? "base" : "", out);
        if (!column->differs)
            continue;
        nytp_putc(out, ',');
        if (cells == NULL)
            put_name(sheet, column, "new", out);
        else
            put_field(form, column,
                      &(struct nytp_cell){.kind = cells[sheet->shown[i]].kind,
                                          .value = cells[sheet->shown[i]].of,
                                          .is_none = cells[sheet->shown[i]].of_is_none});
    }
    nytp_putc(out, '\n');
}

void nytp_sheet_put_csv(const struct nytp_sheet *sheet, struct nytp_out *out)
{
    struct nytp_cell cells[NYTP_MOST_COLUMNS];
    const struct form form = form_of(sheet, out);
    put_csv_line(&form, NULL);
    for (uint32_t i = 0; i < sheet->n; i++) {
        nytp_sheet_cells(sheet, i, cells);
        put_csv_line(&form, cells);
    }
}

static void put_json_member(const struct form *form, const struct nytp_column *column,
                            const struct nytp_cell *cell)
{
    const struct nytp_sheet *const sheet = form->sheet;
    struct nytp_out *const out = form->out;
    if (column->kind == NYTP_CELL_PLACE) {
        nytp_printf(out, "\"%sfile\":", column->name);
        nytp_json_string(out, file_of(sheet, cell).ptr, file_of(sheet, cell).len);
        nytp_printf(out, ",\"%sline\":%lu", column->name, (unsigned long)cell->line);
        return;
    }
    nytp_putc(out, '"');
    put_name(sheet, column, "", out);
    nytp_puts(out, "\":");
    if (is_text(column))
        nytp_json_string(out, cell->text.ptr, cell->text.len);
    else
        put_number(form, column, cell);
}

static void put_json(const struct nytp_sheet *sheet, struct nytp_out *out)
{
    struct nytp_cell cells[NYTP_MOST_COLUMNS];
    const struct form form = form_of(sheet, out);
    nytp_printf(out, "\"%s\":[", sheet->name);
    for (uint32_t i = 0; i < sheet->n; i++) {
        const char *separator = "";
        nytp_sheet_cells(sheet, i, cells);
        nytp_puts(out, i > 0 ? ",\n{" : "\n{");
        for (uint32_t c = 0; c < sheet->n_shown; c++) {
            const struct nytp_column *const column = &sheet->columns[sheet->shown[c]];
            if (is_derived(column) || cells[sheet->shown[c]].is_none)
                continue;
            nytp_puts(out, separator);
            separator = ",";
            put_json_member(&form, column, &cells[sheet->shown[c]]);
        }
        nytp_putc(out, '}');
    }
    nytp_puts(out, "\n]");
}

/* ---- for people ---- */

static const char *title_of(const struct nytp_column *column)
{
    return column->words != NULL ? column->words : column->title;
}

static void put_markdown_text(const struct nytp_sheet *sheet, const struct nytp_column *column,
                              const struct nytp_cell *cell, struct nytp_out *out)
{
    char buffer[300];
    const struct nytp_name text = nytp_sheet_text(sheet, column, cell, buffer, sizeof buffer);
    if (column->joins && text.len > 0)
        nytp_putc(out, ' ');
    if (column->kind == NYTP_CELL_WORD)
        nytp_markdown_text(out, text);
    else if (text.len > 0 || !column->joins)
        nytp_markdown_code(out, text.len > 0 ? text : nytp_name_of_text("-"));
}

static void put_markdown_head(const struct nytp_sheet *sheet, struct nytp_out *out)
{
    for (uint32_t i = 0; i < sheet->n_shown; i++) {
        const struct nytp_column *const column = &sheet->columns[sheet->shown[i]];
        if (column->joins)
            continue;
        nytp_puts(out, "| ");
        if (column->kind == NYTP_CELL_CODE) /* perhaps a name of the program's */
            nytp_markdown_text(out, nytp_name_of_text(title_of(column)));
        else
            nytp_puts(out, title_of(column));
        nytp_putc(out, ' ');
    }
    nytp_puts(out, "|\n");
    for (uint32_t i = 0; i < sheet->n_shown; i++) {
        const struct nytp_column *const column = &sheet->columns[sheet->shown[i]];
        if (!column->joins)
            nytp_puts(out, column->kind >= NYTP_CELL_WORD ? "|---" : "|---:");
    }
    nytp_puts(out, "|\n");
}

uint32_t nytp_sheet_put_markdown(const struct nytp_sheet *sheet, struct nytp_out *out)
{
    struct nytp_cell cells[NYTP_MOST_COLUMNS];
    uint32_t row = 0;
    put_markdown_head(sheet, out);
    for (; row < sheet->n && row < sheet->wanted && out->n_bytes < NYTP_MARKDOWN_ROOM; row++) {
        nytp_sheet_cells(sheet, row, cells);
        for (uint32_t i = 0; i < sheet->n_shown; i++) {
            const struct nytp_column *const column = &sheet->columns[sheet->shown[i]];
            if (!column->joins)
                nytp_puts(out, i > 0 ? " | " : "| ");
            if (column->kind >= NYTP_CELL_WORD)
                put_markdown_text(sheet, column, &cells[sheet->shown[i]], out);
            else
                nytp_sheet_put_number(sheet, column, &cells[sheet->shown[i]], 0, out);
        }
        nytp_puts(out, " |\n");
    }
    if (row < sheet->n && sheet->more != NULL)
        nytp_printf(out, "\n%lu %s\n", (unsigned long)(sheet->n - row), sheet->more);
    return row;
}

static void put_html_row(const struct nytp_sheet *sheet, const struct nytp_cell *cells,
                         struct nytp_out *out)
{
    char buffer[4096];
    nytp_puts(out, "<tr>");
    for (uint32_t i = 0; i < sheet->n_shown; i++) {
        const struct nytp_column *const column = &sheet->columns[sheet->shown[i]];
        const struct nytp_cell *const cell = &cells[sheet->shown[i]];
        if (column->kind < NYTP_CELL_WORD) {
            nytp_puts(out, "<td class=number>");
            nytp_sheet_put_number(sheet, column, cell, 0, out);
            continue;
        }
        const struct nytp_name text =
            nytp_sheet_text(sheet, column, cell, buffer, sizeof buffer);
        nytp_puts(out, column->joins ? " <small>" : "<td>");
        nytp_puts(out, column->kind == NYTP_CELL_CODE ? "<code>" : "");
        nytp_html_text(out, text.ptr, text.len);
        nytp_puts(out, column->kind == NYTP_CELL_CODE ? "</code>" : "");
        nytp_puts(out, column->joins ? "</small>" : "");
    }
    nytp_putc(out, '\n');
}

static void put_html(const struct nytp_sheet *sheet, struct nytp_out *out)
{
    struct nytp_cell cells[NYTP_MOST_COLUMNS];
    nytp_puts(out, "<table>\n<thead><tr>");
    for (uint32_t i = 0; i < sheet->n_shown; i++) {
        if (sheet->columns[sheet->shown[i]].joins)
            continue;
        nytp_puts(out, "<th scope=col>");
        nytp_html_puts(out, title_of(&sheet->columns[sheet->shown[i]]));
    }
    nytp_puts(out, "\n<tbody>\n");
    for (uint32_t i = 0; i < sheet->n; i++) {
        nytp_sheet_cells(sheet, i, cells);
        put_html_row(sheet, cells, out);
    }
    nytp_puts(out, "</table>\n");
}

/* ---- one of them ---- */

const char *const nytp_form_names[NYTP_N_FORMS] = {
    [NYTP_FORM_TEXT] = "text",         [NYTP_FORM_CSV] = "csv",   [NYTP_FORM_JSON] = "json",
    [NYTP_FORM_MARKDOWN] = "markdown", [NYTP_FORM_HTML] = "html",
};

static void put_markdown(const struct nytp_sheet *sheet, struct nytp_out *out)
{
    nytp_sheet_put_markdown(sheet, out);
}

bool nytp_sheets_put(struct nytp_sheet *sheets, size_t n, struct nytp_out *out)
{
    static const struct {
        const char *begin, *between, *end;
        void (*put)(const struct nytp_sheet *sheet, struct nytp_out *out);
    } forms[NYTP_N_FORMS] = {
        [NYTP_FORM_CSV] = {"", "\n", "", nytp_sheet_put_csv},
        [NYTP_FORM_JSON] = {"{", ",\n", "}\n", put_json},
        [NYTP_FORM_MARKDOWN] = {"", "\n", "", put_markdown},
        [NYTP_FORM_HTML] = {"<!DOCTYPE html>\n<meta charset=utf-8>\n<title>nytp</title>\n"
                            "<style>td, th { padding: 0 .5em; text-align: left } "
                            ".number { text-align: right }</style>\n",
                            "\n", "", put_html},
    };
    const enum nytp_form form = sheets[0].options->as;
    if (forms[form].put == NULL)
        return false;
    nytp_puts(out, forms[form].begin);
    for (size_t i = 0; i < n; i++) {
        nytp_puts(out, i > 0 ? forms[form].between : "");
        if (form != NYTP_FORM_MARKDOWN && sheets[i].options->top > 0 &&
            sheets[i].n > sheets[i].wanted)
            sheets[i].n = sheets[i].wanted;
        forms[form].put(&sheets[i], out);
    }
    nytp_puts(out, forms[form].end);
    return true;
}
