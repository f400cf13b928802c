/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The pprof message of a profile; see pprof_message.h. pprof's use of each field was found by
 * running it (exporters/README.md, t/viewers/).
 *
 * - A location is a line of a sub: for a leaf the line where the time was spent, for a caller
 *   the line of the call, so that -list shows flat on statements and cum on calls.
 * - Function.system_name is unset: otherwise pprof demangles names as C++ and cuts text in
 *   brackets, which makes anonymous subs of different evals one.
 * - One pass: strings, functions and locations are numbered at first use, and samples are in
 *   the order of the model's contexts and lines.
 */
#include "pprof_message.h"
#include "exporters/compare/diff.h"
#include "pprof_entries.h"
#include "pprof_tables.h"

#include "formats/stream/comments/label_records.h"
#include "exporters/stacks/stack_rows.h"
#include "exporters/stacks/stacks.h"
#include "exporters/base/node_details.h"
#include "exporters/base/text.h"
#include "exporters/base/waits.h"

#include "formats/model/profile.h"
#include "formats/base/arena.h"
#include "formats/base/strings.h"
#include "formats/base/table.h"
#include "formats/model/svs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const nytp_pprof_names[NYTP_PPROF_FIELD_COUNT] = {
#define PPROF_FIELD(message, name, number) #name,
#include "pprof_fields.def"
};

const uint8_t nytp_pprof_numbers[NYTP_PPROF_FIELD_COUNT] = {
#define PPROF_FIELD(message, name, number) number,
#include "pprof_fields.def"
};

#define FIELD(message, name) NYTP_PPROF_##message##_##name

#define MAX_OWN_LABELS 16

enum value {
    VALUE_CALLS,
    VALUE_STATEMENTS,
    VALUE_WALL,
    VALUE_CPU,    /* only if sampled */
    VALUE_MEMORY, /* by measure, if recorded */
    N_VALUES = VALUE_MEMORY + NYTP_N_MEMORY
};

/* The detail of a frame (exporters/base/node_details.h). */
struct detail_label {
    uint32_t key, text; /* strings, or 0 */
};

/* A stack whose samples are summed up over processes: its caller's stack and one more
 * location. Roots hold the labels of a process. */
struct merged_stack {
    uint32_t parent, location; /* parent is itself for a root, whose location is a string */
    int64_t values[N_VALUES];
    uint32_t state;             /* of the last frame: S_WAITING or 0 */
    struct detail_label detail; /* of the last frame */
    bool of_base;
};

static const struct detail_label no_detail = {0, 0};

struct process_labels {
    uint32_t state; /* S_WAITING or 0 */
    struct detail_label detail;
    uint32_t pid, script; /* strings; script 0 = unknown */
    bool of_base;         /* base of a difference: counts negatively */
    uint32_t own[2 * MAX_OWN_LABELS],
        n_own; /* strings: keys and values of DB::label_profile() */
};

struct message {
    const struct nytp_profile *profile;
    const uint8_t *side_of_recording; /* of a difference, or NULL */
    struct nytp_out *out;
    struct nytp_pprof_encoder *encoder;
    const struct nytp_unit *unit;
    struct nytp_scale scale, cpu_scale;
    bool has[N_VALUES]; /* samples have this value */
    struct nytp_pprof_tables tables;
    struct nytp_waits waits;
    struct nytp_stacks stacks;
    struct nytp_pprof_entries entries;
    struct nytp_node_details details;
    struct nytp_table detail_texts; /* (kind, row) -> string */

    int64_t *stack; /* location ids of one sample, leaf first */
    uint32_t n_stack, stack_size;

    const struct nytp_export_options *options;
    uint32_t *label_ids; /* strings: key, value of each of the user's labels */
    /* Only if processes are merged: */
    struct nytp_table merged_ids; /* (parent, location) */
    struct merged_stack *merged;
    uint32_t *caller_stacks; /* by node of the current process: callers' index in `merged` */
    uint32_t n_merged, merged_size, n_caller_stacks, first_node;
};

static bool ok(const struct message *m)
{
    return m->out->error.status == NYTP_OK && !m->tables.no_memory && !m->entries.no_memory;
}

