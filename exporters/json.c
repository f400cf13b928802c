/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * All totals as JSON, for scripts: inputs, processes, files, subs, the lines of each sub, and
 * calls by caller and place. Entries refer to each other by position in their list, from 0.
 * `files[0]` is "no file", `subs[0]` is the program outside of subs:
 *
 *     jq -r '.subs as $s | .calls | max_by(.inclusive) | $s[.caller].name' profile.json
 *
 * Times are numbers of `unit`, exact to the nanosecond. A sub's lines add up exactly to its
 * `exclusive` if a tick is a whole number of nanoseconds.
 */
#include "exporters/compare/diff_formats.h"
#include "exporters/base/exporter.h"
#include "exporters/base/json.h"
#include "exporters/stacks/inclusive.h"
#include "exporters/stacks/spread.h"
#include "exporters/base/regex_rows.h"
#include "exporters/base/wait_rows.h"
#include "exporters/stacks/queries.h"

#include "formats/build/correct/correction.h"
#include "formats/model/svs.h"
#include "formats/stream/comments/label_records.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define VERSION 1 /* of this layout; grows if the meaning of a field changes */

struct json {
    const struct nytp_profile *profile;
    struct nytp_out *out;
    struct nytp_json_times times;
    struct nytp_inclusive_memory sub_memory, arc_memory; /* NULL if not recorded */
};

static void put_key(const struct json *j, const char *key)
{
    nytp_putc(j->out, ',');
    nytp_json_key(j->out, key);
}

static void put_count(const struct json *j, const char *key, uint64_t value)
{
    put_key(j, key);
    nytp_put_u64(j->out, value);
}

/* Writes nothing if no times were recorded. */
static void put_time(const struct json *j, const char *key, int64_t ticks)
{
    if (!nytp_profile_has(j->profile, NYTP_WEIGHT_TIME))
        return;
    put_key(j, key);
    nytp_json_time(j->out, &j->times, ticks);
}

static void put_seconds(const struct json *j, const char *key, double value)
{
    put_key(j, key);
    nytp_json_double(j->out, value);
}

static void put_name(const struct json *j, const char *key, struct nytp_name name)
{
    put_key(j, key);
    nytp_json_string(j->out, name.ptr, name.len);
}

static void put_bool(const struct json *j, const char *key, bool value)
{
    put_key(j, key);
    nytp_puts(j->out, value ? "true" : "false");
}

static void begin_named(const struct json *j, uint32_t i, const char *key,
                        struct nytp_name name)
{
    nytp_puts(j->out, i == 0 ? "\n{" : ",\n{");
    nytp_json_key(j->out, key);
    nytp_json_string(j->out, name.ptr, name.len);
}

static void begin_numbered(const struct json *j, uint32_t i, const char *key, uint64_t number)
{
    nytp_puts(j->out, i == 0 ? "\n{" : ",\n{");
    nytp_json_key(j->out, key);
    nytp_put_u64(j->out, number);
}

static void put_pairs(const struct json *j, const char *key, const struct nytp_pair *pairs,
                      uint32_t n_pairs)
{
    nytp_puts(j->out, ",\n");
    nytp_json_key(j->out, key);
    for (uint32_t i = 0; i < n_pairs; i++) {
        nytp_puts(j->out, i == 0 ? "[[" : ",[");
        nytp_json_string(j->out, pairs[i].key.ptr, pairs[i].key.len);
        nytp_putc(j->out, ',');
        nytp_json_string(j->out, pairs[i].value.ptr, pairs[i].value.len);
        nytp_putc(j->out, ']');
    }
    nytp_puts(j->out, n_pairs == 0 ? "[]" : "]");
}

static void begin_list(const struct json *j, const char *key)
{
    nytp_puts(j->out, ",\n");
    nytp_json_key(j->out, key);
    nytp_putc(j->out, '[');
}

