/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A thread of the Firefox Profiler's format; see thread.h. Tables are columns. Only the ends
 * of samples are kept; the other columns follow from them.
 */
#include "thread.h"

#include "exporters/base/json.h"
#include "exporters/stacks/frames.h"
#include "exporters/stacks/label_tracks.h"
#include "exporters/stacks/stacktree.h"
#include "exporters/stacks/timeline.h"

#include "formats/base/arena.h"
#include "formats/base/table.h"
#include "formats/model/profile.h"

#include <stdio.h>
#include <stdlib.h>

#define NONE UINT32_MAX

struct func {
    struct nytp_named_frame name;
    uint32_t file;
    uint32_t file_string; /* in stringArray; NONE = no file */
};

struct frame {
    uint32_t func, line;
};

struct stack {
    uint32_t prefix; /* NONE = outermost */
    uint32_t frame;
};

struct sample {
    uint32_t stack;
    int64_t start_ns, length_ns;
};

/* One thread's tables, and the source of its samples: `tree`, or else the timeline. */
struct thread {
    const struct nytp_firefox_process *of;
    const struct nytp_profile *profile; /* of->profile */
    struct nytp_out *out;
    bool is_second;    /* of its process */
    int64_t offset_ns; /* start of the process, relative to the first one */
    struct func *funcs;
    struct frame *frames;
    struct stack *stacks;
    uint32_t *files; /* with names as strings, in order of their first function */
    uint32_t n_funcs, n_frames, n_stacks, n_files;
    const struct nytp_stacktree *tree;
    struct nytp_stack_walk walk;
    struct nytp_timeline line;
    struct nytp_label_tracks labels; /* of the timeline */
    uint32_t first_node, innermost;
    struct nytp_scale scale; /* to nanoseconds */
    int64_t position_ns;
    int64_t *ends_ns; /* of the samples so far, from the process's start */
    uint32_t n_samples, ends_capacity;
    bool no_memory;
};

static uint32_t thread_id(const struct thread *t)
{
    return 2 * t->of->index + t->is_second;
}

static bool alloc_tables(struct thread *t, size_t n_funcs, size_t n_frames, size_t n_stacks)
{
    t->funcs = malloc((n_funcs + 1) * sizeof *t->funcs);
    t->frames = malloc((n_frames + 1) * sizeof *t->frames);
    t->stacks = malloc((n_stacks + 1) * sizeof *t->stacks);
    return t->funcs != NULL && t->frames != NULL && t->stacks != NULL;
}

static void free_tables(struct thread *t)
{
    free(t->funcs);
    free(t->frames);
    free(t->stacks);
    free(t->files);
    free(t->ends_ns);
    nytp_label_tracks_free(&t->labels);
}

/* Makes frames with lines. A viewer has one file per function, so a sub that ran lines of
 * another file (a required one, at file scope) is another function there. */
static bool tables_from_tree(struct thread *t)
{
    const struct nytp_stacktree *tree = t->tree;
    if (!alloc_tables(t, tree->n_frames, tree->n_frames, tree->n_stacks))
        return false;
    struct nytp_table func_ids = {0};
    bool ok = true;
    for (uint32_t i = 0; i < tree->n_frames && ok; i++) {
        const struct nytp_stack_frame *frame = &tree->frames[i];
        const uint32_t file = frame->line > 0 ? frame->file : t->profile->subs[frame->sub].file;
        const struct nytp_key key = {frame->sub, frame->unreturned, file, 0};
        uint32_t func = nytp_table_get(&func_ids, key);
        if (func == NYTP_TABLE_NONE) {
            func = t->n_funcs++;
            t->funcs[func] =
                (struct func){.name = {frame->sub, frame->unreturned}, .file = file};
            ok = nytp_table_put(&func_ids, key, func);
        }
        t->frames[t->n_frames++] = (struct frame){func, frame->line};
    }
    nytp_table_free(&func_ids);
    for (uint32_t i = 1; i < tree->n_stacks; i++)
        t->stacks[t->n_stacks++] =
            (struct stack){tree->stacks[i].parent - 1, tree->stacks[i].frame};
    return ok;
}