/* ---- time and duration ---- */

/* Converts seconds of a clock to nanoseconds; 0 if they are no time of day. */
static int64_t nanoseconds(double seconds)
{
    return seconds > 0 && seconds < 9e9 ? (int64_t)(seconds * 1e9) : 0;
}

/* Returns the start of the first process since 1970, or 0 if unknown. */
static int64_t start_nanoseconds(const struct nytp_profile *profile)
{
    int64_t start = 0;
    for (uint32_t i = 0; i < profile->n_processes; i++) {
        const struct nytp_process *process = &profile->processes[i];
        int64_t s = nanoseconds(process->start_s);
        if (s == 0)
            s = nanoseconds(profile->recordings[process->recording].basetime_s);
        if (s != 0 && (start == 0 || s < start))
            start = s;
    }
    return start;
}

/* Returns the time from the first start, `start`, to the last end. For a single process it is
 * at least the profiled time, since pprof prints that as a percentage of it. */
static int64_t duration_nanoseconds(const struct nytp_profile *profile, int64_t start)
{
    int64_t end = 0;
    for (uint32_t i = 0; i < profile->n_processes; i++) {
        const int64_t s = nanoseconds(profile->processes[i].end_s);
        end = s > end ? s : end;
    }
    struct nytp_scale scale;
    nytp_scale_init(&scale, nytp_unit_find("ns"), profile->ticks_per_sec);
    const int64_t total = nytp_scale_once(&scale, profile->total.ticks);
    const int64_t wall = end > start && start > 0 ? end - start : 0;
    return wall > total || (profile->n_processes > 1 && wall > 0) ? wall : total;
}

/* Returns the length of a tick, at least 1. */
static int64_t tick_nanoseconds(const struct nytp_profile *profile)
{
    const int64_t ns = profile->ticks_per_sec > 0 ? 1000000000 / profile->ticks_per_sec : 0;
    return ns > 0 ? ns : 1;
}

/* ---- tables ---- */

/* Strings with a fixed index. */
enum fixed_string {
    S_EMPTY,
    S_CALLS,
    S_COUNT,
    S_STATEMENTS,
    S_WALL,
    S_NANOSECONDS,
    S_PID,
    S_SCRIPT,
    S_STATE,
    S_WAITING,
    S_SAMPLES,
    N_FIXED_STRINGS,
    S_BASE = N_FIXED_STRINGS, /* only in a difference, with the next */
    S_TRUE
};

static const char *const fixed_strings[] = {
    [S_EMPTY] = "",          [S_CALLS] = "calls",
    [S_COUNT] = "count",     [S_STATEMENTS] = "statements",
    [S_WALL] = "wall",       [S_NANOSECONDS] = "nanoseconds",
    [S_PID] = "pid",         [S_SCRIPT] = "script",
    [S_STATE] = "state",     [S_WAITING] = "waiting",
    [S_SAMPLES] = "samples", [S_BASE] = "pprof::base",
    [S_TRUE] = "true",
};

/* ---- samples ---- */

static void push_location(struct message *m, uint32_t id)
{
    if (!nytp_grow(&m->stack, &m->stack_size, m->n_stack, sizeof *m->stack)) {
        nytp_out_of_memory(&m->out->error);
        return;
    }
    m->stack[m->n_stack++] = id;
}

/* Pushes the callers of a context; the leaf's place stays empty. */
static void build_stack(struct message *m, uint32_t n)
{
    const struct nytp_node *nodes = m->profile->nodes;
    m->n_stack = 0;
    push_location(m, 0);
    for (uint32_t outer = nytp_stacks_outer(&m->stacks, n); outer != n && ok(m);
         n = outer, outer = nytp_stacks_outer(&m->stacks, n)) {
        const struct nytp_node *site = &nodes[nytp_stacks_site(&m->stacks, n)];
        push_location(
            m, nytp_pprof_location_id(&m->tables, nodes[outer].sub, site->file, site->line));
    }
}

static void put_label(struct message *m, uint32_t key, uint32_t value)
{
    struct nytp_pprof_encoder *e = m->encoder;
    if (value == 0)
        return;
    e->open(e, FIELD(SAMPLE, label));
    e->integer(e, FIELD(LABEL, key), key);
    e->integer(e, FIELD(LABEL, str), value);
    e->close(e);
}

