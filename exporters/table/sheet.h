/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A sheet: columns, and rows whose cells are filled in when they are written. One writer for
 * each form writes all sheets. (`struct nytp_table` is a hash table.)
 */
#ifndef NYTP_SHEET_H
#define NYTP_SHEET_H

#include "exporters/base/exporter.h"
#include "exporters/base/text.h"

/* How the values of a column are shown. CSV and JSON leave out means, shares and ratios,
 * which follow from other columns. */
enum nytp_cell_kind {
    NYTP_CELL_COUNT,
    NYTP_CELL_TICKS,
    NYTP_CELL_NS,
    NYTP_CELL_MEAN,  /* ticks of `of` calls: the time of one */
    NYTP_CELL_SHARE, /* value of `of`, in percent */
    NYTP_CELL_RATIO, /* value to `of`: "x1.3" */
    NYTP_CELL_BYTES,
    NYTP_CELL_WORD, /* a text of our own */
    NYTP_CELL_CODE, /* a name, a pattern, a statement: code in Markdown and HTML */
    NYTP_CELL_PLACE /* file and line; two columns of CSV, two fields of JSON */
};

struct nytp_cell {
    struct nytp_name text;
    int64_t value, of;
    uint32_t file, line;
    uint8_t kind;    /* not 0: an enum nytp_cell_kind instead of the column's */
    bool is_none;    /* not known: "-", or an empty field */
    bool of_is_none; /* the same for `of`, in a column of differences */
    bool is_about;   /* a time with "~" before it */
};

struct nytp_sheet;

/* Writes the text without a width to a terminal, after `pad` blanks unless it is empty. `room`
 * is the rest of the line, at least 12; 0: no limit. */
typedef void nytp_sheet_tail_fn(const struct nytp_sheet *sheet, uint32_t row, uint32_t pad,
                                uint32_t room, struct nytp_out *out);

struct nytp_column {
    const char *name;  /* field of CSV and JSON; times get their unit: "inclusive_ns" */
    const char *title; /* for people */
    enum nytp_cell_kind kind;
    /* Columns of a terminal. A number is right-aligned within its width, a text is followed by
     * at least one blank. The first text without a width takes the rest of the line; columns
     * behind it appear in other forms only. On a narrow terminal a number with `narrow` 0 is
     * not shown. */
    uint32_t width, narrow;
    bool dashes_zero;  /* on terminals 0 is "-" */
    bool is_cut;       /* on terminals a longer text loses its start */
    bool is_summed;    /* in the row for all rows that are not shown */
    bool differs;      /* `value` is the base's, `of` the new side's: two fields of CSV */
    bool joins;        /* stands in the cell before it, in Markdown and HTML */
    uint8_t gap;       /* more blanks before a text */
    const char *words; /* its title in Markdown and HTML, NULL = `title` */
};

#define NYTP_MOST_COLUMNS 28

struct nytp_sheet {
    const char *name; /* of the list in JSON: "waits" */
    const struct nytp_profile *profile;
    const struct nytp_export_options *options;
    int64_t ticks_per_sec;
    const struct nytp_unit *unit; /* of times; NULL = the form's own */
    struct nytp_column columns[NYTP_MOST_COLUMNS];
    uint8_t shown[NYTP_MOST_COLUMNS]; /* indices of columns, in the order of the output */
    uint32_t n_shown;
    const uint32_t *rows; /* the n rows in the order of the output; NULL: 0 to n - 1 */
    uint32_t n;
    uint32_t wanted;  /* rows to write, the others are summed up or counted */
    const char *more; /* what rows left out are called: "more subs"; NULL: not mentioned */
    bool is_narrow;
    bool short_places; /* on narrow terminals places have no folders */
    const void *context;
    void (*fill)(const struct nytp_sheet *sheet, uint32_t row, struct nytp_cell *cells);
    nytp_sheet_tail_fn *tail; /* writes the text without a width; NULL: as others */
    void (*below)(const struct nytp_sheet *sheet, uint32_t row, struct nytp_out *out);
};

/* Begins a sheet that shows these columns, in the unit and for the terminal of the options.
 * `wanted` is their `top`, or 20. */
struct nytp_sheet nytp_sheet_of(const struct nytp_profile *profile,
                                const struct nytp_export_options *options,
                                const struct nytp_column *columns, size_t n_columns);

/* Shows a column, if `shown`, behind those that are shown already; and only these columns. */
void nytp_sheet_show(struct nytp_sheet *sheet, unsigned column, bool shown);
void nytp_sheet_show_only(struct nytp_sheet *sheet, const uint8_t *columns, size_t n);

/* Returns how many columns of a terminal stand before the text without a width. */
uint32_t nytp_sheet_fixed(const struct nytp_sheet *sheet);

/* Makes a column as wide as its widest shown text and a blank, but for texts of no more than
 * `most` columns. */
void nytp_sheet_fit(struct nytp_sheet *sheet, unsigned column, uint32_t most);

/* Sorts `rows`, the sheet's own or any, by the values of a column, the largest first; equal
 * ones keep their order. Returns false if memory is out. */
bool nytp_sheet_sort(const struct nytp_sheet *sheet, unsigned column, uint32_t *rows,
                     uint32_t n);

/* Fills zeroed cells of the row at an index of `rows`. */
void nytp_sheet_cells(const struct nytp_sheet *sheet, uint32_t at,
                      struct nytp_cell cells[NYTP_MOST_COLUMNS]);

/* Returns the text of a cell that is a text or a place; the place goes to the buffer. */
struct nytp_name nytp_sheet_text(const struct nytp_sheet *sheet,
                                 const struct nytp_column *column, const struct nytp_cell *cell,
                                 char *buffer, size_t size);

extern const char *const nytp_form_names[NYTP_N_FORMS];

/* ---- writers ---- */

/* Writes sheets, which have the same options, in the form asked for; returns false, with
 * nothing written, if that is text. JSON is one object with a list for each sheet; tables of
 * the other forms have an empty line between them. */
bool nytp_sheets_put(struct nytp_sheet *sheets, size_t n, struct nytp_out *out);

/* Writes the place of a name, dimmed, if the terminal's line has room for it. `used` columns of
 * it are taken. */
void nytp_text_put_place(struct nytp_out *out, const struct nytp_profile *profile,
                         const struct nytp_export_options *options, uint32_t file,
                         uint32_t line, uint32_t used);

/* Writes a name, as far as there is room, and its place in the same way. */
struct nytp_named {
    struct nytp_name name;
    uint32_t file, line;
};
void nytp_text_named(struct nytp_out *out, const struct nytp_profile *profile,
                     const struct nytp_export_options *options, const struct nytp_named *named,
                     uint32_t used);

/* Writes a table for the terminal: head, rows, and a last line for the rest. */
void nytp_sheet_put_text(const struct nytp_sheet *sheet, struct nytp_out *out);

/* Writes a number for people, right-aligned in so many columns. */
void nytp_sheet_put_number(const struct nytp_sheet *sheet, const struct nytp_column *column,
                           const struct nytp_cell *cell, uint32_t columns,
                           struct nytp_out *out);

/* Writes a Markdown table as far as there is room (markdown.h), and how much is left out.
 * Returns the number of rows. */
uint32_t nytp_sheet_put_markdown(const struct nytp_sheet *sheet, struct nytp_out *out);

/* Writes all rows as CSV, with a line of names. */
void nytp_sheet_put_csv(const struct nytp_sheet *sheet, struct nytp_out *out);

#endif
