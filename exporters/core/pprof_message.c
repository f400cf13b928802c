/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The pprof message of a profile; see pprof_message.h. What pprof makes of each field was
 * found by running it (exporters/README.md, t/viewers/).
 *
 * - A location is a line of a sub: of a leaf the line where the time was spent, of a caller
 *   the line of the call, so that -list shows flat on statements and cum on calls.
 * - Function.system_name stays unset: where it is set pprof demangles names as C++ and cuts
 *   what is in brackets, which makes anonymous subs of different evals one.
 * - One pass: strings, functions and locations are numbered as the samples first use them,
 *   and samples come in the order of the model's contexts and lines.
 */
#include "pprof_message.h"
#include "../compare/diff.h"
#include "labels.h"
#include "stacks.h"
#include "waits.h"

#include "../../formats/core/arena.h"
#include "../../formats/core/strings.h"
#include "../../formats/core/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const nytp_pprof_names[NYTP_PPROF_FIELD_COUNT] = {
#define PPROF_FIELD(message, name, number) #name,
#include "pprof_fields.def"
#undef PPROF_FIELD
};

const uint8_t nytp_pprof_numbers[NYTP_PPROF_FIELD_COUNT] = {
#define PPROF_FIELD(message, name, number) number,
#include "pprof_fields.def"
#undef PPROF_FIELD
};

#define FIELD(message, name) NYTP_PPROF_##message##_##name

#define MAX_COMMENTS 32

enum value {
    VALUE_CALLS,
    VALUE_STATEMENTS,
    VALUE_WALL,
    N_VALUES
};

struct location {
    uint32_t function, line;
};

struct function {
    uint32_t name, filename; /* strings */
    uint32_t start_line;
};

/* What a context's own time is made of. */
struct entry {
    uint32_t file, line;
    int64_t ticks;
    uint64_t statements;
};

/* A stack of samples that are added up, over processes: the stack of its caller and one more
 * location. Roots hold what the samples of a process are labelled with. */
struct merged_stack {
    uint32_t parent, location; /* parent: itself for a root, whose location is a string */
    int64_t values[N_VALUES];
    uint32_t state; /* of the last frame: S_WAITING or 0 */
    bool of_base;
};

struct process_labels {
    uint32_t state;       /* S_WAITING or 0 */
    uint32_t pid, script; /* strings; script 0 = unknown */
    bool of_base;         /* of a difference: counts negatively */
};

struct message {
    const struct nytp_profile *profile;
    const uint8_t *side_of_part; /* of a difference, or NULL */
    struct nytp_out *out;
    struct nytp_pprof_encoder *encoder;
    const struct nytp_unit *unit;
    struct nytp_scale scale;
    struct nytp_labels *labels;
    struct nytp_waits waits;
    struct nytp_stacks stacks;
    uint32_t *next_member; /* by node: the next one that is kept as the same; NULL = none is */

    struct nytp_strings *strings;
    struct nytp_table location_ids; /* (sub, file, line, 0) */
    struct nytp_table function_ids; /* (sub, file, 0, 0) */
    struct location *locations;
    struct function *functions;
    uint32_t n_locations, n_functions;
    uint32_t locations_size, functions_size;

    int64_t *stack; /* location ids of one sample, leaf first */
    struct entry *entries;
    uint32_t n_stack, n_entries, stack_size, entries_size;

    const struct nytp_export_options *options;
    uint32_t *label_ids; /* strings: key, value of each label that the user gave */
    /* Only where processes are merged: */
    struct nytp_table merged_ids; /* (parent, location) */
    struct merged_stack *merged;
    uint32_t
        *caller_stacks; /* by node of the process at hand: its callers, index of `merged` */
    uint32_t n_merged, merged_size, n_caller_stacks, first_node;

    int64_t comments[MAX_COMMENTS]; /* strings */
    size_t n_comments;
};

static bool ok(const struct message *m)
{
    return m->out->error.status == NYTP_OK;
}

static bool no_memory(struct message *m)
{
    return nytp_error_set(&m->out->error, NYTP_ERR_MEMORY, "out of memory");
}

/* ---- tables ---- */

/* Strings whose index is known beforehand. */
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
    N_FIXED_STRINGS,
    S_BASE = N_FIXED_STRINGS, /* these two only in a difference */
    S_TRUE
};