static void put_sample(struct message *m, const struct process_labels *labels, uint32_t leaf,
                       const int64_t *values)
{
    struct nytp_pprof_encoder *e = m->encoder;
    int64_t written[N_VALUES];
    uint32_t n = 0;
    for (int i = 0; i < N_VALUES; i++)
        if (m->has[i])
            written[n++] = values[i];
    m->stack[0] = leaf;
    e->open(e, FIELD(PROFILE, sample));
    e->integers(e, FIELD(SAMPLE, location_id), m->stack, m->n_stack);
    e->integers(e, FIELD(SAMPLE, value), written, n);
    put_label(m, S_PID, labels->pid);
    put_label(m, S_SCRIPT, labels->script);
    put_label(m, S_STATE, labels->state);
    put_label(m, labels->detail.key, labels->detail.text);
    for (uint32_t i = 0; i < labels->n_own; i++)
        put_label(m, labels->own[2 * i], labels->own[2 * i + 1]);
    for (uint32_t i = 0; i < m->options->labels.n; i++)
        put_label(m, m->label_ids[2 * i], m->label_ids[2 * i + 1]);
    if (labels->of_base)
        put_label(m, S_BASE, S_TRUE);
    e->close(e);
}

/* ---- samples summed up over processes ---- */

static bool wants_label(const struct message *m, const char *name)
{
    return m->options->auto_labels == NULL || strstr(m->options->auto_labels, name) != NULL;
}

/* Finds or makes the stack `parent` plus one location. `parent` UINT32_MAX makes a root, whose
 * location is the string of its label. Returns 0 with the error set if memory is out. */
static uint32_t merged_stack(struct message *m, uint32_t parent, uint32_t location,
                             const struct process_labels *labels, uint32_t state,
                             struct detail_label detail)
{
    /* a detail's string is never a fixed one */
    const struct nytp_key key = {parent, location, labels->of_base,
                                 detail.text != 0 ? detail.text : state};
    const uint32_t known = nytp_table_get(&m->merged_ids, key);
    if (known != NYTP_TABLE_NONE)
        return known;
    const uint32_t id = m->n_merged;
    if (!nytp_grow(&m->merged, &m->merged_size, id, sizeof *m->merged) ||
        !nytp_table_put(&m->merged_ids, key, id)) {
        nytp_out_of_memory(&m->out->error);
        return 0;
    }
    m->merged[m->n_merged++] =
        (struct merged_stack){.parent = parent == UINT32_MAX ? id : parent,
                              .location = location,
                              .state = state,
                              .detail = detail,
                              .of_base = labels->of_base};
    return id;
}

/* Returns the stack of a node's callers. For a root it is the root of the merged tree. */
static uint32_t caller_stack(struct message *m, const struct process_labels *labels, uint32_t n)
{
    const struct nytp_node *nodes = m->profile->nodes;
    const uint32_t outer = nytp_stacks_outer(&m->stacks, n);
    const struct nytp_node *site = &nodes[nytp_stacks_site(&m->stacks, n)];
    uint32_t *known = &m->caller_stacks[n - m->first_node];
    if (*known != 0)
        return *known - 1;
    uint32_t stack;
    if (outer == n)
        stack = merged_stack(m, UINT32_MAX, labels->script, labels, 0, no_detail);
    else /* the outer one came before: its index is lower */
        stack = merged_stack(
            m, m->caller_stacks[outer - m->first_node] - 1,
            nytp_pprof_location_id(&m->tables, nodes[outer].sub, site->file, site->line),
            labels, 0, no_detail);
    *known = stack + 1;
    return stack;
}

static void add_merged(struct message *m, const struct process_labels *labels, uint32_t n,
                       uint32_t leaf, const int64_t *values)
{
    const uint32_t stack = merged_stack(m, caller_stack(m, labels, n), leaf, labels,
                                        labels->state, labels->detail);
    for (int i = 0; ok(m) && i < N_VALUES; i++)
        m->merged[stack].values[i] += values[i];
}