/* Makes a frame per sub and a stack per node, since spans refer to nodes. */
static bool tables_from_nodes(struct thread *t)
{
    const struct nytp_profile *profile = t->profile;
    struct nytp_frames named;
    const uint32_t end_node = nytp_process_nodes_end(profile, t->of->index);
    t->first_node = profile->processes[t->of->index].root;
    if (!nytp_frames_init(&named, profile, t->first_node, end_node))
        return false;
    const bool ok = alloc_tables(t, named.n_frames, named.n_frames, end_node - t->first_node);
    for (uint32_t i = 0; i < named.n_frames && ok; i++) {
        const uint32_t file = profile->subs[named.frames[i].sub].file;
        t->funcs[t->n_funcs++] = (struct func){.name = named.frames[i], .file = file};
        t->frames[t->n_frames++] = (struct frame){i, 0};
    }
    for (uint32_t i = t->first_node; i < end_node && ok; i++) {
        const struct nytp_node *node = &profile->nodes[i];
        t->stacks[t->n_stacks++] =
            (struct stack){node->parent == i ? NONE : node->parent - t->first_node,
                           nytp_frames_of_node(&named, node)};
    }
    nytp_frames_free(&named);
    return ok;
}

/* A thread has private strings. It gets only the file names of its functions: a program of a
 * thousand processes would repeat thousands of names in each. */
static bool intern_files(struct thread *t)
{
    struct nytp_table strings = {0};
    t->files = malloc((t->n_funcs + 1) * sizeof *t->files);
    bool ok = t->files != NULL;
    for (uint32_t i = 0; i < t->n_funcs && ok; i++) {
        struct func *func = &t->funcs[i];
        func->file_string = NONE;
        if (func->file == 0)
            continue;
        const struct nytp_key key = {func->file, 0, 0, 0};
        func->file_string = nytp_table_get(&strings, key);
        if (func->file_string != NYTP_TABLE_NONE)
            continue;
        func->file_string = t->n_funcs + t->n_files; /* behind the functions' names */
        t->files[t->n_files++] = func->file;
        ok = nytp_table_put(&strings, key, func->file_string);
    }
    nytp_table_free(&strings);
    return ok;
}

static void begin_samples(struct thread *t)
{
    nytp_scale_init(&t->scale, nytp_unit_find("ns"), t->profile->ticks_per_sec);
    t->position_ns = 0;
    t->innermost = t->first_node;
    if (t->tree == NULL)
        nytp_timeline_begin(&t->line, t->profile, t->of->index);
    else if (!nytp_stack_walk_begin(&t->walk, t->tree))
        t->no_memory = true;
}

static bool next_total(struct thread *t, struct sample *sample)
{
    while (nytp_stack_walk_next(&t->walk)) {
        const struct nytp_stack *stack = t->walk.stack;
        if (stack->value < 0)
            continue; /* counted in write_samples */
        sample->stack = (uint32_t)(stack - t->tree->stacks) - 1;
        sample->start_ns = t->position_ns;
        sample->length_ns = nytp_scale_next(&t->scale, stack->value);
        t->position_ns = nytp_ticks_sum(t->position_ns, sample->length_ns);
        return true;
    }
    return false;
}

/* The stretch between two events belongs to the innermost frame. */
static bool next_stretch(struct thread *t, struct sample *sample)
{
    while (nytp_timeline_next(&t->line)) {
        const uint32_t innermost = t->innermost;
        t->innermost = t->line.innermost;
        const int64_t now_ns = nytp_scale_once(&t->scale, t->line.at_ticks);
        if (now_ns == t->position_ns)
            continue;
        *sample =
            (struct sample){innermost - t->first_node, t->position_ns, now_ns - t->position_ns};
        t->position_ns = now_ns;
        return true;
    }
    t->no_memory |= t->line.no_memory;
    return false;
}

