/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Merges profiles: concatenates their tables under new indices, unifies subs by name and file,
 * and files by name. String evals stay separate: the same name is another eval in another
 * process.
 */
#include "merge_profiles.h"
#include "formats/base/arena.h"
#include "eval_files.h"
#include "profile.h"
#include "formats/base/strings.h"
#include "in_use.h"
#include "svs.h"
#include "formats/base/table.h"
#include "totals.h"
#include "formats/base/units.h"
#include "formats/base/wide.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TICKS_PER_SEC INT64_C(1000000000000)

struct merging {
    struct nytp_profile *to;
    struct nytp_profile **from;
    uint32_t n_from;
    enum nytp_merge_purpose purpose;
    uint32_t **file_map, **sub_map; /* per input: old index -> new */
    struct nytp_svs_rows svs;       /* of the lines so far */
};

static int64_t size_of(int64_t ticks)
{
    return ticks < 0 ? -(ticks + 1) : ticks;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Returns the largest time of a process outside its nodes. The times of labels and memory
 * points are within that of its root. */
static int64_t largest_of_process(const struct nytp_process *p)
{
    return larger(larger(size_of(p->stmt_ticks), size_of(p->recording_ticks)),
                  larger(size_of(p->cpu_ticks), p->processor_ticks));
}

/* Returns the largest of the sums of a profile's absolute times that are ever made. */
static int64_t largest_sum(const struct nytp_profile *p)
{
    int64_t nodes = 0, lines = 0, arcs = 0, statements = 0, processes = 0, spans = 0;
    for (uint32_t i = 0; i < p->n_nodes; i++)
        nodes = nytp_ticks_sum(nodes, size_of(p->nodes[i].excl_ticks));
    for (uint32_t i = 0; i < p->n_node_lines; i++)
        lines = nytp_ticks_sum(lines, size_of(p->node_lines[i].ticks));
    for (uint32_t i = 0; i < p->n_arcs; i++) {
        arcs = nytp_ticks_sum(arcs, size_of(p->arcs[i].incl_ticks));
        arcs = nytp_ticks_sum(arcs, size_of(p->arcs[i].excl_ticks));
    }
    for (uint32_t i = 0; i < p->n_subs; i++)
        statements = nytp_ticks_sum(statements, size_of(p->subs[i].stmt_ticks));
    for (uint32_t i = 0; i < p->n_processes; i++)
        processes = nytp_ticks_sum(processes, largest_of_process(&p->processes[i]));
    for (uint32_t i = 0; i < p->n_spans; i++)
        spans = larger(spans, p->spans[i].end_ticks);
    return larger(larger(larger(nodes, lines), larger(arcs, statements)),
                  larger(processes, spans));
}

static bool times_fit(const struct merging *f, int64_t ticks_per_sec)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < f->n_from; i++)
        sum = nytp_ticks_sum(sum, nytp_mul_div_signed(largest_sum(f->from[i]), ticks_per_sec,
                                                      f->from[i]->ticks_per_sec));
    return sum < INT64_MAX;
}

/* The common tick is the least common multiple, so that nothing is rounded. */
static bool common_ticks(struct merging *f, struct nytp_error *error)
{
    int64_t ticks = 1;
    for (uint32_t i = 0; i < f->n_from; i++) {
        const int64_t other = f->from[i]->ticks_per_sec;
        if (__builtin_mul_overflow(ticks / nytp_common_divisor(ticks, other), other, &ticks) ||
            ticks > MAX_TICKS_PER_SEC)
            return nytp_error_set(error, NYTP_ERR_LIMIT,
                                  "profiles with ticks_per_sec=%lld and %lld do not merge",
                                  (long long)f->from[0]->ticks_per_sec, (long long)other);
    }
    f->to->ticks_per_sec = ticks;
    return times_fit(f, ticks) ||
           nytp_error_set(error, NYTP_ERR_LIMIT,
                          "profiles do not merge: their times are too long for the common "
                          "ticks_per_sec=%lld",
                          (long long)ticks);
}