/* Begins a process with the nodes from `first` to before `end`: forgets all caller stacks. */
static bool begin_merged(struct message *m, uint32_t first, uint32_t end)
{
    if (end - first > m->n_caller_stacks) {
        free(m->caller_stacks);
        m->n_caller_stacks = end - first;
        m->caller_stacks = malloc((size_t)m->n_caller_stacks * sizeof *m->caller_stacks);
        if (m->caller_stacks == NULL)
            return nytp_out_of_memory(&m->out->error);
    }
    m->first_node = first;
    memset(m->caller_stacks, 0, (size_t)(end - first) * sizeof *m->caller_stacks);
    return true;
}

static bool has_value(const int64_t *values)
{
    for (int i = 0; i < N_VALUES; i++)
        if (values[i] != 0)
            return true;
    return false;
}

static void put_merged(struct message *m)
{
    for (uint32_t i = 0; i < m->n_merged && ok(m); i++) {
        const struct merged_stack *merged = &m->merged[i];
        if (merged->parent == i || !has_value(merged->values))
            continue;
        struct process_labels labels = {
            .state = merged->state, .detail = merged->detail, .of_base = merged->of_base};
        m->n_stack = 0;
        uint32_t at = i;
        for (; m->merged[at].parent != at && ok(m); at = m->merged[at].parent)
            push_location(m, m->merged[at].location);
        labels.script = m->merged[at].location;
        if (ok(m))
            put_sample(m, &labels, (uint32_t)m->stack[0], merged->values);
    }
}

/* pprof takes negative values for a difference between profiles, and their size for time. */
static int64_t wall_value(struct message *m, int64_t ticks)
{
    if (ticks >= 0)
        return nytp_scale_next(&m->scale, ticks);
    m->out->n_negative++;
    return 0;
}

/* A context's calls are on the first of its lines. */
static void put_context(struct message *m, const struct process_labels *labels, uint32_t n)
{
    const uint32_t sub = m->profile->nodes[n].sub;
    uint64_t calls = nytp_pprof_entries_of(&m->entries, n);
    m->n_stack = 0;
    for (uint32_t i = 0; i < m->entries.n && ok(m); i++) {
        const struct nytp_pprof_entry *entry = &m->entries.at[i];
        const int64_t sign = labels->of_base ? -1 : 1;
        int64_t values[N_VALUES] = {
            [VALUE_CALLS] = sign * (int64_t)calls,
            [VALUE_STATEMENTS] = sign * (int64_t)entry->statements,
            [VALUE_WALL] = sign * wall_value(m, entry->ticks),
            [VALUE_CPU] = sign * nytp_scale_next(&m->cpu_scale, entry->cpu_ticks),
        };
        for (int k = 0; k < NYTP_N_MEMORY; k++)
            if (m->has[VALUE_MEMORY + k])
                values[VALUE_MEMORY + k] =
                    sign * nytp_measures[NYTP_MEMORY_FIRST + k].weight(NULL, &entry->memory);
        calls = 0;
        if (!has_value(values))
            continue;
        if (m->caller_stacks != NULL) {
            add_merged(m, labels, n,
                       nytp_pprof_location_id(&m->tables, sub, entry->file, entry->line),
                       values);
            continue;
        }
        if (m->n_stack == 0)
            build_stack(m, n);
        const uint32_t leaf = nytp_pprof_location_id(&m->tables, sub, entry->file, entry->line);
        if (ok(m))
            put_sample(m, labels, leaf, values);
    }
}

static void add_own_label(struct message *m, struct nytp_str key, struct nytp_str value,
                          struct process_labels *labels)
{
    uint32_t *const own = &labels->own[2 * labels->n_own++];
    own[0] = nytp_pprof_string_id(&m->tables, key.ptr, key.len);
    own[1] = nytp_pprof_string_id(&m->tables, value.ptr, value.len);
}

/* Only for a thread other than the first. */
static void add_thread_label(struct message *m, uint32_t thread, struct process_labels *labels)
{
    char number[16];
    const int len = snprintf(number, sizeof number, "%lu", (unsigned long)thread);
    if (thread > 0)
        add_own_label(m, (struct nytp_str){.ptr = "thread", .len = 6},
                      (struct nytp_str){.ptr = number, .len = (uint32_t)len}, labels);
}