static void keep_end(struct thread *t, const struct sample *sample)
{
    if (!nytp_grow(&t->ends_ns, &t->ends_capacity, t->n_samples, sizeof *t->ends_ns))
        t->no_memory = true;
    else
        t->ends_ns[t->n_samples++] = nytp_ticks_sum(sample->start_ns, sample->length_ns);
}

static void put_sample(struct thread *t, const struct sample *sample)
{
    char text[NYTP_MAX_DIGITS + 1] = ",";
    const char *const end = nytp_append_u64(text + (t->n_samples > 0), sample->stack);
    nytp_put(t->out, text, (size_t)(end - text));
    keep_end(t, sample);
}

/* A viewer's time axis ends where the last sample begins, so the last one has no length. */
static void put_sample_stacks(struct thread *t)
{
    nytp_puts(t->out, "\"stack\":[");
    begin_samples(t);
    struct sample sample = {0};
    while (!t->no_memory &&
           (t->tree != NULL ? next_total(t, &sample) : next_stretch(t, &sample)))
        put_sample(t, &sample);
    nytp_timeline_end(&t->line);
    nytp_stack_walk_end(&t->walk);
    if (t->tree == NULL && t->n_samples > 0)
        put_sample(t, &(struct sample){sample.stack, t->position_ns, 0});
    nytp_puts(t->out, "],\n");
}

/* Writes the start of each sample on the axis of all processes, or (`lengths`) its length. */
static void put_sample_times(const struct thread *t, const char *key, bool lengths)
{
    int64_t start_ns = 0;
    nytp_json_key(t->out, key);
    nytp_putc(t->out, '[');
    for (uint32_t i = 0; i < t->n_samples; i++) {
        char text[NYTP_MAX_FIXED + 1] = ",";
        const int64_t value_ns =
            lengths ? t->ends_ns[i] - start_ns : nytp_ticks_sum(t->offset_ns, start_ns);
        const char *const end = nytp_json_append_fixed(text + (i > 0), value_ns, 6);
        nytp_put(t->out, text, (size_t)(end - text));
        start_ns = t->ends_ns[i];
    }
    nytp_puts(t->out, "],\n");
}

static void put_samples(struct thread *t)
{
    nytp_puts(t->out, "\"samples\":{");
    put_sample_stacks(t);
    put_sample_times(t, "time", false);
    put_sample_times(t, "weight", true);
    nytp_printf(t->out, "\"weightType\":\"tracing-ms\",\"length\":%u},\n", t->n_samples);
}

static void put_or_null(const struct thread *t, uint32_t value, uint32_t null)
{
    if (value == null)
        nytp_puts(t->out, "null");
    else
        nytp_put_u64(t->out, value);
}

/* A stack has up to three allocations: the bytes in use; the bytes freed; and the end of the
 * latter, negative at the same address, with unknown stack. Addresses only say which belong
 * together. */
struct allocation {
    int64_t weight;
    uint32_t stack; /* NONE: unknown */
    uint64_t address;
};

static uint32_t allocations_of(const struct thread *t, uint32_t i, struct allocation of[3])
{
    const int64_t in_use = t->tree->bytes[i].in_use,
                  freed = t->tree->bytes[i].allocated - in_use;
    const uint64_t address = 2 * (uint64_t)i;
    uint32_t n = 0;
    if (in_use > 0)
        of[n++] = (struct allocation){in_use, i - 1, address};
    if (freed > 0) {
        of[n++] = (struct allocation){freed, i - 1, address + 1};
        of[n++] = (struct allocation){-freed, NONE, address + 1};
    }
    return n;
}

enum allocation_column {
    ALLOCATION_TIME,
    ALLOCATION_WEIGHT,
    ALLOCATION_STACK,
    ALLOCATION_ADDRESS,
    ALLOCATION_THREAD,
    ALLOCATION_COLUMNS
};

