/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * --by=label for programs; see label_formats.h. Times are in the unit of --unit, ns unless
 * given.
 */
#include "label_formats.h"

#include "exporters/base/csv_field.h"
#include "exporters/base/json.h"
#include "exporters/base/markdown.h"
#include "exporters/base/text.h"
#include "exporters/stacks/stack_rows.h"

#include <stdlib.h>
#include <string.h>

const char *nytp_label_max_file(const struct nytp_label_table *table,
                                const struct nytp_label_row *row)
{
    return table->run->cli.files[row->max_input];
}

bool nytp_label_same_key(const struct nytp_label_row *a, const struct nytp_label_row *b)
{
    return nytp_compare_names(a->key, b->key) == 0;
}

int64_t nytp_label_ns(double seconds)
{
    const double ns = seconds * NYTP_NS_PER_SEC + 0.5, most = 9e18;
    return !(ns > -most) ? (int64_t)-most : ns < most ? (int64_t)ns : (int64_t)most;
}

static const struct nytp_unit *unit_of(const struct nytp_label_table *table)
{
    const struct nytp_unit *unit = table->run->cli.export.unit;
    return unit != NULL ? unit : nytp_unit_find("ns");
}

/* ---- JSON and CSV: the same columns ---- */

enum column_kind {
    KIND_TEXT,
    KIND_COUNT,
    KIND_CHANGE, /* "": not known */
    KIND_TIME
};

struct value {
    struct nytp_name text;
    uint64_t count;
    int64_t change;
    bool is_known;
    double seconds;
};

#define LABEL_COLUMNS(X)                                                                       \
    X(TEXT, "key", .text = row->key)                                                           \
    X(TEXT, "value", .text = row->value)                                                       \
    X(COUNT, "n", .count = row->n)                                                             \
    X(TIME, "total", .seconds = row->total_s)                                                  \
    X(TIME, "median", .seconds = row->median_s)                                                \
    X(TIME, "p95", .seconds = row->p95_s)                                                      \
    X(TIME, "max", .seconds = row->max_s)                                                      \
    X(TEXT, "max_file", .text = nytp_name_of_text(nytp_label_max_file(table, row)))            \
    X(TEXT, "slowest_sub", .text = row->slowest)                                               \
    X(TIME, "slowest_sub_own", .seconds = row->slowest_s)                                      \
    X(TIME, "database", .seconds = row->database_s)                                            \
    X(TIME, "waiting", .seconds = row->waiting_s)                                              \
    X(TEXT, "file", .text = row->slowest_file)                                                 \
    X(COUNT, "line", .count = row->slowest_line)                                               \
    X(CHANGE, "memory_grown", .change = row->memory_bytes, .is_known = row->knows_memory)      \
    X(CHANGE, "svs_grown", .change = row->svs, .is_known = row->knows_svs)

static const struct {
    enum column_kind kind;
    const char *name;
} columns[] = {
#define X(kind, name, ...) {KIND_##kind, name},
    LABEL_COLUMNS(X)
#undef X
};
#define N_COLUMNS (sizeof columns / sizeof *columns)

static void values_of(const struct nytp_label_table *table, const struct nytp_label_row *row,
                      struct value values[N_COLUMNS])
{
    const struct value all[] = {
#define X(kind, name, ...) {__VA_ARGS__},
        LABEL_COLUMNS(X)
#undef X
    };
    memcpy(values, all, sizeof all);
}

static void put_head(const struct nytp_label_table *table, size_t column, struct nytp_out *out)
{
    nytp_puts(out, columns[column].name);
    if (columns[column].kind == KIND_TIME)
        nytp_printf(out, "_%s", unit_of(table)->name);
}

static void put_number(const struct nytp_label_table *table, size_t column,
                       const struct value *value, struct nytp_out *out)
{
    const bool in_ticks = unit_of(table)->per_sec == 0;
    const int64_t ns = nytp_label_ns(value->seconds);
    struct nytp_json_times times;
    nytp_json_times_init(&times, unit_of(table), NYTP_NS_PER_SEC);
    if (columns[column].kind == KIND_TIME)
        nytp_json_time(out, &times, in_ticks ? nytp_ticks_of_ns(ns, table->ticks_per_sec) : ns);
    else if (columns[column].kind == KIND_CHANGE)
        nytp_printf(out, "%lld", (long long)value->change);
    else
        nytp_put_u64(out, value->count);
}

static void write_json(const struct nytp_label_table *table, struct nytp_out *out)
{
    nytp_puts(out, "{\"labels\":[");
    for (uint32_t i = 0; i < table->n; i++) {
        struct value values[N_COLUMNS];
        values_of(table, &table->rows[i], values);
        nytp_puts(out, i > 0 ? ",\n{" : "\n{");
        for (size_t c = 0; c < N_COLUMNS; c++) {
            if (columns[c].kind == KIND_CHANGE && !values[c].is_known)
                continue;
            nytp_puts(out, c > 0 ? ",\"" : "\"");
            put_head(table, c, out);
            nytp_puts(out, "\":");
            if (columns[c].kind == KIND_TEXT)
                nytp_json_string(out, values[c].text.ptr, values[c].text.len);
            else
                put_number(table, c, &values[c], out);
        }
        nytp_putc(out, '}');
    }
    nytp_puts(out, "\n]}\n");
}

