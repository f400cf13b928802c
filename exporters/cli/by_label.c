/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * --by=label: a table of what each label of the inputs took (formats/model/label_sums.h), for
 * people.
 */
#include "load.h"
#include "modes.h"
#include "outputs.h"

#include "exporters/base/text.h"

#include "formats/model/label_sums.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TICKS_PER_SEC 1000000000

static void put_time(struct nytp_out *out, const struct nytp_unit *unit, double seconds)
{
    nytp_text_time(out, (int64_t)(seconds * TICKS_PER_SEC + 0.5), TICKS_PER_SEC, unit, 11);
}

/* How the table fits: a narrow terminal has no room for sums, and cuts names. */
struct layout {
    const struct nytp_export_options *options;
    bool is_narrow;
    uint32_t sub_columns;
    uint32_t label_columns; /* 0: whole */
};

enum {
    NARROW = 100,           /* columns of a terminal */
    FIXED = 8 + 4 * 11 + 2, /* what stands before the sub's name */
    FIXED_NARROW = 8 + 2 * 11 + 2,
    MOST_SUB = 40,
    LEAST_NAME = 12,
};

static struct layout layout_of(const struct nytp_export_options *options,
                               const struct nytp_label_row *rows, uint32_t n)
{
    const uint32_t columns = options->columns;
    struct layout layout = {.options = options,
                            .is_narrow = columns > 0 && columns < NARROW,
                            .sub_columns = LEAST_NAME};
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t width = nytp_text_width(rows[i].slowest);
        if (width > layout.sub_columns)
            layout.sub_columns = width < MOST_SUB ? width : MOST_SUB;
    }
    if (columns == 0)
        return layout;
    const uint32_t fixed = layout.is_narrow ? FIXED_NARROW : FIXED;
    const uint32_t left = columns > fixed + 2 * LEAST_NAME ? columns - fixed : 2 * LEAST_NAME;
    if (layout.sub_columns > left / 2 - 1)
        layout.sub_columns = left / 2 - 1;
    layout.label_columns = left - layout.sub_columns - 2;
    return layout;
}

static void put_head(struct nytp_out *out, const struct layout *layout, struct nytp_name key)
{
    nytp_text_style(out, layout->options->color, NYTP_STYLE_BOLD);
    nytp_puts(out, layout->is_narrow
                       ? "       n     median        p95  "
                       : "       n      total     median        p95        own  ");
    nytp_printf(out, "%-*s  ", (int)layout->sub_columns, "slowest sub");
    nytp_text_put(out, key, layout->label_columns);
    nytp_text_style(out, layout->options->color, NYTP_STYLE_PLAIN);
    nytp_putc(out, '\n');
}

static void put_row(struct nytp_out *out, const struct layout *layout,
                    const struct nytp_label_row *row)
{
    static const struct nytp_name unknown = {"-", 1};
    const struct nytp_unit *unit = layout->options->unit;
    nytp_printf(out, "%8llu", (unsigned long long)row->n);
    if (!layout->is_narrow)
        put_time(out, unit, row->total_s);
    put_time(out, unit, row->median_s);
    put_time(out, unit, row->p95_s);
    if (!layout->is_narrow && row->slowest.len > 0)
        put_time(out, unit, row->slowest_s);
    else if (!layout->is_narrow)
        nytp_printf(out, "%11s", "-");
    nytp_puts(out, "  ");
    const uint32_t width =
        nytp_text_put_tail(out, row->slowest.len > 0 ? row->slowest : unknown,
                           layout->label_columns > 0 ? layout->sub_columns : 0);
    nytp_text_pad(out, width < layout->sub_columns ? layout->sub_columns - width + 2 : 2);
    nytp_text_put(out, row->value, layout->label_columns);
    nytp_putc(out, '\n');
}

static bool same_name(struct nytp_name a, struct nytp_name b)
{
    return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0;
}

static void put_table(struct nytp_out *out, const struct layout *layout,
                      const struct nytp_label_row *rows, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const bool is_first = i == 0 || !same_name(rows[i].key, rows[i - 1].key);
        if (is_first && i > 0)
            nytp_putc(out, '\n');
        if (is_first)
            put_head(out, layout, rows[i].key);
        put_row(out, layout, &rows[i]);
    }
}

static bool read_all(struct run *run, struct nytp_label_sums *sums)
{
    bool has_memory = true;
    for (int i = 0; i < run->cli.n_files && has_memory; i++) {
        struct nytp_error error = {0};
        const char *const path = run->cli.files[i];
        const bool is_whole = nytp_cli_read(run, path, nytp_label_sums_sink(sums), &error);
        if (!is_whole && (error.status == NYTP_ERR_TRUNCATED || error.has_offset))
            note_partial(run, path, &error);
        else if (!is_whole)
            say_unusable(run, path, &error);
        has_memory = nytp_label_sums_end_input(sums);
    }
    return has_memory;
}

static void say_nothing_found(const struct run *run)
{
    if (run->cli.quiet)
        return;
    if (run->cli.by_key != NULL)
        say("no label %s in the input", run->cli.by_key);
    else
        say("no labels in the input: a program sets them with DB::label(KEY => VALUE)");
}

struct table {
    struct layout layout;
    const struct nytp_label_row *rows;
    uint32_t n;
};

static void write_table(void *context, struct nytp_out *out)
{
    const struct table *const table = context;
    put_table(out, &table->layout, table->rows, table->n);
}

static enum exit_status write_rows(struct run *run, const struct nytp_label_row *rows,
                                   uint32_t n)
{
    const char *const output = run->cli.output != NULL ? run->cli.output : "-";
    if (strcmp(output, "-") == 0 && isatty(STDOUT_FILENO))
        fit_terminal(&run->cli.export);
    struct table table = {layout_of(&run->cli.export, rows, n), rows, n};
    const enum exit_status status = write_output(output, write_table, &table);
    return status == EXIT_DONE ? done(run) : status;
}

enum exit_status run_by_label(struct run *run)
{
    struct nytp_label_sums *const sums = nytp_label_sums_new();
    uint32_t n = 0;
    struct nytp_label_row *rows = NULL;
    enum exit_status status = EXIT_INPUT;
    if (sums != NULL && read_all(run, sums))
        rows = nytp_label_sums_rows(sums, run->cli.by_key, &n);
    if (rows == NULL) {
        say("out of memory");
    } else if (run->failed && (run->cli.strict || n == 0)) {
        say_partial(run);
    } else {
        if (n == 0)
            say_nothing_found(run);
        status = write_rows(run, rows, n);
    }
    free(rows);
    nytp_label_sums_free(sums);
    return status == EXIT_DONE && run->failed ? EXIT_INPUT : status;
}