/* As recorded: unprintable text is \xHH already. */
static void add_own_labels(struct message *m, struct nytp_name text,
                           struct process_labels *labels)
{
    struct nytp_str rest = {.ptr = text.ptr, .len = text.len}, key, value;
    while (labels->n_own < MAX_OWN_LABELS && nytp_labels_next(&rest, &key, &value))
        add_own_label(m, key, value, labels);
}

static struct detail_label detail_label(struct message *m, uint32_t node)
{
    static const char *const keys[] = {
        [NYTP_DETAIL_PATTERN] = "pattern", [NYTP_DETAIL_WAIT] = "waits_for"};
    const struct nytp_detail detail = nytp_detail_of(&m->details, node);
    const struct nytp_key key = {(uint32_t)detail.kind, detail.row, 0, 0};
    if (detail.kind == NYTP_DETAIL_NONE)
        return no_detail;
    const uint32_t label =
        nytp_pprof_string_id(&m->tables, keys[detail.kind], strlen(keys[detail.kind]));
    uint32_t known = nytp_table_get(&m->detail_texts, key);
    if (known != NYTP_TABLE_NONE)
        return (struct detail_label){label, known};
    size_t len;
    char *const text = nytp_detail_text(&m->details, detail, (struct nytp_name){"", 0}, &len);
    if (text == NULL) {
        nytp_out_of_memory(&m->out->error);
        return no_detail;
    }
    known = nytp_pprof_escaped_id(&m->tables, (struct nytp_name){text, (uint32_t)len});
    free(text);
    if (!nytp_table_put(&m->detail_texts, key, known))
        nytp_out_of_memory(&m->out->error);
    return (struct detail_label){label, known};
}

/* Writes the samples of a process, or adds them to the merged stacks. */
static void put_process(struct message *m, uint32_t index)
{
    const struct nytp_profile *profile = m->profile;
    const struct nytp_process *process = &profile->processes[index];
    const uint32_t end = nytp_process_nodes_end(profile, index);
    const bool merges = !wants_label(m, "pid");
    if (merges && !begin_merged(m, process->root, end))
        return;
    char pid[16];
    const int len = snprintf(pid, sizeof pid, "%lu", (unsigned long)process->pid);
    struct process_labels labels = {
        .pid = merges ? 0 : nytp_pprof_string_id(&m->tables, pid, (size_t)len),
        .script = wants_label(m, "script")
                      ? nytp_pprof_escaped_id(
                            &m->tables, profile->recordings[process->recording].application)
                      : 0,
        .of_base = m->side_of_recording != NULL &&
                   m->side_of_recording[process->recording] == NYTP_DIFF_BASE,
    };
    if (!merges) {
        add_thread_label(m, process->thread, &labels);
        add_own_labels(m, process->labels, &labels);
    }
    for (uint32_t n = process->root; n < end && ok(m); n++) {
        if (nytp_stacks_kept(&m->stacks, n) != n)
            continue;
        if (merges)
            caller_stack(m, &labels, n);
        labels.state = m->waits.kinds[n] != NYTP_WAIT_NONE ? S_WAITING : 0;
        labels.detail = detail_label(m, n);
        put_context(m, &labels, n);
    }
}

/* ---- the rest of the message ---- */

static void put_value_type(struct message *m, enum nytp_pprof_field field, uint32_t type,
                           uint32_t unit)
{
    struct nytp_pprof_encoder *e = m->encoder;
    e->open(e, field);
    e->integer(e, FIELD(VALUE_TYPE, type), type);
    e->integer(e, FIELD(VALUE_TYPE, unit), unit);
    e->close(e);
}

/* Zeros are not written. */
static void put_integer(struct message *m, enum nytp_pprof_field field, int64_t value)
{
    if (value != 0)
        m->encoder->integer(m->encoder, field, value);
}

