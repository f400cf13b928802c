/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Writes the table of the hottest lines; see hot_lines.h.
 */
#include "hot_lines.h"
#include "calls.h"
#include "exporters/base/text.h"

#include "formats/model/profile.h"
#include "formats/model/svs.h"

#include <stdlib.h>
#include <string.h>

#define FIXED_COLUMNS 29
#define SVS_COLUMNS   20
#define MIN_SOURCE    24
#define HOT_PERCENT   10

static int compare_times(const void *x, const void *y)
{
    const struct nytp_line_row *a = x, *b = y;
    if (a->self_ticks != b->self_ticks)
        return a->self_ticks < b->self_ticks ? 1 : -1;
    if (a->file != b->file)
        return a->file > b->file ? 1 : -1;
    return (a->line > b->line) - (a->line < b->line);
}

static int compare_svs(const void *x, const void *y)
{
    const struct nytp_line_row *a = x, *b = y;
    if (a->kept_svs != b->kept_svs)
        return a->kept_svs < b->kept_svs ? 1 : -1;
    return compare_times(x, y);
}

/* One by each measure of memory, since qsort() hands nothing on. */
static int compare_bytes(const void *x, const void *y, enum nytp_bytes_measure measure)
{
    const struct nytp_line_row *a = x, *b = y;
    if (a->bytes.of[measure] != b->bytes.of[measure])
        return a->bytes.of[measure] < b->bytes.of[measure] ? 1 : -1;
    return compare_times(x, y);
}

static int compare_alloc_objects(const void *x, const void *y)
{
    return compare_bytes(x, y, NYTP_ALLOC_OBJECTS);
}

static int compare_alloc_space(const void *x, const void *y)
{
    return compare_bytes(x, y, NYTP_ALLOC_SPACE);
}

static int compare_inuse_objects(const void *x, const void *y)
{
    return compare_bytes(x, y, NYTP_INUSE_OBJECTS);
}

static int compare_inuse_space(const void *x, const void *y)
{
    return compare_bytes(x, y, NYTP_INUSE_SPACE);
}

nytp_line_order_fn *nytp_line_order(const char *sort)
{
    static nytp_line_order_fn *const by_bytes[NYTP_N_BYTES_MEASURES] = {
        [NYTP_ALLOC_OBJECTS] = compare_alloc_objects,
        [NYTP_ALLOC_SPACE] = compare_alloc_space,
        [NYTP_INUSE_OBJECTS] = compare_inuse_objects,
        [NYTP_INUSE_SPACE] = compare_inuse_space,
    };
    const enum nytp_bytes_measure measure = nytp_bytes_measure_of(sort);
    if (measure < NYTP_N_BYTES_MEASURES)
        return by_bytes[measure];
    return sort != NULL && strcmp(sort, "svs") == 0 ? compare_svs : compare_times;
}

static bool has_svs(const struct nytp_profile *profile)
{
    return (profile->has & NYTP_HAS_SVS) != 0;
}

static struct nytp_name place_of(const struct nytp_profile *profile,
                                 const struct nytp_line_row *row, uint32_t columns,
                                 char *buffer, size_t size)
{
    static const char nowhere[] = "(no line)";
    if (row->file == 0)
        return (struct nytp_name){nowhere, sizeof nowhere - 1};
    return nytp_text_place_in(profile, row->file, row->line, columns, buffer, size);
}

static uint32_t fixed_columns(const struct nytp_profile *profile)
{
    return FIXED_COLUMNS + (has_svs(profile) ? SVS_COLUMNS : 0);
}

/* Columns for places: the longest of them, half of what a terminal has beside the numbers. */
static uint32_t place_columns(const struct nytp_profile *profile, uint32_t columns,
                              const struct nytp_line_row *rows, uint32_t n)
{
    uint32_t longest = 5;
    char buffer[4096];
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t width =
            nytp_text_width(place_of(profile, &rows[i], columns, buffer, sizeof buffer));
        longest = width > longest ? width : longest;
    }
    if (columns == 0)
        return longest;
    const uint32_t fixed = fixed_columns(profile);
    const uint32_t left = columns > fixed + MIN_SOURCE ? columns - fixed : MIN_SOURCE;
    return longest < left / 2 ? longest : left / 2;
}

