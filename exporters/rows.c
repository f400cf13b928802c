/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The table of stacks (stacks/stack_rows.h) as JSON lines, for databases with the profiles of
 * many hosts (share/nytp/clickhouse/).
 */
#include "exporters/base/json.h"
#include "exporters/stacks/stack_rows.h"

/* 2^53: beyond it readers of JSON round numbers. */
#define MAX_EXACT INT64_C(9007199254740992)

struct rows {
    const struct nytp_export_options *options;
    struct nytp_out *out;
};

static void put_text(struct nytp_out *out, const char *key, struct nytp_name text)
{
    nytp_putc(out, ',');
    nytp_json_key(out, key);
    nytp_json_string(out, text.ptr, text.len);
}

static void put_number(struct nytp_out *out, const char *key, int64_t value)
{
    const char *quote = value > MAX_EXACT || value < -MAX_EXACT ? "\"" : "";
    nytp_putc(out, ',');
    nytp_json_key(out, key);
    nytp_printf(out, "%s%lld%s", quote, (long long)value, quote);
}

static void put_labels(const struct rows *rows)
{
    struct nytp_out *out = rows->out;
    for (int values = 0; values <= 1; values++) {
        nytp_puts(out, values ? ",\"label_values\":[" : ",\"label_keys\":[");
        for (uint32_t i = 0; i < rows->options->labels.n; i++) {
            const struct nytp_name text =
                values ? nytp_label_value(rows->options, i) : nytp_label_key(rows->options, i);
            nytp_puts(out, i > 0 ? "," : "");
            nytp_json_string(out, text.ptr, text.len);
        }
        nytp_putc(out, ']');
    }
}

static void put_process(const struct rows *rows, const struct nytp_row_process *process)
{
    struct nytp_out *out = rows->out;
    nytp_printf(out, "{\"profile\":\"%s\"", process->profile);
    put_text(out, "host", process->host);
    put_text(out, "service", process->service);
    put_labels(rows);
    put_text(out, "application", process->application);
    put_text(out, "script", process->script);
    put_number(out, "pid", process->pid);
    put_number(out, "ppid", process->ppid);
    if (process->thread > 0)
        put_number(out, "thread", process->thread);
    put_text(out, "perl", process->perl);
    put_text(out, "recorder", process->recorder);
    put_number(out, "start", process->start_s);
    put_number(out, "start_ns", process->start_ns);
}

static void put_names(struct nytp_out *out, const char *key, const struct nytp_name *names,
                      uint32_t n)
{
    nytp_putc(out, ',');
    nytp_json_key(out, key);
    for (uint32_t i = 0; i < n; i++) {
        nytp_putc(out, i > 0 ? ',' : '[');
        nytp_json_string(out, names[i].ptr, names[i].len);
    }
    nytp_putc(out, ']');
}

static void put_lines(struct nytp_out *out, const uint32_t *lines, uint32_t n)
{
    nytp_puts(out, ",\"lines\":");
    for (uint32_t i = 0; i < n; i++)
        nytp_printf(out, i > 0 ? ",%lu" : "[%lu", (unsigned long)lines[i]);
    nytp_putc(out, ']');
}

static bool put_row(void *context, const struct nytp_stack_row *row)
{
    const struct rows *rows = context;
    struct nytp_out *out = rows->out;
    put_process(rows, row->process);
    if ((row->flags & NYTP_ROW_COUNTS) == 0)
        put_number(out, "duration_ns", row->process->duration_ns);
    put_names(out, "stack", row->stack, row->depth);
    if (row->lines != NULL) {
        put_names(out, "files", row->files, row->depth);
        put_lines(out, row->lines, row->depth);
    }
    put_text(out, "sub", row->sub);
    put_text(out, "file", row->file);
    put_number(out, "line", row->line);
    put_number(out, "calls", row->calls);
    put_number(out, "statements", row->statements);
    if ((row->flags & NYTP_ROW_COUNTS) == 0)
        put_number(out, "wall_ns", row->wall_ns);
    if ((row->flags & NYTP_ROW_SAMPLED) != 0)
        put_number(out, "cpu_ns", row->cpu_ns);
    for (int w = NYTP_MEMORY_FIRST; w < NYTP_MEMORY_END; w++) {
        if ((row->has & nytp_measures[w].has) == 0)
            continue;
        put_number(out, nytp_measures[w].name, nytp_measures[w].own(NULL, &row->svs));
        if (nytp_measures[w].nature == NYTP_MEASURE_NET)
            put_number(out, "kept_svs", row->svs.kept);
    }
    put_number(out, "flags", row->flags);
    nytp_puts(out, "}\n");
    return true;
}

static bool write_rows(const struct nytp_profile *profile,
                       const struct nytp_export_options *options, struct nytp_out *out)
{
    struct rows rows = {options, out};
    if (!nytp_stack_rows(profile, options, out, put_row, &rows))
        nytp_error_set(&out->error, NYTP_ERR_MEMORY, "out of memory for rows");
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_rows = {
    .name = "rows",
    .title = "one row per stack as JSON lines, for ClickHouse and other engines",
    .suffixes = ".jsonl .ndjson",
    .shows_counts = true,
    .needs = NYTP_HAS_STATEMENTS | NYTP_HAS_ARCS | NYTP_HAS_CALLS,
    .merges_evals = true,
    .no_diff = "load both sides and ask the engine, or use --json",
    .write = write_rows,
    .takes = "lines",
    .refuses = "no-merge-evals",
};