static void put_inputs(const struct json *j)
{
    begin_list(j, "inputs");
    for (uint32_t i = 0; i < j->profile->n_recordings; i++) {
        const struct nytp_recording *recording = &j->profile->recordings[i];
        begin_named(j, i, "path", recording->path);
        put_name(j, "application", recording->application);
        put_name(j, "perl_version", recording->perl_version);
        put_name(j, "xs_version", recording->xs_version);
        put_bool(j, "partial", recording->partial);
        if (recording->error.status != NYTP_OK) {
            put_key(j, "error");
            nytp_json_text(j->out, recording->error.message);
            put_count(j, "error_offset", recording->error.offset);
        }
        nytp_putc(j->out, '}');
    }
    nytp_putc(j->out, ']');
}

/* Writes nothing if there are none. */
static void put_labels(const struct json *j, struct nytp_name text)
{
    struct nytp_str rest = {.ptr = text.ptr, .len = text.len}, key, value;
    const char *before = ",\"labels\":{";
    while (nytp_labels_next(&rest, &key, &value)) {
        nytp_puts(j->out, before);
        nytp_json_string(j->out, key.ptr, key.len);
        nytp_putc(j->out, ':');
        nytp_json_string(j->out, value.ptr, value.len);
        before = ",";
    }
    if (text.len > 0)
        nytp_putc(j->out, '}');
}

static void put_processes(const struct json *j)
{
    begin_list(j, "processes");
    for (uint32_t i = 0; i < j->profile->n_processes; i++) {
        const struct nytp_process *process = &j->profile->processes[i];
        begin_numbered(j, i, "pid", process->pid);
        put_count(j, "ppid", process->ppid);
        if (process->thread > 0) {
            put_count(j, "thread", process->thread);
            put_count(j, "parent_thread", process->parent_thread);
        }
        put_count(j, "input", process->recording);
        put_labels(j, process->labels);
        put_seconds(j, "start", process->start_s);
        put_seconds(j, "end", process->end_s);
        put_bool(j, "complete", process->complete);
        put_time(j, "statement_time", process->stmt_ticks);
        put_time(j, "total", j->profile->nodes[process->root].incl_ticks);
        put_time(j, "recording_cost", process->recording_ticks);
        if (process->processor_ticks > 0)
            put_time(j, "processor", process->processor_ticks);
        if (process->memory_peak > 0) {
            put_count(j, "memory_start", (uint64_t)process->memory_start);
            put_count(j, "memory_peak", (uint64_t)process->memory_peak);
        }
        if (process->sampled)
            put_time(j, "cpu", process->cpu_ticks);
        nytp_putc(j->out, '}');
    }
    nytp_putc(j->out, ']');
}

static void put_files(const struct json *j)
{
    begin_list(j, "files");
    for (uint32_t i = 0; i < j->profile->n_files; i++) {
        const struct nytp_file *file = &j->profile->files[i];
        begin_named(j, i, "name", file->name);
        put_count(j, "fid", file->fid);
        put_count(j, "eval_file", file->eval_file);
        put_count(j, "eval_line", file->eval_line);
        put_count(j, "flags", file->flags);
        put_count(j, "size", file->size);
        put_count(j, "mtime", file->mtime_s);
        nytp_putc(j->out, '}');
    }
    nytp_putc(j->out, ']');
}

static const char *kind_name(enum nytp_sub_kind kind)
{
    switch (kind) {
    case NYTP_SUB_PERL:
        return "perl";
    case NYTP_SUB_XSUB:
        return "xsub";
    case NYTP_SUB_OPCODE:
        return "opcode";
    case NYTP_SUB_RUNTIME:
        return "runtime";
    case NYTP_SUB_UNRETURNED:
        return "unreturned";
    }
    return "unknown";
}

/* Part of `exclusive`, if processes were sampled. */
static void put_cpu(const struct json *j, int64_t ticks)
{
    if (j->profile->sampled)
        put_time(j, "cpu", ticks);
}

/* Writes memory that something itself made or kept, SVs or bytes. */
static void put_memory(const struct json *j, struct nytp_svs memory, uint32_t has)
{
    for (int w = NYTP_MEMORY_FIRST; w < NYTP_MEMORY_END; w++)
        if ((j->profile->has & nytp_measures[w].has & has) != 0) {
            put_key(j, nytp_measures[w].name);
            nytp_put_i64(j->out, nytp_measures[w].own(NULL, &memory));
        }
}