static void put_allocation(const struct thread *t, const struct allocation *allocation,
                           enum allocation_column column)
{
    if (column == ALLOCATION_TIME)
        nytp_json_fixed(t->out, t->offset_ns, 6);
    else if (column == ALLOCATION_WEIGHT)
        nytp_put_i64(t->out, allocation->weight);
    else if (column == ALLOCATION_STACK)
        put_or_null(t, allocation->stack, NONE);
    else
        nytp_put_u64(t->out, column == ALLOCATION_ADDRESS ? allocation->address : thread_id(t));
}

static void put_allocations(const struct thread *t)
{
    static const char *const keys[ALLOCATION_COLUMNS] = {"time", "weight", "stack",
                                                         "memoryAddress", "threadId"};
    struct allocation of[3];
    uint32_t n = 0;
    nytp_puts(t->out, "\"nativeAllocations\":{");
    for (int column = 0; column < ALLOCATION_COLUMNS; column++) {
        n = 0;
        nytp_json_key(t->out, keys[column]);
        nytp_putc(t->out, '[');
        for (uint32_t i = 1; i < t->tree->n_stacks; i++) {
            const uint32_t n_of_stack = allocations_of(t, i, of);
            for (uint32_t a = 0; a < n_of_stack; a++) {
                if (n++ > 0)
                    nytp_putc(t->out, ',');
                put_allocation(t, &of[a], (enum allocation_column)column);
            }
        }
        nytp_puts(t->out, "],");
    }
    nytp_printf(t->out, "\"weightType\":\"bytes\",\"length\":%u},\n", n);
}

/* Categories are listed in write_meta() of firefox.c. */
static uint32_t func_category(const struct thread *t, uint32_t func)
{
    const uint32_t sub = t->funcs[func].name.sub;
    if (t->of->is_waiting[sub])
        return 4;
    switch (t->profile->subs[sub].kind) {
    case NYTP_SUB_PERL:
        return 1;
    case NYTP_SUB_XSUB:
        return 2;
    case NYTP_SUB_OPCODE:
        return 3;
    default:
        return 0;
    }
}

static void put_column(const struct thread *t, const char *key, uint32_t n,
                       void (*put)(const struct thread *t, uint32_t i))
{
    nytp_json_key(t->out, key);
    nytp_putc(t->out, '[');
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0)
            nytp_putc(t->out, ',');
        put(t, i);
    }
    nytp_puts(t->out, "],");
}

static void put_constants(const struct thread *t, const char *key, uint32_t n,
                          const char *value)
{
    nytp_json_key(t->out, key);
    for (uint32_t i = 0; i < n; i++)
        nytp_printf(t->out, "%c%s", i == 0 ? '[' : ',', value);
    nytp_puts(t->out, n == 0 ? "[]," : "],");
}

static void put_stack_prefix(const struct thread *t, uint32_t i)
{
    put_or_null(t, t->stacks[i].prefix, NONE);
}

static void put_stack_frame(const struct thread *t, uint32_t i)
{
    nytp_put_u64(t->out, t->stacks[i].frame);
}

static void put_stack_category(const struct thread *t, uint32_t i)
{
    nytp_put_u64(t->out, func_category(t, t->frames[t->stacks[i].frame].func));
}

static void put_frame_func(const struct thread *t, uint32_t i)
{
    nytp_put_u64(t->out, t->frames[i].func);
}

static void put_frame_line(const struct thread *t, uint32_t i)
{
    put_or_null(t, t->frames[i].line, 0);
}

static void put_frame_category(const struct thread *t, uint32_t i)
{
    nytp_put_u64(t->out, func_category(t, t->frames[i].func));
}

static void put_func_name(const struct thread *t, uint32_t i)
{
    nytp_put_u64(t->out, i); /* the first strings are the functions' names */
}

static void put_func_file(const struct thread *t, uint32_t i)
{
    put_or_null(t, t->funcs[i].file_string, NONE);
}

static void put_func_line(const struct thread *t, uint32_t i)
{
    const struct nytp_sub *sub = &t->profile->subs[t->funcs[i].name.sub];
    put_or_null(t, sub->file == t->funcs[i].file ? sub->first_line : 0, 0);
}