static const char *const fixed_strings[] = {
    [S_EMPTY] = "",           [S_CALLS] = "calls",
    [S_COUNT] = "count",      [S_STATEMENTS] = "statements",
    [S_WALL] = "wall",        [S_NANOSECONDS] = "nanoseconds",
    [S_PID] = "pid",          [S_SCRIPT] = "script",
    [S_STATE] = "state",      [S_WAITING] = "waiting",
    [S_BASE] = "pprof::base", [S_TRUE] = "true",
};

static uint32_t string_id(struct message *m, const char *text, size_t len)
{
    const uint32_t id = nytp_strings_intern(m->strings, text, len);
    if (id != UINT32_MAX)
        return id;
    no_memory(m);
    return S_EMPTY;
}

static uint32_t name_id(struct message *m, struct nytp_name name)
{
    return string_id(m, name.ptr, name.len);
}

static uint32_t escaped_id(struct message *m, struct nytp_name name)
{
    struct nytp_name escaped;
    if (nytp_labels_escape(m->labels, name, &escaped))
        return name_id(m, escaped);
    no_memory(m);
    return S_EMPTY;
}

/* Ids of functions and locations count from 1. */
static uint32_t function_id(struct message *m, uint32_t sub, uint32_t file)
{
    const struct nytp_key key = {sub, file, 0, 0};
    const uint32_t known = nytp_table_get(&m->function_ids, key);
    if (known != NYTP_TABLE_NONE)
        return known;
    const struct function function = {
        .name = name_id(m, m->labels->subs[sub]),
        .filename = name_id(m, m->labels->files[file]),
        .start_line = file == m->profile->subs[sub].file ? m->profile->subs[sub].first_line : 0,
    };
    if (!nytp_grow(&m->functions, &m->functions_size, m->n_functions, sizeof *m->functions) ||
        !nytp_table_put(&m->function_ids, key, m->n_functions + 1)) {
        no_memory(m);
        return 1;
    }
    m->functions[m->n_functions++] = function;
    return m->n_functions;
}

static uint32_t location_id(struct message *m, uint32_t sub, uint32_t file, uint32_t line)
{
    file = nytp_line_file(m->profile, sub, file, line);
    const struct nytp_key key = {sub, file, line, 0};
    const uint32_t known = nytp_table_get(&m->location_ids, key);
    if (known != NYTP_TABLE_NONE)
        return known;
    const struct location location = {
        .function = function_id(m, sub, file),
        .line = line,
    };
    if (!nytp_grow(&m->locations, &m->locations_size, m->n_locations, sizeof *m->locations) ||
        !nytp_table_put(&m->location_ids, key, m->n_locations + 1)) {
        no_memory(m);
        return 1;
    }
    m->locations[m->n_locations++] = location;
    return m->n_locations;
}

/* ---- samples ---- */

static void push_location(struct message *m, uint32_t id)
{
    if (!nytp_grow(&m->stack, &m->stack_size, m->n_stack, sizeof *m->stack)) {
        no_memory(m);
        return;
    }
    m->stack[m->n_stack++] = id;
}

/* The callers of a context; the leaf's place is left open. */
static void build_stack(struct message *m, uint32_t n)
{
    const struct nytp_node *nodes = m->profile->nodes;
    m->n_stack = 0;
    push_location(m, 0);
    for (uint32_t outer = nytp_stacks_outer(&m->stacks, n); outer != n && ok(m);
         n = outer, outer = nytp_stacks_outer(&m->stacks, n)) {
        const struct nytp_node *site = &nodes[nytp_stacks_site(&m->stacks, n)];
        push_location(m, location_id(m, nodes[outer].sub, site->file, site->line));
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
    m->stack[0] = leaf;
    e->open(e, FIELD(PROFILE, sample));
    e->integers(e, FIELD(SAMPLE, location_id), m->stack, m->n_stack);
    e->integers(e, FIELD(SAMPLE, value), values, N_VALUES);
    put_label(m, S_PID, labels->pid);
    put_label(m, S_SCRIPT, labels->script);
    put_label(m, S_STATE, labels->state);
    for (uint32_t i = 0; i < m->options->labels.n; i++)
        put_label(m, m->label_ids[2 * i], m->label_ids[2 * i + 1]);
    if (labels->of_base)
        put_label(m, S_BASE, S_TRUE);
    e->close(e);
}

/* ---- samples of several processes added up ---- */

static bool wants_label(const struct message *m, const char *name)
{
    return m->options->auto_labels == NULL || strstr(m->options->auto_labels, name) != NULL;
}

static uint32_t merged_stack(struct message *m, uint32_t parent, uint32_t location,
                             const struct process_labels *labels, uint32_t state)
{
    const struct nytp_key key = {parent, location, labels->of_base, state};
    const uint32_t known = nytp_table_get(&m->merged_ids, key);
    if (known != NYTP_TABLE_NONE)
        return known;
    const uint32_t id = m->n_merged;
    if (!nytp_grow(&m->merged, &m->merged_size, id, sizeof *m->merged) ||
        !nytp_table_put(&m->merged_ids, key, id)) {
        no_memory(m);
        return 0;
    }
    m->merged[m->n_merged++] =
        (struct merged_stack){.parent = parent == UINT32_MAX ? id : parent,
                              .location = location,
                              .state = state,
                              .of_base = labels->of_base};
    return id;
}

/* The stack of what calls a node; that of the caller of a root is the root of the merged tree.
 */
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
        stack = merged_stack(m, UINT32_MAX, labels->script, labels, 0);
    else /* the outer one was seen before: its index is lower */
        stack =
            merged_stack(m, m->caller_stacks[outer - m->first_node] - 1,
                         location_id(m, nodes[outer].sub, site->file, site->line), labels, 0);
    *known = stack + 1;
    return stack;
}