static void put_mapping(struct message *m)
{
    struct nytp_pprof_encoder *e = m->encoder;
    e->open(e, FIELD(PROFILE, mapping));
    e->integer(e, FIELD(MAPPING, id), 1);
    if (m->profile->n_recordings > 0)
        put_integer(m, FIELD(MAPPING, filename),
                    nytp_pprof_escaped_id(&m->tables, m->profile->recordings[0].application));
    e->flag(e, FIELD(MAPPING, has_functions));
    e->flag(e, FIELD(MAPPING, has_filenames));
    e->flag(e, FIELD(MAPPING, has_line_numbers));
    e->flag(e, FIELD(MAPPING, has_inline_frames));
    e->close(e);
}

static void put_locations(struct message *m)
{
    struct nytp_pprof_encoder *e = m->encoder;
    for (uint32_t i = 0; i < m->tables.n_locations; i++) {
        e->open(e, FIELD(PROFILE, location));
        e->integer(e, FIELD(LOCATION, id), (int64_t)i + 1);
        e->integer(e, FIELD(LOCATION, mapping_id), 1);
        e->open(e, FIELD(LOCATION, line));
        e->integer(e, FIELD(LINE, function_id), m->tables.locations[i].function);
        put_integer(m, FIELD(LINE, line), m->tables.locations[i].line);
        e->close(e);
        e->close(e);
    }
}

static void put_functions(struct message *m)
{
    struct nytp_pprof_encoder *e = m->encoder;
    for (uint32_t i = 0; i < m->tables.n_functions; i++) {
        const struct nytp_pprof_function *function = &m->tables.functions[i];
        e->open(e, FIELD(PROFILE, function));
        e->integer(e, FIELD(FUNCTION, id), (int64_t)i + 1);
        put_integer(m, FIELD(FUNCTION, name), function->name);
        put_integer(m, FIELD(FUNCTION, filename), function->filename);
        put_integer(m, FIELD(FUNCTION, start_line), function->start_line);
        e->close(e);
    }
}

static void put_strings(struct message *m)
{
    const uint32_t n = nytp_strings_count(m->tables.strings);
    for (uint32_t i = 0; i < n; i++)
        m->encoder->text(m->encoder, FIELD(PROFILE, string_table),
                         nytp_strings_get(m->tables.strings, i));
}

/* Adds the user's labels: strings, and a comment for each. */
static void add_labels(struct message *m)
{
    const struct nytp_texts *labels = &m->options->labels;
    m->label_ids = calloc(2 * (size_t)labels->n + 1, sizeof *m->label_ids);
    for (uint32_t i = 0; m->label_ids != NULL && i < labels->n; i++) {
        uint32_t *const ids = &m->label_ids[2 * i];
        ids[0] = nytp_pprof_escaped_id(&m->tables, nytp_label_key(m->options, i));
        ids[1] = nytp_pprof_escaped_id(&m->tables, nytp_label_value(m->options, i));
        nytp_pprof_comment(&m->tables, "label: %s", labels->at[i]);
    }
    if (m->label_ids == NULL)
        nytp_out_of_memory(&m->out->error);
}

static void put_types_of_memory(struct message *m)
{
    for (int k = 0; k < NYTP_N_MEMORY; k++) {
        const struct nytp_measure *const measure = &nytp_measures[NYTP_MEMORY_FIRST + k];
        const char *const unit = measure->unit == NYTP_MEASURE_SPACE ? "bytes" : "count";
        if (m->has[VALUE_MEMORY + k])
            put_value_type(
                m, FIELD(PROFILE, sample_type),
                nytp_pprof_string_id(&m->tables, measure->name, strlen(measure->name)),
                nytp_pprof_string_id(&m->tables, unit, strlen(unit)));
    }
}

/* Writes all fields in the order of their numbers. Strings of later fields must be interned
 * before the table of strings is written. */
