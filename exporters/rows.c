/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * One row for each distinct stack of each process, as JSON lines: for engines that hold the
 * profiles of many hosts (share/nytp/clickhouse/). Values are a stack's own, so that sums over
 * rows count nothing twice; `stack` has the root first.
 *
 * The same input gives the same rows, and `profile` is the same for a process each time, so a
 * table that replaces equal rows can be loaded twice.
 */
#include "core/exporter.h"
#include "core/json.h"
#include "core/process_stacks.h"

#include "../formats/core/strings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_EXACT INT64_C(9007199254740992) /* 2^53: beyond it readers of JSON round numbers */

enum row_flag { ROW_UNRETURNED = 1, ROW_ESTIMATED = 2, ROW_PARTIAL = 4 };

struct rows {
    const struct nytp_profile *profile;
    const struct nytp_export_options *options;
    struct nytp_out *out;
    struct nytp_scale scale;
    struct nytp_process_stacks stacks;
    struct nytp_name *names; /* of frames, by sub */
    uint32_t *path;          /* of the row at hand */
    uint32_t path_size;
};

/* ---- names ---- */

static bool has_twin(const struct nytp_profile *profile, uint32_t sub)
{
    const struct nytp_sub *subs = profile->subs;
    return (sub > 1 && subs[sub - 1].name.ptr == subs[sub].name.ptr) ||
           (sub > 0 && sub + 1 < profile->n_subs && subs[sub + 1].name.ptr == subs[sub].name.ptr);
}

/* A sub's name; with its file where there are two of the name. */
static bool name_frame(struct rows *rows, uint32_t sub)
{
    const struct nytp_profile *profile = rows->profile;
    const struct nytp_name file = profile->files[profile->subs[sub].file].name;
    struct nytp_name *name = &rows->names[sub];
    *name = profile->subs[sub].name;
    if (file.len == 0 || !has_twin(profile, sub))
        return true;
    char *text = malloc((size_t)name->len + file.len + 3);
    if (text == NULL)
        return false;
    memcpy(text, name->ptr, name->len);
    memcpy(text + name->len, " [", 2);
    memcpy(text + name->len + 2, file.ptr, file.len);
    text[name->len + 2 + file.len] = ']';
    const uint32_t id = nytp_strings_intern(profile->strings, text, (size_t)name->len + file.len + 3);
    free(text);
    if (id != UINT32_MAX)
        *name = nytp_strings_get(profile->strings, id);
    return id != UINT32_MAX;
}

static bool name_frames(struct rows *rows)
{
    rows->names = malloc(((size_t)rows->profile->n_subs + 1) * sizeof *rows->names);
    bool ok = rows->names != NULL;
    for (uint32_t i = 0; ok && i < rows->profile->n_subs; i++)
        ok = name_frame(rows, i);
    return ok;
}

/* ---- what all rows of a process begin with ---- */

/* The value of a label that the user gave; the last one counts. NULL = there is none. */
static const char *label_value(const struct rows *rows, const char *key)
{
    const char *value = NULL;
    const size_t len = strlen(key);
    for (uint32_t i = 0; i < rows->options->labels.n; i++) {
        const char *text = rows->options->labels.at[i];
        if (strncmp(text, key, len) == 0 && text[len] == '=')
            value = text + len + 1;
    }
    return value;
}

static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return (hash ^ 0xff) * UINT64_C(0x100000001b3); /* what ends a text is in no UTF-8 */
}

static void put_text(struct rows *rows, const char *key, struct nytp_name text)
{
    nytp_putc(rows->out, ',');
    nytp_json_key(rows->out, key);
    nytp_json_string(rows->out, text.ptr, text.len);
}

static void put_number(struct nytp_out *out, const char *key, int64_t value)
{
    const char *quote = value > MAX_EXACT ? "\"" : "";
    nytp_putc(out, ',');
    nytp_json_key(out, key);
    nytp_printf(out, "%s%lld%s", quote, (long long)value, quote);
}

static struct nytp_name as_name(const char *text)
{
    return (struct nytp_name){text, (uint32_t)strlen(text)};
}

static struct nytp_name host_of(const struct rows *rows)
{
    const char *label = label_value(rows, "host");
    const struct nytp_name *recorded = nytp_profile_attribute(rows->profile, "host");
    return label != NULL ? as_name(label)
                         : recorded != NULL ? *recorded : (struct nytp_name){"", 0};
}

static void put_labels(struct rows *rows, bool values)
{
    struct nytp_out *out = rows->out;
    nytp_puts(out, values ? ",\"label_values\":[" : ",\"label_keys\":[");
    for (uint32_t i = 0; i < rows->options->labels.n; i++) {
        const char *text = rows->options->labels.at[i];
        const size_t key_len = strcspn(text, "=");
        nytp_puts(out, i > 0 ? "," : "");
        if (values)
            nytp_json_text(out, text + key_len + 1);
        else
            nytp_json_string(out, text, key_len);
    }
    nytp_putc(out, ']');
}

static struct nytp_name without_folders(struct nytp_name path)
{
    const char *base = path.ptr + path.len;
    while (base > path.ptr && base[-1] != '/')
        base--;
    return (struct nytp_name){base, (uint32_t)(path.ptr + path.len - base)};
}

/* A time of day in ns; 0 for what is none. */
static int64_t nanoseconds(double seconds)
{
    return seconds > 0 && seconds < 4e9 ? (int64_t)(seconds * 1e9) : 0;
}