static void add_merged(struct message *m, const struct process_labels *labels, uint32_t n,
                       uint32_t leaf, const int64_t *values)
{
    const uint32_t stack =
        merged_stack(m, caller_stack(m, labels, n), leaf, labels, labels->state);
    for (int i = 0; ok(m) && i < N_VALUES; i++)
        m->merged[stack].values[i] += values[i];
}

static bool begin_merged(struct message *m, uint32_t first, uint32_t end)
{
    if (end - first > m->n_caller_stacks) {
        free(m->caller_stacks);
        m->n_caller_stacks = end - first;
        m->caller_stacks = malloc((size_t)m->n_caller_stacks * sizeof *m->caller_stacks);
        if (m->caller_stacks == NULL)
            return no_memory(m);
    }
    m->first_node = first;
    memset(m->caller_stacks, 0, (size_t)(end - first) * sizeof *m->caller_stacks);
    return true;
}

static void put_merged(struct message *m)
{
    for (uint32_t i = 0; i < m->n_merged && ok(m); i++) {
        const struct merged_stack *merged = &m->merged[i];
        if (merged->parent == i ||
            (merged->values[VALUE_CALLS] == 0 && merged->values[VALUE_STATEMENTS] == 0 &&
             merged->values[VALUE_WALL] == 0))
            continue;
        struct process_labels labels = {.state = merged->state, .of_base = merged->of_base};
        m->n_stack = 0;
        uint32_t at = i;
        for (; m->merged[at].parent != at && ok(m); at = m->merged[at].parent)
            push_location(m, m->merged[at].location);
        labels.script = m->merged[at].location;
        if (ok(m))
            put_sample(m, &labels, (uint32_t)m->stack[0], merged->values);
    }
}

static void add_entry(struct message *m, uint32_t file, uint32_t line, int64_t ticks,
                      uint64_t statements)
{
    if (!nytp_grow(&m->entries, &m->entries_size, m->n_entries, sizeof *m->entries)) {
        no_memory(m);
        return;
    }
    m->entries[m->n_entries++] =
        (struct entry){.file = file, .line = line, .ticks = ticks, .statements = statements};
}

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

/* Entries of several contexts on one stack: one entry per line. */
static void merge_entries(struct message *m)
{
    if (m->n_entries > 0)
        qsort(m->entries, m->n_entries, sizeof *m->entries, compare_entries);
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_entries; i++) {
        struct entry *last = n > 0 ? &m->entries[n - 1] : NULL;
        if (last != NULL && compare_entries(last, &m->entries[i]) == 0) {
            last->ticks += m->entries[i].ticks;
            last->statements += m->entries[i].statements;
        } else {
            m->entries[n++] = m->entries[i];
        }
    }
    m->n_entries = n;
}

