/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The table of stacks (rows/stack_rows.h) as an Apache Parquet file: for DuckDB, Spark,
 * ClickHouse and whatever else reads files in a lake. The columns are those of --rows.
 */
#include "exporters/rows/parquet_file.h"
#include "exporters/rows/stack_rows.h"

#include <stdlib.h>

/* Columns in the order of --rows: name, kind and what a row has there. */
#define COLUMNS(X)                                                                             \
    X(profile, TEXT, ((struct nytp_name){row->process->profile, 16}))                          \
    X(host, TEXT, row->process->host)                                                          \
    X(service, TEXT, row->process->service)                                                    \
    X(label_keys, TEXTS, table->label_keys, table->n_labels)                                   \
    X(label_values, TEXTS, table->label_values, table->n_labels)                               \
    X(application, TEXT, row->process->application)                                            \
    X(script, TEXT, row->process->script)                                                      \
    X(pid, INT32, row->process->pid)                                                           \
    X(ppid, INT32, row->process->ppid)                                                         \
    X(perl, TEXT, row->process->perl)                                                          \
    X(recorder, TEXT, row->process->recorder)                                                  \
    X(start, TIME, row->process->start_s * 1000)                                               \
    X(start_ns, INT32, row->process->start_ns)                                                 \
    X(duration_ns, INT64, row->process->duration_ns)                                           \
    X(stack, TEXTS, row->stack, row->depth)                                                    \
    X(sub, TEXT, row->sub)                                                                     \
    X(file, TEXT, row->file)                                                                   \
    X(line, INT32, row->line)                                                                  \
    X(calls, INT64, row->calls)                                                                \
    X(statements, INT64, row->statements)                                                      \
    X(wall_ns, INT64, row->wall_ns)                                                            \
    X(flags, INT32, row->flags)

/* These are there with the option lines only, */
#define LINE_COLUMNS(X)                                                                        \
    X(files, TEXTS, row->files, row->depth)                                                    \
    X(lines, INT32S, row->lines, row->depth)
/* if there are threads, */
#define THREAD_COLUMNS(X) X(thread, INT32, row->process->thread)
/* and if processes were sampled. */
#define CPU_COLUMNS(X) X(cpu_ns, INT64, row->cpu_ns)

#define PUT_TEXT   nytp_parquet_text
#define PUT_TEXTS  nytp_parquet_texts
#define PUT_INT32  nytp_parquet_int
#define PUT_INT64  nytp_parquet_int
#define PUT_TIME   nytp_parquet_int
#define PUT_INT32S nytp_parquet_ints

#define AS_NUMBER(name, kind, ...) COLUMN_##name,
#define AS_COLUMN(name, kind, ...) {#name, NYTP_PARQUET_##kind},
#define AS_PUT(name, kind, ...)    PUT_##kind(file, table->at[COLUMN_##name], __VA_ARGS__);

enum {
    COLUMNS(AS_NUMBER)
    LINE_COLUMNS(AS_NUMBER) THREAD_COLUMNS(AS_NUMBER) CPU_COLUMNS(AS_NUMBER) N_COLUMNS
};
static const struct nytp_parquet_column columns[] = {COLUMNS(AS_COLUMN) LINE_COLUMNS(
    AS_COLUMN) THREAD_COLUMNS(AS_COLUMN) CPU_COLUMNS(AS_COLUMN)};

struct table {
    struct nytp_parquet *file;
    struct nytp_parquet_column columns[N_COLUMNS]; /* that the file has */
    uint32_t at[N_COLUMNS];                        /* where each of them is */
    uint32_t n_columns;
    bool has_threads, has_cpu;
    struct nytp_out *out;
    struct nytp_name *label_keys, *label_values;
    uint32_t n_labels;
};

static bool put_row(void *context, const struct nytp_stack_row *row)
{
    const struct table *table = context;
    struct nytp_parquet *file = table->file;
    COLUMNS(AS_PUT)
    if (row->lines != NULL) {
        LINE_COLUMNS(AS_PUT)
    }
    if (table->has_threads) {
        THREAD_COLUMNS(AS_PUT)
    }
    if (table->has_cpu) {
        CPU_COLUMNS(AS_PUT)
    }
    nytp_parquet_end_row(file);
    return table->out->error.status == NYTP_OK;
}

static bool list_labels(struct table *table, const struct nytp_export_options *options)
{
    table->n_labels = options->labels.n;
    table->label_keys = calloc((size_t)table->n_labels + 1, sizeof *table->label_keys);
    table->label_values = calloc((size_t)table->n_labels + 1, sizeof *table->label_values);
    if (table->label_keys == NULL || table->label_values == NULL)
        return false;
    for (uint32_t i = 0; i < table->n_labels; i++) {
        table->label_keys[i] = nytp_label_key(options, i);
        table->label_values[i] = nytp_label_value(options, i);
    }
    return true;
}

static bool has_threads(const struct nytp_profile *profile)
{
    for (uint32_t i = 0; i < profile->n_processes; i++)
        if (profile->processes[i].thread > 0)
            return true;
    return false;
}

static void choose_columns(struct table *table, const struct nytp_profile *profile,
                           const struct nytp_export_options *options)
{
    table->has_threads = has_threads(profile);
    table->has_cpu = profile->sampled;
    for (uint32_t i = 0; i < N_COLUMNS; i++) {
        const bool wanted = i == COLUMN_files || i == COLUMN_lines ? options->lines
                            : i == COLUMN_thread                   ? table->has_threads
                            : i == COLUMN_cpu_ns                   ? table->has_cpu
                                                                   : true;
        if (!wanted)
            continue;
        table->at[i] = table->n_columns;
        table->columns[table->n_columns++] = columns[i];
    }
}

static bool write_parquet(const struct nytp_profile *profile,
                          const struct nytp_export_options *options, struct nytp_out *out)
{
    struct table table = {.out = out};
    choose_columns(&table, profile, options);
    bool ok = list_labels(&table, options);
    table.file = ok ? nytp_parquet_new(table.columns, table.n_columns, out) : NULL;
    ok = table.file != NULL && nytp_stack_rows(profile, options, out, put_row, &table);
    if (table.file != NULL)
        ok = nytp_parquet_finish(table.file) && ok;
    if (!ok)
        nytp_error_set(&out->error, NYTP_ERR_MEMORY, "out of memory for parquet");
    free(table.label_keys);
    free(table.label_values);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_parquet = {
    .name = "parquet",
    .title = "the table of --rows as Apache Parquet, for DuckDB and lakes",
    .suffixes = ".parquet",
    .needs = NYTP_HAS_STATEMENTS | NYTP_HAS_ARCS | NYTP_HAS_CALLS,
    .binary = true,
    .merges_evals = true,
    .no_diff = "load both sides and ask the engine, or use --json",
    .write = write_parquet,
};