static void put_tables(const struct thread *t)
{
    struct nytp_out *out = t->out;
    nytp_puts(out, "\"stackTable\":{");
    put_column(t, "prefix", t->n_stacks, put_stack_prefix);
    put_column(t, "frame", t->n_stacks, put_stack_frame);
    put_column(t, "category", t->n_stacks, put_stack_category);
    put_constants(t, "subcategory", t->n_stacks, "0");
    nytp_printf(out, "\"length\":%u},\n\"frameTable\":{", t->n_stacks);
    put_constants(t, "address", t->n_frames, "-1");
    put_constants(t, "inlineDepth", t->n_frames, "0");
    put_column(t, "category", t->n_frames, put_frame_category);
    put_constants(t, "subcategory", t->n_frames, "0");
    put_column(t, "func", t->n_frames, put_frame_func);
    put_constants(t, "nativeSymbol", t->n_frames, "null");
    put_constants(t, "innerWindowID", t->n_frames, "0");
    put_constants(t, "implementation", t->n_frames, "null");
    put_column(t, "line", t->n_frames, put_frame_line);
    put_constants(t, "column", t->n_frames, "null");
    nytp_printf(out, "\"length\":%u},\n\"funcTable\":{", t->n_frames);
    put_constants(t, "isJS", t->n_funcs, "false");
    put_constants(t, "relevantForJS", t->n_funcs, "false");
    put_column(t, "name", t->n_funcs, put_func_name);
    put_constants(t, "resource", t->n_funcs, "-1");
    put_column(t, "fileName", t->n_funcs, put_func_file);
    put_column(t, "lineNumber", t->n_funcs, put_func_line);
    put_constants(t, "columnNumber", t->n_funcs, "null");
    nytp_printf(out,
                "\"length\":%u},\n\"resourceTable\":{\"lib\":[],\"name\":[],\"host\":[],"
                "\"type\":[],\"length\":0},\n\"nativeSymbols\":{\"libIndex\":[],\"address\":[],"
                "\"name\":[],\"functionSize\":[],\"length\":0},\n",
                t->n_funcs);
}

static void put_marker_data(const struct thread *t, uint32_t i)
{
    const struct nytp_name *value = &t->labels.stretches[i].value;
    nytp_puts(t->out, "{\"type\":\"label\",\"value\":");
    nytp_json_string(t->out, value->ptr, value->len);
    nytp_putc(t->out, '}');
}

static void put_marker_name(const struct thread *t, uint32_t i)
{
    nytp_put_u64(t->out, t->n_funcs + t->n_files + t->labels.track[i]);
}

static void put_marker_time(const struct thread *t, int64_t ticks)
{
    nytp_json_fixed(t->out, nytp_ticks_sum(t->offset_ns, nytp_scale_once(&t->scale, ticks)), 6);
}

static void put_marker_start(const struct thread *t, uint32_t i)
{
    put_marker_time(t, t->labels.stretches[i].start_ticks);
}

static void put_marker_end(const struct thread *t, uint32_t i)
{
    put_marker_time(t, t->labels.stretches[i].end_ticks);
}

static void put_markers(const struct thread *t)
{
    const uint32_t n = t->labels.n_stretches;
    nytp_puts(t->out, "\"markers\":{");
    put_column(t, "data", n, put_marker_data);
    put_column(t, "name", n, put_marker_name);
    put_column(t, "startTime", n, put_marker_start);
    put_column(t, "endTime", n, put_marker_end);
    put_constants(t, "phase", n, "1");    /* an interval */
    put_constants(t, "category", n, "5"); /* Label, of write_meta() of firefox.c */
    nytp_printf(t->out, "\"length\":%u},\n", n);
}