/* Times of nested calls need not fit: see nytp_ticks_sum(). */
static int64_t scaled_or_largest(int64_t ticks, int64_t scale)
{
    int64_t scaled;
    if (!__builtin_mul_overflow(ticks, scale, &scaled))
        return scaled;
    return ticks < 0 ? INT64_MIN : INT64_MAX;
}

static struct nytp_name keep_name(struct merging *f, struct nytp_name name)
{
    const uint32_t id = nytp_strings_intern(f->to->strings, name.ptr, name.len);
    return id == UINT32_MAX ? (struct nytp_name){NULL, 0}
                            : nytp_strings_get(f->to->strings, id);
}

/* ---- files ------------------------------------------------------------------------------- */

/* The same name is another eval in another process, unless evals of one place were merged.
 * Merged ones have the number 0, which perl never uses. */
static bool is_eval(const struct nytp_file *file)
{
    if (file->name.len > 9 && memcmp(file->name.ptr, "(eval 0)[", 9) == 0)
        return false;
    return file->eval_file != 0 ||
           (file->name.len > 6 && memcmp(file->name.ptr, "(eval ", 6) == 0);
}

/* With two sums it is unknown to which text the lines belong. */
static void merge_sums(struct nytp_file *to, const struct nytp_file *from)
{
    if (to->n_text_sums == 0) {
        memcpy(to->text_sum, from->text_sum, sizeof to->text_sum);
        to->n_text_sums = from->n_text_sums;
        to->size = from->n_text_sums > 0 ? from->size : to->size;
    } else if (from->n_text_sums > 1 ||
               (from->n_text_sums == 1 &&
                memcmp(to->text_sum, from->text_sum, sizeof to->text_sum) != 0)) {
        to->n_text_sums = 2;
    }
}

/* Finds the merged file for a file of this input: one of the same name. If an input has
 * several files of one name, such as a module loaded again after a change, the result has
 * several, too. Merged evals have a file each, all of one name, and become one. */
static uint32_t find_file(const struct nytp_table *by_name, const uint32_t *last_input,
                          uint32_t input, const struct nytp_file *file, struct nytp_key *key)
{
    uint32_t known;
    while ((known = nytp_table_get(by_name, *key)) != NYTP_TABLE_NONE &&
           last_input[known] == input && file->eval_file == 0 && key->b == 0 &&
           key->d < NYTP_MOST_TEXTS_OF_NAME)
        key->d++;
    return known;
}

/* Renumbers the files of all inputs. Files of one name become one, except for string evals. */
static bool merge_files(struct merging *f)
{
    struct nytp_profile *to = f->to;
    struct nytp_table by_name = {0};
    uint32_t total = 1;
    for (uint32_t i = 0; i < f->n_from; i++)
        total += f->from[i]->n_files - 1;
    to->files = calloc(total, sizeof *to->files);
    uint32_t *const last_input = calloc(total, sizeof *last_input);
    bool ok = to->files != NULL && last_input != NULL;
    if (ok)
        to->files[0].name = keep_name(f, (struct nytp_name){"", 0});
    to->n_files = 1;
    for (uint32_t i = 0; ok && i < f->n_from; i++) {
        const struct nytp_profile *from = f->from[i];
        uint32_t *map = f->file_map[i] = calloc(from->n_files, sizeof *map);
        ok = map != NULL;
        for (uint32_t k = 1; ok && k < from->n_files; k++) {
            const uint32_t name = nytp_strings_intern(to->strings, from->files[k].name.ptr,
                                                      from->files[k].name.len);
            struct nytp_key key = nytp_file_key(to->strings, name);
            const uint32_t known =
                is_eval(&from->files[k])
                    ? NYTP_TABLE_NONE
                    : find_file(&by_name, last_input, i + 1, &from->files[k], &key);
            if (known != NYTP_TABLE_NONE) {
                map[k] = known;
                last_input[known] = i + 1;
                merge_sums(&to->files[known], &from->files[k]);
                continue;
            }
            map[k] = to->n_files++;
            last_input[map[k]] = i + 1;
            to->files[map[k]] = from->files[k];
            to->files[map[k]].name = keep_name(f, from->files[k].name);
            to->files[map[k]].recording += to->n_recordings;
            to->files[map[k]].n_sources = 0;
            ok = is_eval(&from->files[k]) || nytp_table_put(&by_name, key, map[k]);
        }
        for (uint32_t k = 1; ok && k < from->n_files; k++)
            if (from->files[k].eval_file != 0)
                to->files[map[k]].eval_file = map[from->files[k].eval_file];
        to->n_recordings += from->n_recordings;
    }
    to->n_recordings = 0; /* counted only to renumber */
    nytp_table_free(&by_name);
    free(last_input);
    return ok && nytp_cut_eval_rings(to->files, to->n_files);
}