/* Gather what was spent in a context, and in those pruned into it. Returns its calls. */
static uint64_t gather(struct message *m, uint32_t n)
{
    const struct nytp_profile *profile = m->profile;
    uint64_t calls = 0;
    uint32_t n_members = 0;
    m->n_entries = 0;
    for (uint32_t member = n;; member = m->next_member[member]) {
        const struct nytp_node *node = &profile->nodes[member];
        const struct nytp_node_line *lines = &profile->node_lines[node->first_node_line];
        for (uint32_t i = 0; i < node->n_node_lines; i++)
            add_entry(m, lines[i].file, lines[i].line, lines[i].ticks, lines[i].statements);
        calls += node->calls;
        n_members++;
        if (m->next_member == NULL || m->next_member[member] == 0)
            break;
    }
    if (m->n_entries == 0 && calls > 0 && ok(m)) {
        const struct nytp_sub *sub = &profile->subs[profile->nodes[n].sub];
        add_entry(m, sub->file, sub->first_line, 0, 0);
    }
    if (n_members > 1)
        merge_entries(m);
    return calls;
}

/* pprof takes values below zero for a difference between profiles, and their size for time. */
static int64_t wall_value(struct message *m, int64_t ticks)
{
    if (ticks >= 0)
        return nytp_scale_next(&m->scale, ticks);
    m->out->n_negative++;
    return 0;
}

/* A context's calls are counted on the first of its lines. */
static void put_context(struct message *m, const struct process_labels *labels, uint32_t n)
{
    const uint32_t sub = m->profile->nodes[n].sub;
    uint64_t calls = gather(m, n);
    m->n_stack = 0;
    for (uint32_t i = 0; i < m->n_entries && ok(m); i++) {
        const struct entry *entry = &m->entries[i];
        const int64_t sign = labels->of_base ? -1 : 1;
        const int64_t values[N_VALUES] = {
            [VALUE_CALLS] = sign * (int64_t)calls,
            [VALUE_STATEMENTS] = sign * (int64_t)entry->statements,
            [VALUE_WALL] = sign * wall_value(m, entry->ticks),
        };
        calls = 0;
        if (values[VALUE_CALLS] == 0 && values[VALUE_STATEMENTS] == 0 &&
            values[VALUE_WALL] == 0)
            continue;
        if (m->caller_stacks != NULL) {
            add_merged(m, labels, n, location_id(m, sub, entry->file, entry->line), values);
            continue;
        }
        if (m->n_stack == 0)
            build_stack(m, n);
        const uint32_t leaf = location_id(m, sub, entry->file, entry->line);
        if (ok(m))
            put_sample(m, labels, leaf, values);
    }
}

/* Chain the pruned contexts to those they are counted on, in index order. */
static bool link_members(struct message *m)
{
    if (m->stacks.n_pruned == 0)
        return true;
    const uint32_t n_nodes = m->profile->n_nodes;
    m->next_member = calloc((size_t)n_nodes + 1, sizeof *m->next_member);
    if (m->next_member == NULL)
        return false;
    for (uint32_t n = n_nodes; n-- > 0;) {
        const uint32_t kept = nytp_stacks_kept(&m->stacks, n);
        if (kept == n)
            continue;
        m->next_member[n] = m->next_member[kept];
        m->next_member[kept] = n;
    }
    return true;
}