static void write_csv(const struct nytp_label_table *table, struct nytp_out *out)
{
    for (size_t c = 0; c < N_COLUMNS; c++) {
        nytp_puts(out, c > 0 ? "," : "");
        put_head(table, c, out);
    }
    nytp_putc(out, '\n');
    for (uint32_t i = 0; i < table->n; i++) {
        struct value values[N_COLUMNS];
        values_of(table, &table->rows[i], values);
        for (size_t c = 0; c < N_COLUMNS; c++) {
            nytp_puts(out, c > 0 ? "," : "");
            if (columns[c].kind == KIND_TEXT)
                nytp_csv_field(out, values[c].text);
            else if (columns[c].kind != KIND_CHANGE || values[c].is_known)
                put_number(table, c, &values[c], out);
        }
        nytp_putc(out, '\n');
    }
}

/* ---- Markdown ---- */

static void put_cell(const struct nytp_label_table *table, double seconds, struct nytp_out *out)
{
    nytp_text_ns(out, nytp_label_ns(seconds), table->ticks_per_sec, table->run->cli.export.unit,
                 0);
    nytp_puts(out, " | ");
}

static void write_markdown(const struct nytp_label_table *table, struct nytp_out *out)
{
    uint32_t i = 0;
    for (; i < table->n && out->n_bytes < NYTP_MARKDOWN_ROOM; i++) {
        const struct nytp_label_row *const row = &table->rows[i];
        if (i == 0 || !nytp_label_same_key(row, row - 1)) {
            nytp_puts(out, i > 0 ? "\n| " : "| ");
            nytp_markdown_text(out, row->key);
            nytp_puts(out, " | n | total | median | p95 | max | slowest sub |\n"
                           "|---|---:|---:|---:|---:|---:|---|\n");
        }
        nytp_puts(out, "| ");
        nytp_markdown_code(out, row->value);
        nytp_printf(out, " | %llu | ", (unsigned long long)row->n);
        put_cell(table, row->total_s, out);
        put_cell(table, row->median_s, out);
        put_cell(table, row->p95_s, out);
        put_cell(table, row->max_s, out);
        nytp_markdown_code(out, row->slowest.len > 0 ? row->slowest : nytp_name_of_text("-"));
        nytp_puts(out, " |\n");
    }
    if (i < table->n)
        nytp_printf(out, "\n%lu more labels\n", (unsigned long)(table->n - i));
}

bool nytp_label_format_write(const char *format, const struct nytp_label_table *table,
                             struct nytp_out *out)
{
    if (strcmp(format, "json") == 0)
        write_json(table, out);
    else if (strcmp(format, "csv") == 0)
        write_csv(table, out);
    else if (strcmp(format, "markdown") == 0)
        write_markdown(table, out);
    else
        return false;
    return true;
}

/* ---- rows for ClickHouse and other engines ---- */

static void put_text(struct nytp_out *out, const char *key, struct nytp_name text)
{
    nytp_json_key(out, key);
    nytp_json_string(out, text.ptr, text.len);
    nytp_putc(out, ',');
}

/* A label of the command line; the last one of a key counts. */
static struct nytp_name given_label(const struct nytp_export_options *options, const char *key,
                                    struct nytp_name otherwise)
{
    for (uint32_t i = 0; i < options->labels.n; i++)
        if (nytp_compare_names(nytp_label_key(options, i), nytp_name_of_text(key)) == 0)
            otherwise = nytp_label_value(options, i);
    return otherwise;
}

void nytp_label_put_rows(const struct nytp_label_table *table, struct nytp_label_input input,
                         struct nytp_out *out)
{
    const struct nytp_export_options *const options = &table->run->cli.export;
    for (uint32_t i = 0; i < table->n; i++) {
        const struct nytp_label_row *const row = &table->rows[i];
        for (uint32_t l = 0; l < row->n_lengths; l++) {
            nytp_putc(out, '{');
            put_text(out, "host", given_label(options, "host", input.host));
            put_text(out, "service", given_label(options, "service", nytp_name_of_text("")));
            put_text(out, "release", given_label(options, "release", nytp_name_of_text("")));
            put_text(out, "application", input.application);
            put_text(out, "label_key", row->key);
            put_text(out, "label_value", row->value);
            put_text(out, "slowest_sub", row->slowest);
            nytp_printf(out, "\"start\":%lld,\"n\":%llu,\"ns\":%lld}\n",
                        strtoll(input.basetime.ptr, NULL, 10),
                        (unsigned long long)row->lengths[l].n,
                        (long long)nytp_label_ns(row->lengths[l].seconds));
        }
    }
}