static int by_file_line(const void *x, const void *y)
{
    const struct nytp_source_line *a = x, *b = y;
    NYTP_RETURN_ORDER(a->file, b->file);
    return a->line < b->line ? -1 : a->line > b->line;
}

/* The first input with a file's source provides it. */
static bool merge_sources(struct merging *f)
{
    struct nytp_profile *to = f->to;
    uint32_t total = 0;
    for (uint32_t i = 0; i < f->n_from; i++)
        total += f->from[i]->n_sources;
    to->sources = malloc((total + 1) * sizeof *to->sources);
    uint32_t *giver = calloc(to->n_files, sizeof *giver);
    bool ok = to->sources != NULL && giver != NULL;
    for (uint32_t i = 0; ok && i < f->n_from; i++) {
        const struct nytp_profile *from = f->from[i];
        for (uint32_t k = 0; ok && k < from->n_sources; k++) {
            struct nytp_source_line line = from->sources[k];
            line.file = f->file_map[i][line.file];
            if (giver[line.file] != 0 && giver[line.file] != i + 1)
                continue;
            giver[line.file] = i + 1;
            char *text = nytp_arena_alloc(to->arena, (size_t)line.len + 1);
            ok = text != NULL;
            if (ok) {
                memcpy(text, line.text, (size_t)line.len + 1);
                line.text = text;
                to->sources[to->n_sources++] = line;
            }
        }
    }
    free(giver);
    if (ok)
        qsort(to->sources, to->n_sources, sizeof *to->sources, by_file_line);
    for (uint32_t i = to->n_sources; ok && i-- > 0;) {
        to->files[to->sources[i].file].first_source = i;
        to->files[to->sources[i].file].n_sources++;
    }
    return ok;
}

/* ---- subs -------------------------------------------------------------------------------- */

struct candidate {
    struct nytp_name name;
    uint32_t file, input, index;
    bool leaf; /* an xsub or opcode: identified by name alone */
};

static int by_name_file(const void *x, const void *y)
{
    const struct candidate *a = x, *b = y;
    const int order = nytp_compare_names(a->name, b->name);
    if (order != 0)
        return order;
    if (a->leaf != b->leaf)
        return a->leaf ? -1 : 1;
    NYTP_RETURN_ORDER(a->file, b->file);
    NYTP_RETURN_ORDER(a->input, b->input);
    return 0;
}

/* Returns true if candidate i (i > 0) is the same sub as the one before it. An xsub or
 * opcode is the same in every file, since its file is only that of a script that uses its
 * package. A sub of unknown file, which sorts first, is the sub of its name if that is in
 * only one file. */
static bool joins_previous(const struct merging *f, const struct candidate *list, uint32_t i,
                           uint32_t n)
{
    const struct candidate *a = &list[i - 1], *b = &list[i];
    if (a->name.ptr != b->name.ptr || a->leaf != b->leaf)
        return false;
    if (a->leaf || a->file == b->file)
        return true;
    if (a->file != 0 || f->purpose == NYTP_MERGE_OF_PARTS)
        return false;
    for (uint32_t k = i; k < n && list[k].name.ptr == b->name.ptr; k++)
        if (list[k].file != b->file)
            return false;
    return true;
}

/* Lists all subs except the roots, and allocates the maps for their new numbers. */
static bool list_candidates(struct merging *f, struct candidate *list)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n_from; i++) {
        const struct nytp_profile *from = f->from[i];
        f->sub_map[i] = calloc(from->n_subs, sizeof **f->sub_map);
        if (f->sub_map[i] == NULL)
            return false;
        for (uint32_t k = 1; k < from->n_subs; k++) {
            const struct nytp_sub *sub = &from->subs[k];
            list[n++] =
                (struct candidate){keep_name(f, sub->name), f->file_map[i][sub->file], i, k,
                                   sub->kind == NYTP_SUB_XSUB || sub->kind == NYTP_SUB_OPCODE};
        }
    }
    return true;
}