static void put_row(const struct nytp_profile *profile,
                    const struct nytp_export_options *options, const struct nytp_line_row *row,
                    uint32_t place_width, struct nytp_out *out)
{
    char buffer[4096];
    const bool hot = row->self_ticks > profile->total_ticks / 100 * HOT_PERCENT;
    const struct nytp_source_line *source = nytp_profile_source(profile, row->file, row->line);
    nytp_text_time(out, row->self_ticks, profile->ticks_per_sec, options->unit, 10);
    nytp_putc(out, ' ');
    nytp_text_percent(out, row->self_ticks, profile->total_ticks);
    nytp_printf(out, " %9llu ", (unsigned long long)row->statements);
    nytp_text_memory(out, nytp_text_memory_columns(profile, options->sort), row->svs,
                     row->kept_svs, row->bytes);
    const uint32_t width =
        nytp_text_put_tail(out, place_of(profile, row, options->columns, buffer, sizeof buffer),
                           options->columns > 0 ? place_width : 0);
    const uint32_t used = fixed_columns(profile) + place_width + 2;
    const bool fits = options->columns == 0 || options->columns > used;
    if (source != NULL && fits) {
        nytp_text_pad(out, place_width - width + 2);
        nytp_text_style(out, options->color, hot ? NYTP_STYLE_HOT : NYTP_STYLE_PLAIN);
        nytp_text_put_source(out, source, true,
                             options->columns > 0 ? options->columns - used : 0);
        nytp_text_style(out, options->color, NYTP_STYLE_PLAIN);
    }
    nytp_putc(out, '\n');
}

static void put_rest(const struct nytp_profile *profile,
                     const struct nytp_export_options *options,
                     const struct nytp_line_row *rows, uint32_t n, struct nytp_out *out)
{
    int64_t ticks = 0;
    int64_t svs = 0, kept_svs = 0;
    struct nytp_bytes bytes = {{0}};
    uint64_t statements = 0;
    for (uint32_t i = 0; i < n; i++) {
        ticks += rows[i].self_ticks;
        svs += rows[i].svs;
        kept_svs += rows[i].kept_svs;
        nytp_bytes_add(&bytes, rows[i].bytes);
        statements += rows[i].statements;
    }
    nytp_text_time(out, ticks, profile->ticks_per_sec, options->unit, 10);
    nytp_putc(out, ' ');
    nytp_text_percent(out, ticks, profile->total_ticks);
    nytp_printf(out, " %9llu ", (unsigned long long)statements);
    nytp_text_memory(out, nytp_text_memory_columns(profile, options->sort), svs, kept_svs,
                     bytes);
    nytp_printf(out, "(%lu more lines)\n", (unsigned long)n);
}

/* A file's line 0 whose builtins were all counted where they are called. */
static void drop_empty(struct nytp_line_rows *rows)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < rows->n; i++)
        if (rows->rows[i].self_ticks != 0 || rows->rows[i].statements > 0 ||
            rows->rows[i].svs != 0 || !nytp_bytes_are_none(rows->rows[i].bytes))
            rows->rows[n++] = rows->rows[i];
    rows->n = n;
}

bool nytp_put_hot_lines(const struct nytp_profile *profile,
                        const struct nytp_export_options *options, uint32_t wanted,
                        struct nytp_out *out)
{
    struct nytp_line_rows rows = nytp_lines_of_all(profile);
    if (rows.rows == NULL)
        return nytp_out_of_memory(&out->error);
    drop_empty(&rows);
    if (rows.n > 0)
        qsort(rows.rows, rows.n, sizeof *rows.rows, nytp_line_order(options->sort));
    const uint32_t shown = rows.n < wanted ? rows.n : wanted;
    const uint32_t place_width = place_columns(profile, options->columns, rows.rows, shown);
    nytp_text_style(out, options->color, NYTP_STYLE_BOLD);
    nytp_printf(out, "      self  self%% %9s ", nytp_text_stmts(profile));
    nytp_text_memory_title(out, nytp_text_memory_columns(profile, options->sort),
                           "      SVs      kept ");
    nytp_puts(out, "line");
    nytp_text_style(out, options->color, NYTP_STYLE_PLAIN);
    nytp_putc(out, '\n');
    for (uint32_t i = 0; i < shown; i++)
        put_row(profile, options, &rows.rows[i], place_width, out);
    if (shown < rows.n)
        put_rest(profile, options, rows.rows + shown, rows.n - shown, out);
    free(rows.rows);
    return out->error.status == NYTP_OK;
}