/* Everything before the stack, which is equal in all rows of a process. */
static void put_process(struct rows *rows, const struct nytp_process *process)
{
    const struct nytp_part *part = &rows->profile->parts[process->part];
    struct nytp_out *out = rows->out;
    const struct nytp_name host = host_of(rows);
    const char *service = label_value(rows, "service");
    int64_t start = nanoseconds(process->start_s);
    if (start == 0)
        start = nanoseconds(part->basetime_s);
    const int64_t end = nanoseconds(process->end_s);
    char numbers[48];
    const int numbers_len =
        snprintf(numbers, sizeof numbers, "%lu %lld", (unsigned long)process->pid, (long long)start);
    uint64_t id = hash_bytes(UINT64_C(0xcbf29ce484222325), host.ptr, host.len);
    id = hash_bytes(id, numbers, (size_t)numbers_len);
    id = hash_bytes(id, part->application.ptr, part->application.len);
    nytp_printf(out, "{\"profile\":\"%016llx\"", (unsigned long long)id);
    put_text(rows, "host", host);
    put_text(rows, "service", as_name(service != NULL ? service : ""));
    put_labels(rows, false);
    put_labels(rows, true);
    put_text(rows, "application", part->application);
    put_text(rows, "script", without_folders(part->application));
    put_number(out, "pid", process->pid);
    put_number(out, "ppid", process->ppid);
    put_text(rows, "perl", part->perl_version);
    put_text(rows, "recorder", part->xs_version);
    put_number(out, "start", start / 1000000000);
    put_number(out, "start_ns", start % 1000000000);
    put_number(out, "duration_ns", end > start && start > 0 ? end - start : 0);
}

/* ---- rows ---- */

static bool put_stack(struct rows *rows, uint32_t stack)
{
    uint32_t n = 0;
    for (uint32_t at = stack;; at = rows->stacks.stacks[at].parent) {
        if (n == rows->path_size) {
            const uint32_t size = rows->path_size * 2 + 64;
            uint32_t *path = realloc(rows->path, size * sizeof *path);
            if (path == NULL)
                return false;
            rows->path = path;
            rows->path_size = size;
        }
        rows->path[n++] = rows->stacks.stacks[at].sub;
        if (rows->stacks.stacks[at].parent == at)
            break;
    }
    nytp_puts(rows->out, ",\"stack\":[");
    while (n-- > 0) {
        const struct nytp_name name = rows->names[rows->path[n]];
        nytp_json_string(rows->out, name.ptr, name.len);
        nytp_puts(rows->out, n > 0 ? "," : "]");
    }
    return true;
}

static bool put_row(struct rows *rows, const struct nytp_process *process, uint32_t at)
{
    const struct nytp_profile *profile = rows->profile;
    const struct nytp_process_stack *stack = &rows->stacks.stacks[at];
    const struct nytp_sub *sub = &profile->subs[stack->sub];
    struct nytp_out *out = rows->out;
    int64_t wall = nytp_scale_next(&rows->scale, stack->ticks);
    if (stack->calls == 0 && stack->statements == 0 && wall == 0)
        return true;
    if (wall < 0) {
        out->n_negative++;
        wall = 0;
    }
    put_process(rows, process);
    if (!put_stack(rows, at))
        return false;
    put_text(rows, "sub", rows->names[stack->sub]);
    put_text(rows, "file", profile->files[sub->file].name);
    put_number(out, "line", sub->first_line);
    put_number(out, "calls", (int64_t)stack->calls);
    put_number(out, "statements", (int64_t)stack->statements);
    put_number(out, "wall_ns", wall);
    put_number(out, "flags",
               (stack->unreturned ? ROW_UNRETURNED : 0) |
                   (profile->estimated_tree ? ROW_ESTIMATED : 0) |
                   (profile->parts[process->part].partial ? ROW_PARTIAL : 0));
    nytp_puts(out, "}\n");
    return true;
}

static bool put_processes(struct rows *rows)
{
    const struct nytp_profile *profile = rows->profile;
    struct nytp_stacks bounds;
    if (!nytp_stacks_init(&bounds, profile, rows->options))
        return false;
    bool ok = true;
    for (uint32_t i = 0; ok && i < profile->n_processes; i++) {
        ok = nytp_process_stacks_fill(&rows->stacks, profile, &bounds, i);
        for (uint32_t k = 0; ok && k < rows->stacks.n; k++)
            ok = put_row(rows, &profile->processes[i], rows->stacks.order[k]);
    }
    nytp_stacks_free(&bounds);
    return ok;
}

static bool write_rows(const struct nytp_profile *profile,
                       const struct nytp_export_options *options, struct nytp_out *out)
{
    struct rows rows = {.profile = profile, .options = options, .out = out};
    nytp_scale_init(&rows.scale, nytp_unit_find("ns"), profile->ticks_per_sec);
    if (!name_frames(&rows) || !put_processes(&rows))
        nytp_error_set(&out->error, NYTP_ERR_MEMORY, "out of memory for rows");
    nytp_process_stacks_free(&rows.stacks);
    free(rows.names);
    free(rows.path);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_rows = {
    .name = "rows",
    .title = "one row per stack as JSON lines, for ClickHouse and other engines",
    .suffixes = ".jsonl .jsonl.gz .ndjson .ndjson.gz",
    .needs = NYTP_HAS_STATEMENTS | NYTP_HAS_ARCS | NYTP_HAS_CALLS,
    .merges_evals = true,
    .gzips = true,
    .no_diff = "load both sides and ask the engine, or use --json",
    .write = write_rows,
};