/* Renumbers the subs of all inputs. Subs of one name and file become one. */
static bool merge_subs(struct merging *f)
{
    struct nytp_profile *to = f->to;
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n_from; i++)
        n += f->from[i]->n_subs - 1;
    struct candidate *list = malloc((n + 1) * sizeof *list);
    to->subs = calloc(n + 1, sizeof *to->subs);
    bool ok = list != NULL && to->subs != NULL;
    ok = ok && list_candidates(f, list);
    if (ok) {
        qsort(list, n, sizeof *list, by_name_file);
        to->subs[0] = f->from[0]->subs[0];
        to->subs[0].name = keep_name(f, f->from[0]->subs[0].name);
        to->subs[0].file = f->file_map[0][f->from[0]->subs[0].file];
        to->n_subs = 1;
    }
    for (uint32_t i = 0; ok && i < n; i++) {
        const struct nytp_sub *sub = &f->from[list[i].input]->subs[list[i].index];
        const bool joins = i > 0 && joins_previous(f, list, i, n);
        if (!joins)
            to->n_subs++;
        struct nytp_sub *target = &to->subs[to->n_subs - 1];
        const bool leaf = list[i].leaf;
        if (joins && leaf && target->file != list[i].file) {
            target->file = 0;
        } else if (!joins || (target->file == 0 && !leaf)) {
            *target = *sub;
            target->name = list[i].name;
            target->file = list[i].file;
        }
        f->sub_map[list[i].input][list[i].index] = to->n_subs - 1;
    }
    for (uint32_t i = 0; ok && i < to->n_subs; i++)
        to->subs[i].stmt_ticks = 0;
    free(list);
    return ok;
}

/* ---- tree -------------------------------------------------------------------------------- */

struct sibling {
    struct nytp_node node;
    uint32_t index;
};

static int by_call(const void *x, const void *y)
{
    const struct sibling *a = x, *b = y;
    NYTP_RETURN_ORDER(a->node.sub, b->node.sub);
    NYTP_RETURN_ORDER(a->node.file, b->node.file);
    NYTP_RETURN_ORDER(a->node.line, b->node.line);
    return a->index < b->index ? -1 : a->index > b->index;
}

/* New file numbers can change the order of siblings and lines. */
static bool sort_again(struct nytp_profile *to)
{
    struct sibling *list = malloc(((size_t)to->n_children + 1) * sizeof *list);
    if (list == NULL)
        return false;
    for (uint32_t i = 0; i < to->n_nodes; i++) {
        struct nytp_node *n = &to->nodes[i];
        uint32_t *children = to->children + n->first_child;
        for (uint32_t c = 0; c < n->n_children; c++)
            list[c] = (struct sibling){to->nodes[children[c]], children[c]};
        qsort(list, n->n_children, sizeof *list, by_call);
        for (uint32_t c = 0; c < n->n_children; c++)
            children[c] = list[c].index;
        /* lines of two files that became one can be equal */
        n->n_node_lines = nytp_node_lines_merge(to, to->node_lines + n->first_node_line,
                                                n->n_node_lines, n->first_node_line) -
                          n->first_node_line;
    }
    free(list);
    return true;
}

/* ---- tables ------------------------------------------------------------------------------ */

/* Tables of which the result has all rows, one input after another. A row is copied as it is,
 * then gets its new indices and common ticks. */
#define FOR_EACH_TABLE(DO)                                                                     \
    DO(nodes) DO(children) DO(node_lines) DO(spans) DO(stretches) DO(memory_points) DO(arcs)   \
    DO(processes) DO(recordings) DO(blocks) DO(regexes) DO(waited)

/* An input whose rows are the last of each table. */
struct appended {
    const struct nytp_profile *before; /* the lengths of the tables before them */
    const uint32_t *files, *subs;      /* its index -> new */
    int64_t scale;                     /* common ticks in a tick of it */
};