static void put_strings(const struct thread *t)
{
    nytp_puts(t->out, "\"stringArray\":[");
    for (uint32_t i = 0; i < t->n_funcs; i++) {
        if (i > 0)
            nytp_putc(t->out, ',');
        nytp_frames_json_name(t->profile, t->funcs[i].name, t->out);
    }
    for (uint32_t i = 0; i < t->n_files; i++) {
        const struct nytp_name *name = &t->profile->files[t->files[i]].name;
        nytp_putc(t->out, ',');
        nytp_json_string(t->out, name->ptr, name->len);
    }
    for (uint32_t i = 0; i < t->labels.n_keys; i++) {
        nytp_putc(t->out, ',');
        nytp_json_string(t->out, t->labels.keys[i].ptr, t->labels.keys[i].len);
    }
    nytp_puts(t->out, "]}");
}

static void put_thread(struct thread *t, const char *remark)
{
    const struct nytp_process *process = &t->profile->processes[t->of->index];
    char both[200];
    snprintf(both, sizeof both, "%s%s", remark,
             nytp_process_offset_remark(process, t->of->first_start_s));
    nytp_puts(t->out, "{\"name\":");
    nytp_process_json_label(t->profile, t->of->index, both, t->out);
    nytp_puts(t->out, ",\"processName\":");
    nytp_process_json_name(t->profile, t->of->index, t->out);
    nytp_printf(t->out,
                ",\"processType\":\"default\",\"isMainThread\":%s,\"pid\":\"%u\",\"tid\":%u,"
                "\"processStartupTime\":",
                !t->is_second && process->thread == 0 ? "true" : "false", process->pid,
                thread_id(t));
    nytp_json_fixed(t->out, t->offset_ns, 6);
    nytp_puts(t->out, ",\"processShutdownTime\":null,\"registerTime\":");
    nytp_json_fixed(t->out, t->offset_ns, 6);
    nytp_puts(t->out, ",\"unregisterTime\":null,\"pausedRanges\":[],\n");
    put_samples(t);
    if (t->tree != NULL && t->tree->bytes != NULL)
        put_allocations(t);
    put_tables(t);
    put_markers(t);
    put_strings(t);
}

static struct thread thread_of(const struct nytp_firefox_process *of, struct nytp_out *out)
{
    const struct nytp_process *const process = &of->profile->processes[of->index];
    return (struct thread){
        .of = of,
        .profile = of->profile,
        .out = out,
        .offset_ns = nytp_process_offset_ns(process, of->first_start_s),
    };
}

bool nytp_firefox_put_timeline(const struct nytp_firefox_process *of, struct nytp_out *out)
{
    struct thread t = thread_of(of, out);
    char remark[120];
    const bool ok = tables_from_nodes(&t) && intern_files(&t) &&
                    nytp_label_tracks_init(&t.labels, t.profile, of->index);
    if (ok)
        put_thread(&t, nytp_timeline_remark(t.profile, of->index, remark, sizeof remark));
    free_tables(&t);
    return ok && !t.no_memory;
}

static bool has_bytes(const struct nytp_firefox_process *of)
{
    const uint32_t recording = of->profile->processes[of->index].recording;
    return (of->profile->recordings[recording].has & NYTP_HAS_BYTES) != 0;
}

bool nytp_firefox_put_totals(const struct nytp_firefox_process *of,
                             const struct nytp_export_options *user, bool is_second,
                             struct nytp_out *out)
{
    struct thread t = thread_of(of, out);
    struct nytp_export_options options = *user;
    options.weight = NYTP_WEIGHT_TIME;
    options.lines = true;
    struct nytp_stacktree *const tree =
        has_bytes(of) ? nytp_stacktree_new_with_bytes(t.profile, &options, of->index)
                      : nytp_stacktree_new(t.profile, &options, of->index, false);
    t.tree = tree;
    t.is_second = is_second;
    const bool ok = tree != NULL && nytp_stacktree_sort(tree, NULL) && tables_from_tree(&t) &&
                    intern_files(&t);
    if (ok) {
        for (uint32_t i = 0; i < tree->n_stacks; i++)
            t.out->n_negative += tree->stacks[i].value < 0;
        put_thread(&t, ", totals: positions are not times");
    }
    free_tables(&t);
    nytp_stacktree_free(tree);
    return ok && !t.no_memory;
}