static void put_process(struct message *m, uint32_t index)
{
    const struct nytp_profile *profile = m->profile;
    const struct nytp_process *process = &profile->processes[index];
    const uint32_t end = index + 1 < profile->n_processes ? process[1].root : profile->n_nodes;
    const bool merges = !wants_label(m, "pid");
    if (merges && !begin_merged(m, process->root, end))
        return;
    char pid[16];
    const int len = snprintf(pid, sizeof pid, "%lu", (unsigned long)process->pid);
    struct process_labels labels = {
        .pid = merges ? 0 : string_id(m, pid, (size_t)len),
        .script = wants_label(m, "script")
                      ? escaped_id(m, profile->parts[process->part].application)
                      : 0,
        .of_base = m->side_of_part != NULL && m->side_of_part[process->part] == NYTP_DIFF_BASE,
    };
    for (uint32_t n = process->root; n < end && ok(m); n++) {
        if (nytp_stacks_kept(&m->stacks, n) != n)
            continue;
        if (merges)
            caller_stack(m, &labels, n);
        labels.state = m->waits.kinds[n] != NYTP_WAIT_NONE ? S_WAITING : 0;
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

/* What is a zero is not written. */
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
    if (m->profile->n_parts > 0)
        put_integer(m, FIELD(MAPPING, filename),
                    escaped_id(m, m->profile->parts[0].application));
    e->flag(e, FIELD(MAPPING, has_functions));
    e->flag(e, FIELD(MAPPING, has_filenames));
    e->flag(e, FIELD(MAPPING, has_line_numbers));
    e->flag(e, FIELD(MAPPING, has_inline_frames));
    e->close(e);
}

static void put_locations(struct message *m)
{
    struct nytp_pprof_encoder *e = m->encoder;
    for (uint32_t i = 0; i < m->n_locations; i++) {
        e->open(e, FIELD(PROFILE, location));
        e->integer(e, FIELD(LOCATION, id), (int64_t)i + 1);
        e->integer(e, FIELD(LOCATION, mapping_id), 1);
        e->open(e, FIELD(LOCATION, line));
        e->integer(e, FIELD(LINE, function_id), m->locations[i].function);
        put_integer(m, FIELD(LINE, line), m->locations[i].line);
        e->close(e);
        e->close(e);
    }
}

static void put_functions(struct message *m)
{
    struct nytp_pprof_encoder *e = m->encoder;
    for (uint32_t i = 0; i < m->n_functions; i++) {
        const struct function *function = &m->functions[i];
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
    const uint32_t n = nytp_strings_count(m->strings);
    for (uint32_t i = 0; i < n; i++)
        m->encoder->text(m->encoder, FIELD(PROFILE, string_table),
                         nytp_strings_get(m->strings, i));
}

/* Seconds of a clock as nanoseconds; 0 for what is no time of day. */
static int64_t nanoseconds(double seconds)
{
    return seconds > 0 && seconds < 9e9 ? (int64_t)(seconds * 1e9) : 0;
}

static int64_t start_nanoseconds(const struct nytp_profile *profile)
{
    int64_t start = 0;
    for (uint32_t i = 0; i < profile->n_processes; i++) {
        const struct nytp_process *process = &profile->processes[i];
        int64_t s = nanoseconds(process->start_s);
        if (s == 0)
            s = nanoseconds(profile->parts[process->part].basetime_s);
        if (s != 0 && (start == 0 || s < start))
            start = s;
    }
    return start;
}

/* From the first start to the last end; of one process not less than its profiled time, of
 * which pprof prints the percentage. */
static int64_t duration_nanoseconds(const struct nytp_profile *profile, int64_t start)
{
    int64_t end = 0;
    for (uint32_t i = 0; i < profile->n_processes; i++) {
        const int64_t s = nanoseconds(profile->processes[i].end_s);
        end = s > end ? s : end;
    }
    struct nytp_scale scale;
    nytp_scale_init(&scale, nytp_unit_find("ns"), profile->ticks_per_sec);
    const int64_t total = nytp_scale_once(&scale, profile->total_ticks);
    const int64_t wall = end > start && start > 0 ? end - start : 0;
    return wall > total || (profile->n_processes > 1 && wall > 0) ? wall : total;
}

/* Text fields must be UTF-8, and an error message may have been cut anywhere. */
static void replace_non_ascii(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text >= 0x80)
            *text = '?';
}

__attribute__((format(printf, 2, 3))) static void add_comment(struct message *m,
                                                              const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (m->n_comments == MAX_COMMENTS)
        return;
    if (!nytp_utf8_valid(text, strlen(text)))
        replace_non_ascii(text);
    const struct nytp_name name = {.ptr = text, .len = (uint32_t)strlen(text)};
    m->comments[m->n_comments++] = escaped_id(m, name);
}

static void add_part_comments(struct message *m, const struct nytp_part *part)
{
    if (part->application.len > 0)
        add_comment(m, "script: %s", part->application.ptr);
    if (part->perl_version.len > 0)
        add_comment(m, "perl: %s", part->perl_version.ptr);
    if (part->xs_version.len > 0)
        add_comment(m, "recorder: %s", part->xs_version.ptr);
    if (part->partial)
        add_comment(m, "partial: %s", part->error.message);
}

static void add_comments(struct message *m)
{
    const struct nytp_profile *profile = m->profile;
    if (profile->n_parts == 1) {
        add_part_comments(m, &profile->parts[0]);
    } else {
        add_comment(m, "merged from %lu recordings", (unsigned long)profile->n_parts);
        for (uint32_t i = 0; i < profile->n_parts; i++)
            if (profile->parts[i].partial)
                add_comment(m, "partial: %s: %s", profile->parts[i].path.ptr,
                            profile->parts[i].error.message);
    }
    if (profile->estimated_tree)
        add_comment(m, "estimated: stacks, from call counts (no call events)");
    else if (!(profile->has & NYTP_HAS_ENTRIES))
        add_comment(m, "estimated: lines within stacks (no call entry events)");
    if (m->stacks.n_pruned > 0)
        add_comment(m, "pruned: %llu deeper contexts", (unsigned long long)m->stacks.n_pruned);
}

/* The user's labels: strings, and a comment for each. */
static void add_labels(struct message *m)
{
    const struct nytp_texts *labels = &m->options->labels;
    m->label_ids = calloc(2 * (size_t)labels->n + 1, sizeof *m->label_ids);
    for (uint32_t i = 0; m->label_ids != NULL && i < labels->n; i++) {
        const char *text = labels->at[i];
        const size_t key_len = strcspn(text, "=");
        const char *value = text + key_len + (text[key_len] == '=');
        m->label_ids[2 * i] = escaped_id(m, (struct nytp_name){text, (uint32_t)key_len});
        m->label_ids[2 * i + 1] =
            escaped_id(m, (struct nytp_name){value, (uint32_t)strlen(value)});
        add_comment(m, "label: %s", text);
    }
    if (m->label_ids == NULL)
        no_memory(m);
}

static int64_t tick_nanoseconds(const struct nytp_profile *profile)
{
    const int64_t ns = profile->ticks_per_sec > 0 ? 1000000000 / profile->ticks_per_sec : 0;
    return ns > 0 ? ns : 1;
}

static void put_message(struct message *m)
{
    struct nytp_pprof_encoder *e = m->encoder;
    const struct nytp_profile *profile = m->profile;
    const size_t n_fixed = m->side_of_part != NULL
                               ? sizeof fixed_strings / sizeof *fixed_strings
                               : N_FIXED_STRINGS;
    for (size_t i = 0; i < n_fixed; i++)
        string_id(m, fixed_strings[i], strlen(fixed_strings[i]));
    add_labels(m);
    add_comments(m); /* their strings come before the fields that refer to them */

    put_value_type(m, FIELD(PROFILE, sample_type), S_CALLS, S_COUNT);
    put_value_type(m, FIELD(PROFILE, sample_type), S_STATEMENTS, S_COUNT);
    put_value_type(m, FIELD(PROFILE, sample_type), S_WALL,
                   string_id(m, m->unit->long_name, strlen(m->unit->long_name)));
    for (uint32_t i = 0; i < profile->n_processes && ok(m); i++)
        put_process(m, i);
    put_merged(m);
    put_mapping(m);
    put_locations(m);
    put_functions(m);
    put_strings(m);
    const int64_t start = start_nanoseconds(profile);
    put_integer(m, FIELD(PROFILE, time_nanos), start);
    put_integer(m, FIELD(PROFILE, duration_nanos), duration_nanoseconds(profile, start));
    put_value_type(m, FIELD(PROFILE, period_type), S_WALL, S_NANOSECONDS);
    put_integer(m, FIELD(PROFILE, period), tick_nanoseconds(profile));
    if (m->n_comments > 0)
        e->integers(e, FIELD(PROFILE, comment), m->comments, m->n_comments);
    put_integer(m, FIELD(PROFILE, default_sample_type), S_WALL);
}

bool nytp_pprof_message(const struct nytp_profile *profile, const uint8_t *side_of_part,
                        const struct nytp_export_options *options, struct nytp_out *out,
                        struct nytp_pprof_encoder *encoder)
{
    struct message m = {
        .profile = profile,
        .side_of_part = side_of_part,
        .options = options,
        .out = out,
        .encoder = encoder,
        .unit = options->unit != NULL ? options->unit : nytp_unit_find("ns"),
        .labels = nytp_labels_new(profile),
        .strings = nytp_strings_new(),
    };
    nytp_scale_init(&m.scale, m.unit, profile->ticks_per_sec);
    if (m.labels != NULL && m.strings != NULL &&
        nytp_stacks_init(&m.stacks, profile, options) && link_members(&m) &&
        nytp_waits_init(&m.waits, profile, options->waits, &out->error))
        put_message(&m);
    else
        no_memory(&m);
    free(m.stack);
    free(m.entries);
    free(m.locations);
    free(m.functions);
    free(m.next_member);
    free(m.label_ids);
    free(m.merged);
    free(m.caller_stacks);
    nytp_table_free(&m.merged_ids);
    nytp_table_free(&m.location_ids);
    nytp_table_free(&m.function_ids);
    nytp_stacks_free(&m.stacks);
    nytp_waits_free(&m.waits);
    nytp_strings_free(m.strings);
    nytp_labels_free(m.labels);
    return ok(&m);
}