static bool reserve_tables(struct merging *f)
{
    struct nytp_profile *to = f->to;
    uint64_t n;
#define RESERVE(table)                                                                         \
    n = 1;                                                                                     \
    for (uint32_t i = 0; i < f->n_from; i++)                                                   \
        n += f->from[i]->n_##table;                                                            \
    if (n > UINT32_MAX || (to->table = malloc(n * sizeof *to->table)) == NULL)                 \
        return false;
    FOR_EACH_TABLE(RESERVE)
#undef RESERVE
    return true;
}

/* Moves the rows of an input behind those before. Each table of it is freed at once: many inputs
 * and their sum need too much memory. */
static void append_tables(struct nytp_profile *to, struct nytp_profile *from)
{
#define APPEND(table)                                                                          \
    if (from->n_##table > 0)                                                                   \
        memcpy(to->table + to->n_##table, from->table, from->n_##table * sizeof *to->table);   \
    to->n_##table += from->n_##table;                                                          \
    from->n_##table = 0;                                                                       \
    free(from->table);                                                                         \
    from->table = NULL;
    FOR_EACH_TABLE(APPEND)
#undef APPEND
}

static void renumber_nodes(struct nytp_profile *to, const struct appended *in)
{
    for (uint32_t i = in->before->n_nodes; i < to->n_nodes; i++) {
        struct nytp_node *n = &to->nodes[i];
        n->parent += in->before->n_nodes;
        n->sub = in->subs[n->sub];
        n->file = in->files[n->file];
        n->excl_ticks *= in->scale;
        n->incl_ticks *= in->scale;
        n->first_child += in->before->n_children;
        n->first_node_line += in->before->n_node_lines;
    }
    for (uint32_t i = in->before->n_children; i < to->n_children; i++)
        to->children[i] += in->before->n_nodes;
    for (uint32_t i = in->before->n_node_lines; i < to->n_node_lines; i++) {
        to->node_lines[i].file = in->files[to->node_lines[i].file];
        to->node_lines[i].ticks *= in->scale;
        to->node_lines[i].cpu_ticks *= in->scale;
    }
    for (uint32_t i = in->before->n_spans; i < to->n_spans; i++) {
        to->spans[i].node += in->before->n_nodes;
        to->spans[i].start_ticks *= in->scale;
        to->spans[i].end_ticks *= in->scale;
    }
}

static void renumber_arcs(struct nytp_profile *to, const struct appended *in)
{
    for (uint32_t i = in->before->n_arcs; i < to->n_arcs; i++) {
        struct nytp_arc *a = &to->arcs[i];
        a->caller = in->subs[a->caller];
        a->callee = in->subs[a->callee];
        a->file = in->files[a->file];
        a->recording += in->before->n_recordings;
        a->incl_ticks *= in->scale;
        a->excl_ticks *= in->scale;
        a->reci_ticks = scaled_or_largest(a->reci_ticks, in->scale);
    }
}

static void renumber_processes(struct merging *f, const struct appended *in)
{
    struct nytp_profile *to = f->to;
    for (uint32_t i = in->before->n_processes; i < to->n_processes; i++) {
        struct nytp_process *p = &to->processes[i];
        p->recording += in->before->n_recordings;
        p->root += in->before->n_nodes;
        p->labels = keep_name(f, p->labels);
        p->stmt_ticks *= in->scale;
        p->recording_ticks *= in->scale;
        p->cpu_ticks *= in->scale;
        p->processor_ticks *= in->scale;
        p->peak_ticks *= in->scale;
    }
    for (uint32_t i = in->before->n_stretches; i < to->n_stretches; i++) {
        struct nytp_stretch *s = &to->stretches[i];
        s->process += in->before->n_processes;
        s->key = keep_name(f, s->key);
        s->value = keep_name(f, s->value);
        s->start_ticks *= in->scale;
        s->end_ticks *= in->scale;
    }
    for (uint32_t i = in->before->n_memory_points; i < to->n_memory_points; i++) {
        to->memory_points[i].process += in->before->n_processes;
        to->memory_points[i].at_ticks *= in->scale;
    }
}

static void renumber_recordings(struct merging *f, const struct appended *in)
{
    for (uint32_t i = in->before->n_recordings; i < f->to->n_recordings; i++) {
        struct nytp_recording *recording = &f->to->recordings[i];
        recording->path = keep_name(f, recording->path);
        recording->application = keep_name(f, recording->application);
        recording->perl_version = keep_name(f, recording->perl_version);
        recording->xs_version = keep_name(f, recording->xs_version);
        recording->host = keep_name(f, recording->host);
        recording->first_process += in->before->n_processes;
        recording->script = in->files[recording->script];
        recording->pruned_span_ticks =
            scaled_or_largest(recording->pruned_span_ticks, in->scale);
    }
}

/* Equal blocks, regexes and waits stay separate. */
static bool renumber_facts(struct merging *f, const struct appended *in)
{
    struct nytp_profile *to = f->to;
    for (uint32_t i = in->before->n_blocks; i < to->n_blocks; i++) {
        to->blocks[i].file = in->files[to->blocks[i].file];
        to->blocks[i].ticks = scaled_or_largest(to->blocks[i].ticks, in->scale);
    }
    for (uint32_t i = in->before->n_regexes; i < to->n_regexes; i++) {
        struct nytp_regex *regex = &to->regexes[i];
        const size_t size = NYTP_REGEX_SIZES * sizeof *regex->sizes;
        struct nytp_regex_size *const sizes = nytp_arena_alloc(to->arena, size);
        if (sizes == NULL)
            return false;
        regex->sizes = memcpy(sizes, regex->sizes, size);
        regex->pattern = keep_name(f, regex->pattern);
        regex->file = in->files[regex->file];
        regex->process += in->before->n_processes;
    }
    for (uint32_t i = in->before->n_waited; i < to->n_waited; i++) {
        struct nytp_waited *waited = &to->waited[i];
        waited->peer = keep_name(f, waited->peer);
        waited->file = in->files[waited->file];
        waited->process += in->before->n_processes;
    }
    return true;
}

/* For the nodes that come next. */
static bool add_svs(struct merging *f, uint32_t input)
{
    const struct nytp_profile *from = f->from[input];
    for (uint32_t i = 0; i < from->n_nodes && from->node_line_svs != NULL; i++) {
        const uint32_t first = from->nodes[i].first_node_line;
        for (uint32_t l = first; l < first + from->nodes[i].n_node_lines; l++)
            if (!nytp_svs_rows_add(
                    &f->svs, (struct nytp_svs_row){f->to->n_nodes + i,
                                                   f->file_map[input][from->node_lines[l].file],
                                                   from->node_lines[l].line,
                                                   from->node_line_svs[l]}))
                return false;
    }
    return true;
}

static bool add_input(struct merging *f, uint32_t input, int64_t scale)
{
    struct nytp_profile *const from = f->from[input];
    const struct nytp_profile before = *f->to;
    const struct appended in = {&before, f->file_map[input], f->sub_map[input], scale};
    if (!add_svs(f, input))
        return false;
    append_tables(f->to, from);
    renumber_nodes(f->to, &in);
    renumber_arcs(f->to, &in);
    renumber_processes(f, &in);
    renumber_recordings(f, &in);
    for (uint32_t i = 0; i < from->n_subs; i++)
        f->to->subs[in.subs[i]].stmt_ticks += from->subs[i].stmt_ticks * scale;
    free(from->line_costs);
    free(from->node_line_svs);
    from->line_costs = NULL;
    from->node_line_svs = NULL;
    return renumber_facts(f, &in);
}

static void add_totals(struct nytp_profile *to, const struct nytp_profile *from, int64_t scale)
{
    to->has |= from->has;
    to->partial |= from->partial;
    to->lost |= from->lost;
    to->estimated_tree |= from->estimated_tree;
    to->sampled |= from->sampled;
    to->total.ticks += from->total.ticks * scale;
    to->total.statements += from->total.statements;
    to->faults.negative_times += from->faults.negative_times;
    to->faults.wrapped_statements += from->faults.wrapped_statements;
    to->faults.unreturned_frames += from->faults.unreturned_frames;
}

static bool merge_tables(struct merging *f)
{
    struct nytp_profile *to = f->to;
    if (!reserve_tables(f))
        return false;
    for (uint32_t i = 0; i < f->n_from; i++) {
        const int64_t scale = to->ticks_per_sec / f->from[i]->ticks_per_sec;
        add_totals(to, f->from[i], scale);
        if (!add_input(f, i, scale))
            return false;
    }
    qsort(to->blocks, to->n_blocks, sizeof *to->blocks, nytp_compare_blocks);
    return sort_again(to) && nytp_svs_place(to, &f->svs);
}

/* Returns an attribute of the first input. A count is summed over all inputs. */
static struct nytp_name merge_attribute(struct merging *f, const struct nytp_pair *first)
{
    char digits[24];
    uint64_t sum = 0;
    if (!nytp_attribute_is_count(first->key.ptr, first->key.len))
        return keep_name(f, first->value);
    for (uint32_t i = 0; i < f->n_from; i++) {
        const struct nytp_name *const value =
            nytp_profile_attribute(f->from[i], first->key.ptr);
        sum += value == NULL ? 0 : strtoull(value->ptr, NULL, 10);
    }
    const int len = snprintf(digits, sizeof digits, "%" PRIu64, sum);
    return keep_name(f, (struct nytp_name){digits, (uint32_t)len});
}

static bool merge_pairs(struct merging *f)
{
    const struct nytp_profile *from = f->from[0];
    struct nytp_profile *to = f->to;
    to->attributes = malloc((from->n_attributes + 1) * sizeof *to->attributes);
    to->options = malloc((from->n_options + 1) * sizeof *to->options);
    if (to->attributes == NULL || to->options == NULL)
        return false;
    for (uint32_t i = 0; i < from->n_attributes; i++)
        to->attributes[to->n_attributes++] = (struct nytp_pair){
            keep_name(f, from->attributes[i].key), merge_attribute(f, &from->attributes[i])};
    for (uint32_t i = 0; i < from->n_options; i++)
        to->options[to->n_options++] = (struct nytp_pair){keep_name(f, from->options[i].key),
                                                          keep_name(f, from->options[i].value)};
    return true;
}

static bool merge_all(struct merging *f, struct nytp_error *error)
{
    f->file_map = calloc(f->n_from, sizeof *f->file_map);
    f->sub_map = calloc(f->n_from, sizeof *f->sub_map);
    f->to->strings = nytp_strings_new();
    f->to->arena = nytp_arena_new();
    if (!common_ticks(f, error))
        return false;
    const bool ok = f->file_map != NULL && f->sub_map != NULL && f->to->strings != NULL &&
                    f->to->arena != NULL && merge_files(f) && merge_subs(f) &&
                    merge_sources(f) && merge_pairs(f) && merge_tables(f);
    if (ok)
        nytp_profile_sum_arcs(f->to);
    return (ok && (f->purpose == NYTP_MERGE_TO_COMPARE || nytp_in_use_count_once(f->to)) &&
            nytp_profile_make_line_costs(f->to)) ||
           nytp_out_of_memory(error);
}

struct nytp_profile *nytp_profiles_merge(struct nytp_profile **profiles, uint32_t n_profiles,
                                         enum nytp_merge_purpose purpose,
                                         struct nytp_error *error)
{
    if (n_profiles == 1)
        return profiles[0];
    struct merging f = {.to = calloc(1, sizeof *f.to),
                        .from = profiles,
                        .n_from = n_profiles,
                        .purpose = purpose};
    bool ok = f.to != NULL;
    if (!ok)
        nytp_out_of_memory(error);
    else
        ok = merge_all(&f, error);
    for (uint32_t i = 0; i < n_profiles; i++) {
        nytp_profile_free(profiles[i]);
        if (f.file_map != NULL)
            free(f.file_map[i]);
        if (f.sub_map != NULL)
            free(f.sub_map[i]);
    }
    free(f.file_map);
    free(f.sub_map);
    free(f.svs.rows);
    if (ok)
        return f.to;
    nytp_profile_free(f.to);
    return NULL;
}
