/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Makes the rows of the table of stacks; see stack_rows.h. The columns of a process are worked
 * out once and are the same in all of its rows.
 */
#include "stack_rows.h"

#include "exporters/stacks/process_stacks.h"

#include "formats/model/profile.h"
#include "formats/model/svs.h"
#include "formats/base/fnv1a.h"
#include "formats/base/strings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rows {
    const struct nytp_profile *profile;
    const struct nytp_export_options *options;
    struct nytp_out *out;
    nytp_stack_row_fn *put;
    void *context;
    struct nytp_scale scale, cpu_scale;
    struct nytp_process_stacks stacks;
    struct nytp_row_process process; /* at hand */
    struct nytp_name *names;         /* of frames, by sub */
    struct nytp_name *path, *files;  /* of the row at hand, path_size each */
    uint32_t *lines;
    uint32_t path_size;
};

/* ---- names ---- */

static bool has_twin(const struct nytp_profile *profile, uint32_t sub)
{
    const struct nytp_sub *subs = profile->subs;
    return (sub > 1 && subs[sub - 1].name.ptr == subs[sub].name.ptr) ||
           (sub > 0 && sub + 1 < profile->n_subs &&
            subs[sub + 1].name.ptr == subs[sub].name.ptr);
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
    const uint32_t id =
        nytp_strings_intern(profile->strings, text, (size_t)name->len + file.len + 3);
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

/* ---- processes ---- */

static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t len)
{
    return nytp_fnv1a_64(nytp_fnv1a_64(hash, bytes, len), "\xff", 1); /* 0xff is in no UTF-8 */
}

/* A time of day in ns; 0 for what is none. */
static int64_t nanoseconds(double seconds)
{
    return seconds > 0 && seconds < 4e9 ? (int64_t)(seconds * 1e9) : 0;
}

/* Fill in the columns that all rows of this process share. */
static void describe_process(struct rows *rows, const struct nytp_process *process)
{
    const struct nytp_recording *recording = &rows->profile->recordings[process->recording];
    int64_t start = nanoseconds(process->start_s);
    if (start == 0)
        start = nanoseconds(recording->basetime_s);
    const int64_t end = nanoseconds(process->end_s);
    struct nytp_row_process *row = &rows->process;
    *row = (struct nytp_row_process){
        .host = nytp_given_label(rows->options, "host", recording->host),
        .service = nytp_given_label(rows->options, "service", nytp_name_of_text("")),
        .application = recording->application,
        .script = nytp_without_folders(recording->application),
        .perl = recording->perl_version,
        .recorder = recording->xs_version,
        .pid = process->pid,
        .ppid = process->ppid,
        .thread = process->thread,
        .start_s = start / 1000000000,
        .start_ns = start % 1000000000,
        .duration_ns = end > start && start > 0 ? end - start : 0,
    };
    char numbers[48];
    const int numbers_len = snprintf(numbers, sizeof numbers, "%lu %lld",
                                     (unsigned long)process->pid, (long long)start);
    uint64_t id = hash_bytes(NYTP_FNV1A_64_START, row->host.ptr, row->host.len);
    id = hash_bytes(id, numbers, (size_t)numbers_len);
    id = hash_bytes(id, row->application.ptr, row->application.len);
    const int thread_len =
        snprintf(numbers, sizeof numbers, "%lu", (unsigned long)process->thread);
    if (process->thread > 0)
        id = hash_bytes(id, numbers, (size_t)thread_len);
    snprintf(row->profile, sizeof row->profile, "%016llx", (unsigned long long)id);
}

/* ---- rows ---- */

static bool grow_path(struct rows *rows)
{
    const uint32_t size = rows->path_size * 2 + 64;
    struct nytp_name *path = realloc(rows->path, size * sizeof *path);
    rows->path = path != NULL ? path : rows->path;
    struct nytp_name *files = realloc(rows->files, size * sizeof *files);
    rows->files = files != NULL ? files : rows->files;
    uint32_t *lines = realloc(rows->lines, size * sizeof *lines);
    rows->lines = lines != NULL ? lines : rows->lines;
    if (path == NULL || files == NULL || lines == NULL)
        return false;
    rows->path_size = size;
    return true;
}

/* Frames from the last one out, put in order when their number is known. */
static bool trace(struct rows *rows, uint32_t stack, uint32_t *depth)
{
    const struct nytp_process_stack *stacks = rows->stacks.stacks;
    uint32_t n = 1;
    for (uint32_t at = stack; stacks[at].parent != at; at = stacks[at].parent)
        n++;
    while (n > rows->path_size)
        if (!grow_path(rows))
            return false;
    *depth = n;
    for (uint32_t at = stack; n-- > 0; at = stacks[at].parent) {
        rows->path[n] = rows->names[stacks[at].sub];
        if (n > 0) {
            rows->files[n - 1] = rows->profile->files[stacks[at].site_file].name;
            rows->lines[n - 1] = stacks[at].site_line;
        }
    }
    return true;
}