static void put_message(struct message *m)
{
    struct nytp_pprof_encoder *e = m->encoder;
    const struct nytp_profile *profile = m->profile;
    const size_t n_fixed = m->side_of_recording != NULL
                               ? sizeof fixed_strings / sizeof *fixed_strings
                               : N_FIXED_STRINGS;
    for (size_t i = 0; i < n_fixed; i++)
        nytp_pprof_string_id(&m->tables, fixed_strings[i], strlen(fixed_strings[i]));
    add_labels(m);
    if (!nytp_node_details_init(&m->details, profile))
        nytp_out_of_memory(&m->out->error);
    /* its strings come before the fields that use them */
    nytp_pprof_comment_all(&m->tables, m->stacks.n_pruned);

    put_value_type(m, FIELD(PROFILE, sample_type), S_CALLS, S_COUNT);
    const char *const counted = nytp_text_counted(m->profile) == NYTP_COUNTED_BOTH
                                    ? "counts"
                                    : nytp_text_statements(m->profile);
    put_value_type(m, FIELD(PROFILE, sample_type),
                   nytp_pprof_string_id(&m->tables, counted, strlen(counted)), S_COUNT);
    const bool has_time = m->has[VALUE_WALL];
    const uint32_t unit =
        nytp_pprof_string_id(&m->tables, m->unit->long_name, strlen(m->unit->long_name));
    if (has_time)
        put_value_type(m, FIELD(PROFILE, sample_type), S_WALL, unit);
    if (m->has[VALUE_CPU])
        put_value_type(m, FIELD(PROFILE, sample_type),
                       nytp_pprof_string_id(&m->tables, "cpu", 3), unit);
    put_types_of_memory(m);
    for (uint32_t i = 0; i < profile->n_processes && ok(m); i++)
        put_process(m, i);
    put_merged(m);
    put_mapping(m);
    put_locations(m);
    put_functions(m);
    put_strings(m);
    const int64_t start = start_nanoseconds(profile);
    put_integer(m, FIELD(PROFILE, time_nanos), start);
    if (has_time) {
        put_integer(m, FIELD(PROFILE, duration_nanos), duration_nanoseconds(profile, start));
        put_value_type(m, FIELD(PROFILE, period_type), S_WALL, S_NANOSECONDS);
        put_integer(m, FIELD(PROFILE, period), tick_nanoseconds(profile));
    }
    if (m->tables.n_comments > 0)
        e->integers(e, FIELD(PROFILE, comment), m->tables.comments, m->tables.n_comments);
    put_integer(m, FIELD(PROFILE, default_sample_type),
                has_time ? S_WALL : nytp_pprof_string_id(&m->tables, counted, strlen(counted)));
}

bool nytp_pprof_message(const struct nytp_profile *profile, const uint8_t *side_of_recording,
                        const struct nytp_export_options *options, struct nytp_out *out,
                        struct nytp_pprof_encoder *encoder)
{
    struct message m = {
        .profile = profile,
        .side_of_recording = side_of_recording,
        .options = options,
        .out = out,
        .encoder = encoder,
        .unit = options->unit != NULL ? options->unit : nytp_unit_find("ns"),
        .has = {[VALUE_CALLS] = true,
                [VALUE_STATEMENTS] = true,
                [VALUE_WALL] = nytp_profile_has(profile, NYTP_WEIGHT_TIME),
                [VALUE_CPU] = profile->sampled},
    };
    for (int k = 0; k < NYTP_N_MEMORY; k++)
        m.has[VALUE_MEMORY + k] = nytp_profile_has(profile, NYTP_MEMORY_FIRST + k);
    nytp_scale_init(&m.scale, m.unit, profile->ticks_per_sec);
    m.cpu_scale = m.scale;
    if (nytp_pprof_tables_init(&m.tables, profile) &&
        nytp_stacks_init(&m.stacks, profile, options) &&
        nytp_pprof_entries_init(&m.entries, profile, &m.stacks) &&
        nytp_waits_init(&m.waits, profile, options->waits, &out->error))
        put_message(&m);
    else
        nytp_out_of_memory(&m.out->error);
    free(m.stack);
    nytp_pprof_entries_free(&m.entries);
    nytp_node_details_free(&m.details);
    nytp_table_free(&m.detail_texts);
    free(m.label_ids);
    free(m.merged);
    free(m.caller_stacks);
    nytp_table_free(&m.merged_ids);
    nytp_stacks_free(&m.stacks);
    nytp_waits_free(&m.waits);
    nytp_pprof_tables_free(&m.tables);
    if (m.tables.no_memory || m.entries.no_memory)
        nytp_out_of_memory(&m.out->error);
    return ok(&m);
}