/* Writes memory with that of the calls. */
static void put_inclusive(const struct json *j, const struct nytp_inclusive_memory *memory,
                          uint32_t index, uint32_t has)
{
    for (int w = NYTP_MEMORY_FIRST; w < NYTP_MEMORY_END; w++) {
        if ((j->profile->has & nytp_measures[w].has & has) == 0)
            continue;
        nytp_puts(j->out, ",\"inclusive_");
        nytp_puts(j->out, nytp_measures[w].name);
        nytp_puts(j->out, "\":");
        nytp_put_i64(j->out, (int64_t)memory->of[w][index]);
    }
}

/* Unknown values are left out. */
static void put_spread(const struct json *j, const struct nytp_spread *spread)
{
    const struct {
        const char *key;
        int64_t ticks;
    } times[] = {{"median", spread->median},
                 {"p95", spread->p95},
                 {"max", spread->max},
                 {"first_tenth", spread->first},
                 {"last_tenth", spread->last}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (times[i].ticks >= 0)
            put_time(j, times[i].key, times[i].ticks);
}

static void put_subs(const struct json *j, const double *costs,
                     const struct nytp_spread *spreads)
{
    begin_list(j, "subs");
    for (uint32_t i = 0; i < j->profile->n_subs; i++) {
        const struct nytp_sub *sub = &j->profile->subs[i];
        begin_named(j, i, "name", sub->name);
        put_count(j, "file", sub->file);
        put_count(j, "first_line", sub->first_line);
        put_count(j, "last_line", sub->last_line);
        put_key(j, "kind");
        nytp_json_text(j->out, kind_name(sub->kind));
        put_count(j, "calls", sub->calls);
        put_time(j, "inclusive", sub->incl_ticks);
        put_time(j, "exclusive", sub->excl_ticks);
        put_time(j, "recursive", sub->reci_ticks);
        put_count(j, "recursion_depth", sub->rec_depth);
        put_count(j, "statements", sub->statements);
        if (!j->profile->sampled)
            put_count(j, "ops", sub->statements + sub->calls);
        if (costs[i] > 0)
            put_time(j, "recording_cost", llround(costs[i]));
        if (spreads != NULL)
            put_spread(j, &spreads[i]);
        put_cpu(j, sub->cpu_ticks);
        const struct nytp_svs memory = {.net = sub->svs, .bytes = sub->bytes};
        put_memory(j, memory, NYTP_HAS_SVS);
        put_inclusive(j, &j->sub_memory, i, NYTP_HAS_SVS);
        put_memory(j, memory, NYTP_HAS_BYTES);
        put_inclusive(j, &j->sub_memory, i, NYTP_HAS_BYTES);
        nytp_putc(j->out, '}');
    }
    nytp_putc(j->out, ']');
}

static void put_lines(const struct json *j)
{
    begin_list(j, "lines");
    for (uint32_t i = 0; i < j->profile->n_line_costs; i++) {
        const struct nytp_line_cost *cost = &j->profile->line_costs[i];
        begin_numbered(j, i, "sub", cost->sub);
        put_count(j, "input", cost->recording);
        put_count(j, "file", cost->file);
        put_count(j, "line", cost->line);
        put_time(j, "exclusive", cost->excl_ticks);
        put_count(j, "statements", cost->statements);
        put_cpu(j, cost->cpu_ticks);
        const struct nytp_svs svs = nytp_svs_of_cost(j->profile, i);
        put_memory(j, svs, NYTP_HAS_SVS);
        if ((j->profile->has & NYTP_HAS_SVS) != 0) {
            put_key(j, "kept_svs");
            nytp_put_i64(j->out, svs.kept);
        }
        put_memory(j, svs, NYTP_HAS_BYTES);
        nytp_putc(j->out, '}');
    }
    nytp_putc(j->out, ']');
}

static void put_calls(const struct json *j)
{
    begin_list(j, "calls");
    for (uint32_t i = 0; i < j->profile->n_arcs; i++) {
        const struct nytp_arc *arc = &j->profile->arcs[i];
        begin_numbered(j, i, "caller", arc->caller);
        put_count(j, "callee", arc->callee);
        put_count(j, "input", arc->recording);
        put_count(j, "file", arc->file);
        put_count(j, "line", arc->line);
        put_count(j, "count", arc->calls);
        put_time(j, "inclusive", arc->incl_ticks);
        put_time(j, "exclusive", arc->excl_ticks);
        put_time(j, "recursive", arc->reci_ticks);
        put_count(j, "recursion_depth", arc->rec_depth);
        put_inclusive(j, &j->arc_memory, i, UINT32_MAX);
        nytp_putc(j->out, '}');
    }
    nytp_putc(j->out, ']');
}

/* Values that samples do not have. */
static void put_regex_calls(const struct json *j, const struct nytp_regex_row *row)
{
    put_count(j, "matches", row->sums.matches);
    put_count(j, "compiled", row->sums.compiled);
    put_count(j, "longest_ns", row->sums.max_ns);
    put_count(j, "longest_bytes", row->sums.max_len);
    put_seconds(j, "growth", row->growth);
}

/* In nanoseconds: regexes have no ticks in the model. */
static void put_regexes(const struct json *j)
{
    struct nytp_regex_rows rows;
    if (!nytp_regex_rows_init(&rows, j->profile))
        nytp_out_of_memory(&j->out->error);
    begin_list(j, "regexes");
    for (uint32_t i = 0; i < rows.n; i++) {
        const struct nytp_regex_row *const row = &rows.rows[i];
        begin_numbered(j, i, "file", row->sums.file);
        put_count(j, "line", row->sums.line);
        put_key(j, "op");
        nytp_json_text(j->out, nytp_regex_kind_names[row->sums.kind]);
        put_name(j, "pattern", row->sums.pattern);
        put_count(j, "patterns", row->n_patterns);
        put_count(j, j->profile->sampled ? "samples" : "calls", row->sums.calls);
        put_count(j, "total_ns", row->sums.total_ns);
        if (!j->profile->sampled)
            put_regex_calls(j, row);
        nytp_putc(j->out, '}');
    }
    nytp_putc(j->out, ']');
    nytp_regex_rows_free(&rows);
}

/* In nanoseconds, like regexes. */
static void put_waited(const struct json *j)
{
    struct nytp_wait_rows rows;
    if (!nytp_wait_rows_init(&rows, j->profile, NULL))
        nytp_out_of_memory(&j->out->error);
    begin_list(j, "waited");
    for (uint32_t i = 0; i < rows.n; i++) {
        const struct nytp_waited *const row = &rows.rows[i];
        begin_numbered(j, i, "file", row->file);
        put_count(j, "line", row->line);
        put_key(j, "reason");
        nytp_json_text(j->out, nytp_wait_reason_name(row->reason));
        put_name(j, "peer", row->peer);
        put_count(j, "samples", row->samples);
        put_count(j, "total_ns", (uint64_t)row->ns);
        nytp_putc(j->out, '}');
    }
    nytp_putc(j->out, ']');
    nytp_wait_rows_free(&rows);
}

static void put_requests(const struct json *j, const struct nytp_queries *queries)
{
    begin_list(j, "requests");
    for (uint32_t i = 0; i < queries->n_requests; i++) {
        const struct nytp_request *const request = &queries->requests[i];
        begin_named(j, i, "request", request->value);
        put_count(j, "count", request->n);
        put_count(j, "statements", request->queries);
        put_count(j, "most", request->most);
        put_count(j, "different", request->texts);
        put_time(j, "database", request->database_ticks);
        put_time(j, "time",
                 request->n > 0         ? request->ticks
                 : queries->key.len > 0 ? 0
                                        : j->profile->total.ticks);
        nytp_putc(j->out, '}');
    }
    nytp_putc(j->out, ']');
}

static void put_repeats(const struct json *j, const struct nytp_queries *queries)
{
    begin_list(j, "loops");
    for (uint32_t i = 0; i < queries->n_repeats; i++) {
        const struct nytp_repeat *const repeat = &queries->repeats[i];
        begin_named(j, i, "statement", repeat->text);
        put_count(j, "calls", repeat->calls);
        put_count(j, "most", repeat->most);
        put_time(j, "database", repeat->ticks);
        put_name(j, "request", repeat->request);
        put_count(j, "callee", repeat->callee);
        put_count(j, "caller", repeat->caller);
        put_count(j, "file", repeat->file);
        put_count(j, "line", repeat->line);
        put_count(j, "loop_sub", repeat->loop_sub);
        put_count(j, "loop_file", repeat->loop_file);
        put_count(j, "loop_line", repeat->loop_line);
        nytp_putc(j->out, '}');
    }
    nytp_putc(j->out, ']');
}

/* Writes nothing if no statements were sent through DBI. */
static void put_statements(const struct json *j)
{
    struct nytp_queries queries;
    if (!nytp_queries_init(&queries, j->profile))
        nytp_out_of_memory(&j->out->error);
    if (queries.n > 0) {
        nytp_puts(j->out, ",\n\"sql\":{");
        nytp_json_key(j->out, "label");
        nytp_json_string(j->out, queries.key.ptr, queries.key.len);
        put_count(j, "statements", queries.n);
        put_time(j, "database", queries.database_ticks);
        put_requests(j, &queries);
        put_repeats(j, &queries);
        nytp_putc(j->out, '}');
    }
    nytp_queries_free(&queries);
}

static void put_totals(const struct json *j, const struct nytp_export_options *options,
                       const struct nytp_unit *unit)
{
    const struct nytp_profile *const profile = j->profile;
    nytp_printf(j->out, "{\"nytp_totals\":%d", VERSION);
    put_key(j, "unit");
    nytp_json_text(j->out, unit->long_name);
    put_count(j, "ticks_per_sec", (uint64_t)profile->ticks_per_sec);
    put_bool(j, "partial", profile->partial);
    if (profile->sampled)
        put_bool(j, "sampled", true);
    if (!nytp_profile_has(profile, NYTP_WEIGHT_TIME))
        put_bool(j, "counts_only", true);
    put_time(j, "total", profile->total.ticks);
    put_count(j, "statements", profile->total.statements);
    put_count(j, "calls_made", profile->total.calls);
    if (!profile->sampled)
        put_count(j, "ops", profile->total.statements + profile->total.calls);
    if (options->child_wait_ticks > 0)
        put_time(j, "child_wait", options->child_wait_ticks);
    put_count(j, "negative_times", profile->faults.negative_times);
    put_count(j, "unreturned_frames", profile->faults.unreturned_frames);
    put_pairs(j, "attributes", profile->attributes, profile->n_attributes);
    put_pairs(j, "options", profile->options, profile->n_options);
}

static bool write_json(const struct nytp_profile *profile,
                       const struct nytp_export_options *options, struct nytp_out *out)
{
    struct json j = {.profile = profile, .out = out};
    const struct nytp_unit *unit = options->unit != NULL ? options->unit : nytp_unit_find("ns");
    double *const costs = nytp_recording_by_sub(profile);
    struct nytp_spread *const spreads = options->spread ? nytp_spread_by_sub(profile) : NULL;
    nytp_json_times_init(&j.times, unit, profile->ticks_per_sec);
    if (costs != NULL && (spreads != NULL || !options->spread) &&
        nytp_inclusive_memory_init(&j.sub_memory, profile, false, false) &&
        nytp_inclusive_memory_init(&j.arc_memory, profile, true, false)) {
        put_totals(&j, options, unit);
        put_inputs(&j);
        put_processes(&j);
        put_files(&j);
        put_subs(&j, costs, spreads);
        put_lines(&j);
        put_calls(&j);
        if (profile->n_regexes > 0)
            put_regexes(&j);
        if (profile->n_waited > 0)
            put_waited(&j);
        put_statements(&j);
        nytp_puts(out, "}\n");
    } else {
        nytp_out_of_memory(&out->error);
    }
    nytp_inclusive_memory_free(&j.sub_memory);
    nytp_inclusive_memory_free(&j.arc_memory);
    free(costs);
    free(spreads);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_json = {
    .name = "json",
    .title = "totals of subs, lines, calls and files as JSON, for scripts",
    .suffixes = ".json",
    .shows_counts = true,
    .needs = NYTP_HAS_STATEMENTS | NYTP_HAS_ARCS,
    .wants_statements = true,
    .write_diff = nytp_diff_write_json,
    .write = write_json,
    .takes = "spread unit",
    .takes_diff = "lines unit",
};