/* The caller sets the counts and the last frame's place. Zero rows are left out. */
static bool put_row(struct rows *rows, struct nytp_stack_row *row, int64_t ticks,
                    int64_t cpu_ticks, struct nytp_svs svs)
{
    row->wall_ns = nytp_scale_next(&rows->scale, ticks);
    row->cpu_ns = nytp_scale_next(&rows->cpu_scale, cpu_ticks);
    row->svs = svs;
    if (row->calls == 0 && row->statements == 0 && row->wall_ns == 0 && row->cpu_ns == 0 &&
        nytp_svs_are_none(svs))
        return true;
    if (row->wall_ns < 0) {
        rows->out->n_negative++;
        row->wall_ns = 0;
    }
    return rows->put(rows->context, row);
}

static bool put_lines(struct rows *rows, uint32_t stack, struct nytp_stack_row *row)
{
    const struct nytp_process_stacks *stacks = &rows->stacks;
    const struct nytp_process_stack *own = &stacks->stacks[stack];
    int64_t rest = own->ticks; /* lines add up to it, but for what has no line */
    for (uint32_t i = stacks->first_line[stack]; i < stacks->first_line[stack + 1]; i++) {
        const struct nytp_process_line *line = &stacks->lines[i];
        row->file = rows->files[row->depth - 1] = rows->profile->files[line->file].name;
        row->line = rows->lines[row->depth - 1] = line->line;
        row->statements = (int64_t)line->statements;
        if (!put_row(rows, row, line->ticks, line->cpu_ticks, line->svs))
            return false;
        row->calls = 0;
        rest -= line->ticks;
    }
    row->file = rows->files[row->depth - 1] = (struct nytp_name){"", 0};
    row->line = rows->lines[row->depth - 1] = 0;
    row->statements = 0;
    return put_row(rows, row, rest, 0, (struct nytp_svs){0});
}

static bool put_stack(struct rows *rows, const struct nytp_process *process, uint32_t at)
{
    const struct nytp_profile *profile = rows->profile;
    const struct nytp_process_stack *stack = &rows->stacks.stacks[at];
    const struct nytp_sub *sub = &profile->subs[stack->sub];
    const bool by_line = rows->stacks.by_line;
    uint32_t depth;
    if (!trace(rows, at, &depth))
        return false;
    struct nytp_stack_row row = {
        .process = &rows->process,
        .stack = rows->path,
        .files = by_line ? rows->files : NULL,
        .lines = by_line ? rows->lines : NULL,
        .depth = depth,
        .sub = rows->names[stack->sub],
        .file = profile->files[sub->file].name,
        .line = sub->first_line,
        .calls = (int64_t)stack->calls,
        .statements = (int64_t)stack->statements,
        .has = profile->has,
        .flags = (stack->unreturned ? NYTP_ROW_UNRETURNED : 0u) |
                 (profile->estimated_tree ? NYTP_ROW_ESTIMATED : 0u) |
                 (profile->recordings[process->recording].partial ? NYTP_ROW_PARTIAL : 0u) |
                 (process->sampled ? NYTP_ROW_SAMPLED : 0u) |
                 (nytp_profile_has(profile, NYTP_WEIGHT_TIME) ? 0u : NYTP_ROW_COUNTS),
    };
    return by_line ? put_lines(rows, at, &row)
                   : put_row(rows, &row, stack->ticks, stack->cpu_ticks, stack->svs);
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
        describe_process(rows, &profile->processes[i]);
        for (uint32_t k = 0; ok && k < rows->stacks.n; k++)
            ok = put_stack(rows, &profile->processes[i], rows->stacks.order[k]);
    }
    nytp_stacks_free(&bounds);
    return ok;
}

bool nytp_stack_rows(const struct nytp_profile *profile,
                     const struct nytp_export_options *options, struct nytp_out *out,
                     nytp_stack_row_fn *put, void *context)
{
    struct rows rows = {
        .profile = profile, .options = options, .out = out, .put = put, .context = context};
    rows.stacks.by_line = options->lines;
    nytp_scale_init(&rows.scale, nytp_unit_find("ns"), profile->ticks_per_sec);
    rows.cpu_scale = rows.scale;
    const bool ok = name_frames(&rows) && put_processes(&rows);
    nytp_process_stacks_free(&rows.stacks);
    free(rows.names);
    free(rows.path);
    free(rows.files);
    free(rows.lines);
    return ok;
}

/* ---- labels ---- */

struct nytp_name nytp_label_key(const struct nytp_export_options *options, uint32_t i)
{
    const char *text = options->labels.at[i];
    return (struct nytp_name){text, (uint32_t)strcspn(text, "=")};
}

struct nytp_name nytp_label_value(const struct nytp_export_options *options, uint32_t i)
{
    const char *text = options->labels.at[i];
    return nytp_name_of_text(text + strcspn(text, "=") + 1);
}

struct nytp_name nytp_given_label(const struct nytp_export_options *options, const char *key,
                                  struct nytp_name otherwise)
{
    for (uint32_t i = 0; i < options->labels.n; i++)
        if (nytp_compare_names(nytp_label_key(options, i), nytp_name_of_text(key)) == 0)
            otherwise = nytp_label_value(options, i);
    return otherwise;
}
