/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Sums and orders that are computed before the first page is written. See report.h. Sorted
 * indices are arrays of 32 bit numbers into the model's arrays, or the report's. qsort()
 * passes no context, so sort keys are first copied beside each index.
 */
#include "report.h"
#include "flame_tree.h"

#include "exporters/base/waits.h"
#include "exporters/stacks/samples.h"

#include "formats/base/table.h"
#include "formats/model/profile.h"

#include <stdlib.h>
#include <string.h>

#define NONE NYTP_REPORT_NONE

bool nytp_report_is_foreign(const struct nytp_report *report, uint32_t sub)
{
    return report->profile->subs[sub].first_line == 0;
}

bool nytp_report_has_sub(const struct nytp_report *report, uint32_t sub)
{
    return report->subs[sub].merged_into == NONE && !report->subs[sub].gone;
}

bool nytp_report_sub_ran(const struct nytp_report *report, uint32_t sub)
{
    const struct nytp_report_sub *s = &report->subs[sub];
    return s->calls > 0 || s->excl_ticks != 0 || s->incl_ticks != 0;
}

uint32_t nytp_report_sub_named(const struct nytp_report *report, struct nytp_name name)
{
    const uint32_t sub = nytp_flame_sub_of_name(report->profile, name);
    return sub != NONE && report->subs[sub].merged_into != NONE ? report->subs[sub].merged_into
                                                                : sub;
}

/* ---- sorted indices ---- */

struct sort_entry {
    uint32_t file, line;
    int64_t time;
    struct nytp_name name;
    uint32_t index;
};

/* By file, line, time descending, name, index. */
static int compare_entries(const void *left, const void *right)
{
    const struct sort_entry *a = left, *b = right;
    NYTP_RETURN_ORDER(a->file, b->file);
    NYTP_RETURN_ORDER(a->line, b->line);
    NYTP_RETURN_ORDER(b->time, a->time);
    const int order = nytp_compare_names(a->name, b->name);
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

/* Returns a new index in that order, or NULL if memory is out. Frees `entries`. */
static uint32_t *sorted_index(struct sort_entry *entries, uint32_t n)
{
    uint32_t *index = entries != NULL ? malloc(((size_t)n + 1) * sizeof *index) : NULL;
    if (index != NULL) {
        qsort(entries, n, sizeof *entries, compare_entries);
        for (uint32_t i = 0; i < n; i++)
            index[i] = entries[i].index;
    }
    free(entries);
    return index;
}

static struct sort_entry *entries_for(uint32_t n)
{
    return malloc(((size_t)n + 1) * sizeof(struct sort_entry));
}

static bool index_subs_by_time(struct nytp_report *report)
{
    struct sort_entry *entries = entries_for(report->profile->n_subs);
    uint32_t n = 0;
    for (uint32_t s = 0; entries != NULL && s < report->profile->n_subs; s++)
        if (nytp_report_has_sub(report, s) && nytp_report_sub_ran(report, s))
            entries[n++] = (struct sort_entry){
                .time = report->subs[s].excl_ticks,
                .name = nytp_report_sub_name(report, s),
                .index = s,
            };
    report->n_called = n;
    report->subs_by_time = sorted_index(entries, n);
    return report->subs_by_time != NULL;
}

static bool index_subs_by_file(struct nytp_report *report)
{
    const struct nytp_profile *profile = report->profile;
    struct sort_entry *entries = entries_for(profile->n_subs);
    uint32_t n = 0;
    for (uint32_t s = 0; entries != NULL && s < profile->n_subs; s++)
        if (nytp_report_has_sub(report, s) && report->subs[s].file != NONE)
            entries[n++] = (struct sort_entry){
                .file = report->subs[s].file,
                .line = nytp_report_is_foreign(report, s) ? NONE : profile->subs[s].first_line,
                .name = nytp_report_sub_name(report, s),
                .index = s,
            };
    report->n_subs = n;
    report->subs_by_file = sorted_index(entries, n);
    for (uint32_t i = n; report->subs_by_file != NULL && i-- > 0;) {
        struct nytp_report_file *file =
            &report->files[report->subs[report->subs_by_file[i]].file];
        file->first_sub = i;
        file->n_subs++;
    }
    return report->subs_by_file != NULL;
}

/* Sorts all string evals by the line that ran them, and sets each file's range of evals. */
static bool index_evals(struct nytp_report *report)
{
    const struct nytp_profile *profile = report->profile;
    struct sort_entry *entries = entries_for(profile->n_files);
    uint32_t n = 0;
    for (uint32_t f = 1; entries != NULL && f < profile->n_files; f++) {
        if (!nytp_report_is_eval(report, f) || report->files[f].merged_into != NONE)
            continue;
        entries[n++] = (struct sort_entry){
            .file = nytp_report_merged(report, profile->files[f].eval_file),
            .line = profile->files[f].eval_line,
            .time = report->files[f].all_ticks,
            .name = {"", 0},
            .index = f,
        };
    }
    report->n_evals = n;
    report->evals_by_place = sorted_index(entries, n);
    for (uint32_t i = n; report->evals_by_place != NULL && i-- > 0;) {
        const uint32_t ran = profile->files[report->evals_by_place[i]].eval_file;
        struct nytp_report_file *file = &report->files[nytp_report_merged(report, ran)];
        file->first_eval = i;
        file->n_evals++;
    }
    return report->evals_by_place != NULL;
}

static int compare_indexes(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static bool ran_at_one_place(const struct nytp_report *report, uint32_t a, uint32_t b)
{
    const struct nytp_file *files = report->profile->files;
    return files[a].eval_line == files[b].eval_line &&
           nytp_report_merged(report, files[a].eval_file) ==
               nytp_report_merged(report, files[b].eval_file);
}

/* Sorts the string evals of each line by index. Needs evals_by_place. */
static bool index_siblings(struct nytp_report *report)
{
    const uint32_t n = report->n_evals;
    uint32_t *siblings = report->siblings = malloc(((size_t)n + 1) * sizeof *siblings);
    if (siblings == NULL)
        return false;
    memcpy(siblings, report->evals_by_place, n * sizeof *siblings);
    for (uint32_t first = 0, end; first < n; first = end) {
        for (end = first + 1;
             end < n && ran_at_one_place(report, siblings[first], siblings[end]);)
            end++;
        qsort(siblings + first, end - first, sizeof *siblings, compare_indexes);
        for (uint32_t i = first; i < end; i++) {
            struct nytp_report_file *file = &report->files[siblings[i]];
            file->first_sibling = first;
            file->n_siblings = end - first;
            file->sibling = i - first;
        }
    }
    return true;
}

bool nytp_report_index_files(struct nytp_report *report)
{
    struct sort_entry *entries = entries_for(report->profile->n_files);
    uint32_t n = 0;
    for (uint32_t f = 0; entries != NULL && f < report->profile->n_files; f++) {
        report->files[f].place = NONE;
        if (!nytp_report_is_eval(report, f) && report->files[f].stem != NULL)
            entries[n++] = (struct sort_entry){
                .time = report->files[f].all_ticks,
                .name = nytp_report_file_name(report, f),
                .index = f,
            };
    }
    report->n_ranked = n;
    report->files_by_time = sorted_index(entries, n);
    for (uint32_t i = 0; report->files_by_time != NULL && i < n; i++)
        report->files[report->files_by_time[i]].place = i;
    return report->files_by_time != NULL;
}

/* ---- calls ---- */

struct arc {
    uint32_t file, line, sub, caller; /* as they are shown */
    const struct nytp_arc *arc;
};

/* By file, line, sub, caller. */
static int compare_arcs(const void *left, const void *right)
{
    const struct arc *a = left, *b = right;
    NYTP_RETURN_ORDER(a->file, b->file);
    NYTP_RETURN_ORDER(a->line, b->line);
    NYTP_RETURN_ORDER(a->sub, b->sub);
    return (a->caller > b->caller) - (a->caller < b->caller);
}

static int64_t time_of(const struct nytp_report_call *call)
{
    return nytp_ticks_sum(call->incl_ticks, call->reci_ticks);
}

/* By file, line, inclusive time descending. */
static int compare_calls(const void *left, const void *right)
{
    const struct nytp_report_call *a = left, *b = right;
    NYTP_RETURN_ORDER(a->file, b->file);
    NYTP_RETURN_ORDER(a->line, b->line);
    NYTP_RETURN_ORDER(time_of(b), time_of(a));
    return (a->sub > b->sub) - (a->sub < b->sub);
}

static struct arc *sorted_arcs(const struct nytp_report *report, uint32_t *n)
{
    const struct nytp_profile *profile = report->profile;
    struct arc *arcs = malloc(((size_t)profile->n_arcs + 1) * sizeof *arcs);
    *n = 0;
    for (uint32_t i = 0; arcs != NULL && i < profile->n_arcs; i++) {
        const struct nytp_arc *arc = &profile->arcs[i];
        if (arc->calls == 0 && arc->incl_ticks == 0 && arc->reci_ticks == 0)
            continue;
        const uint32_t callee = report->subs[arc->callee].merged_into;
        const uint32_t caller = report->subs[arc->caller].merged_into;
        arcs[(*n)++] = (struct arc){
            .file = nytp_report_merged(report, arc->file),
            .line = arc->line,
            .sub = callee != NONE ? callee : arc->callee,
            .caller = caller != NONE ? caller : arc->caller,
            .arc = arc,
        };
    }
    if (arcs != NULL)
        qsort(arcs, *n, sizeof *arcs, compare_arcs);
    return arcs;
}

static void add_arc(struct nytp_report_call *call, const struct nytp_arc *arc)
{
    call->calls += arc->calls;
    call->excl_ticks += arc->excl_ticks;
    call->incl_ticks = nytp_ticks_sum(call->incl_ticks, arc->incl_ticks);
    call->reci_ticks = nytp_ticks_sum(call->reci_ticks, arc->reci_ticks);
    if (arc->rec_depth > call->rec_depth)
        call->rec_depth = arc->rec_depth;
}

/* Makes one call of all arcs from one line to one sub, and lists their callers. */
static bool make_calls(struct nytp_report *report)
{
    uint32_t n, n_callers = 0;
    struct arc *arcs = sorted_arcs(report, &n);
    report->calls = malloc(((size_t)n + 1) * sizeof *report->calls);
    report->callers = malloc(((size_t)n + 1) * sizeof *report->callers);
    const bool ok = arcs != NULL && report->calls != NULL && report->callers != NULL;
    for (uint32_t i = 0; ok && i < n; i++) {
        const struct arc *arc = &arcs[i], *before = i > 0 ? arc - 1 : NULL;
        const bool joins = before != NULL && before->file == arc->file &&
                           before->line == arc->line && before->sub == arc->sub;
        if (!joins)
            report->calls[report->n_calls++] =
                (struct nytp_report_call){.sub = arc->sub,
                                          .file = arc->file,
                                          .line = arc->line,
                                          .first_caller = n_callers};
        struct nytp_report_call *call = &report->calls[report->n_calls - 1];
        if (!joins || before->caller != arc->caller) {
            report->callers[n_callers++] = arc->caller;
            call->n_callers++;
        }
        add_arc(call, arc->arc);
    }
    free(arcs);
    if (ok)
        qsort(report->calls, report->n_calls, sizeof *report->calls, compare_calls);
    for (uint32_t i = report->n_calls; ok && i-- > 0;) {
        report->files[report->calls[i].file].first_call = i;
        report->files[report->calls[i].file].n_calls++;
    }
    return ok;
}

static bool index_calls(struct nytp_report *report)
{
    struct sort_entry *entries = entries_for(report->n_calls);
    uint32_t *seen = calloc(report->profile->n_files, sizeof *seen); /* sub + 1, by file */
    for (uint32_t c = 0; entries != NULL && c < report->n_calls; c++)
        entries[c] = (struct sort_entry){.file = report->calls[c].sub,
                                         .time = time_of(&report->calls[c]),
                                         .name = {"", 0},
                                         .index = c};
    report->calls_by_sub = sorted_index(entries, report->n_calls);
    const bool ok = report->calls_by_sub != NULL && seen != NULL;
    for (uint32_t i = report->n_calls; ok && i-- > 0;) {
        const struct nytp_report_call *call = &report->calls[report->calls_by_sub[i]];
        struct nytp_report_sub *sub = &report->subs[call->sub];
        sub->first_call = i;
        sub->places++;
        sub->files += seen[call->file] != call->sub + 1;
        seen[call->file] = call->sub + 1;
    }
    free(seen);
    return ok;
}

/* ---- sums ---- */

/* Drops lines 0 with only builtins, which are counted where they are called. */
static void drop_empty(struct nytp_line_rows *lines)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < lines->n; i++)
        if (lines->rows[i].line > 0 || lines->rows[i].self_ticks != 0 ||
            lines->rows[i].statements > 0)
            lines->rows[n++] = lines->rows[i];
    lines->n = n;
}

/* The lines of merged evals belong to the eval that shows them. */
static bool make_lines(struct nytp_report *report)
{
    struct nytp_line_rows *lines = &report->lines;
    *lines = nytp_lines_of_all(report->profile);
    if (lines->rows == NULL)
        return false;
    for (uint32_t i = 0; i < lines->n; i++)
        lines->rows[i].file = nytp_report_merged(report, lines->rows[i].file);
    nytp_lines_sum(lines);
    drop_empty(lines);
    for (uint32_t i = lines->n; i-- > 0;) {
        const struct nytp_line_row *row = &lines->rows[i];
        struct nytp_report_file *file = &report->files[row->file];
        file->first_line = i;
        file->n_rows++;
        file->stmts += row->statements;
        file->ticks += row->self_ticks;
        if (row->self_ticks > report->hottest_ticks)
            report->hottest_ticks = row->self_ticks;
    }
    return true;
}

static void index_blocks(struct nytp_report *report)
{
    for (uint32_t i = report->profile->n_blocks; i-- > 0;) {
        struct nytp_report_file *file = &report->files[report->profile->blocks[i].file];
        file->first_block = i;
        file->n_blocks++;
    }
}

/* An eval's time counts for the file that ran it, and so on outwards. A merged eval's time is
 * already in the eval that shows it, but it is counted as an eval. */
static void add_to_outer(struct nytp_report *report, uint32_t f)
{
    const struct nytp_report_file *mine = &report->files[f];
    if (!nytp_report_is_eval(report, f))
        return;
    struct nytp_report_file *outer = &report->files[report->profile->files[f].eval_file];
    outer->n_direct++;
    outer->n_nested += mine->n_direct + mine->n_nested;
    outer->n_defined += mine->n_defined;
    outer->defined_calls += mine->defined_calls;
    outer->defined_ticks += mine->defined_ticks;
    outer->all_stmts += mine->all_stmts;
    outer->all_ticks += mine->all_ticks;
}

static void sum_defined_subs(struct nytp_report *report)
{
    for (uint32_t s = 0; s < report->profile->n_subs; s++) {
        const struct nytp_report_sub *sub = &report->subs[s];
        if (sub->file == NONE || !nytp_report_has_sub(report, s) ||
            nytp_report_is_foreign(report, s))
            continue;
        struct nytp_report_file *file = &report->files[sub->file];
        file->n_defined++;
        file->defined_calls += sub->calls;
        file->defined_ticks += sub->excl_ticks;
    }
}

/* Sums up evals from the innermost outwards: each is added after all evals inside it. */
static bool sum_evals(struct nytp_report *report)
{
    const struct nytp_profile *profile = report->profile;
    uint32_t *inside = calloc(profile->n_files, sizeof *inside); /* not added yet */
    if (inside == NULL)
        return false;
    for (uint32_t f = 0; f < profile->n_files; f++) {
        report->files[f].all_stmts = report->files[f].stmts;
        report->files[f].all_ticks = report->files[f].ticks;
        inside[profile->files[f].eval_file]++;
    }
    for (uint32_t f = 1; f < profile->n_files; f++)
        for (uint32_t at = f; at != 0 && inside[at] == 0; at = profile->files[at].eval_file) {
            add_to_outer(report, at);
            inside[at] = NONE; /* done */
            inside[profile->files[at].eval_file]--;
        }
    free(inside);
    return true;
}

/* Finds the number of lines of a page: source, statements, calls and definitions. */
static void count_lines(struct nytp_report *report, uint32_t f)
{
    const struct nytp_profile *profile = report->profile;
    const struct nytp_file *file = &profile->files[f];
    struct nytp_report_file *mine = &report->files[f];
    uint32_t last = 0, least = NONE; /* of lines with any information */
    if (mine->n_rows > 0) {
        last = report->lines.rows[mine->first_line + mine->n_rows - 1].line;
        least = report->lines.rows[mine->first_line].line;
    }
    if (mine->n_calls > 0) {
        const uint32_t from = report->calls[mine->first_call].line;
        const uint32_t to = report->calls[mine->first_call + mine->n_calls - 1].line;
        last = to > last ? to : last;
        least = from < least ? from : least;
    }
    if (mine->n_evals > 0) {
        const uint32_t *evals = report->evals_by_place + mine->first_eval;
        const uint32_t from = profile->files[evals[0]].eval_line;
        const uint32_t to = profile->files[evals[mine->n_evals - 1]].eval_line;
        last = to > last ? to : last;
        least = from < least ? from : least;
    }
    if (file->n_sources > 0) {
        const uint32_t to = profile->sources[file->first_source + file->n_sources - 1].line;
        last = to > last ? to : last;
    }
    for (uint32_t i = 0; i < mine->n_blocks; i++) {
        const struct nytp_block *block = &profile->blocks[mine->first_block + i];
        last = block->block_line > last ? block->block_line : last;
        last = block->sub_line > last ? block->sub_line : last;
        least = block->block_line == 0 || block->sub_line == 0 ? 0 : least;
    }
    for (uint32_t i = 0; i < mine->n_subs; i++) {
        const uint32_t line =
            profile->subs[report->subs_by_file[mine->first_sub + i]].first_line;
        last = line > last ? line : last;
    }
    mine->has_line_0 = least == 0;
    mine->n_lines = last < NONE ? last + 1 : NONE;
}

/* ---- the model as it is shown ---- */

/* Assigns the recording's file ids, except if several files have the same one: in several
 * inputs, or if a recording reused it. Returns false if memory is out. */
static bool number_files(struct nytp_report *report)
{
    const struct nytp_profile *profile = report->profile;
    struct nytp_table taken = {0};
    uint32_t highest = 0;
    bool ok = true;
    for (uint32_t f = 0; f < profile->n_files; f++)
        highest = profile->files[f].fid > highest ? profile->files[f].fid : highest;
    for (uint32_t f = 0; ok && f < profile->n_files; f++) {
        const struct nytp_key key = {.a = profile->files[f].fid};
        const bool is_taken = nytp_table_get(&taken, key) != NYTP_TABLE_NONE;
        report->files[f].merged_into = NONE;
        report->files[f].id = is_taken ? ++highest : key.a;
        ok = nytp_table_put(&taken, key, f);
    }
    nytp_table_free(&taken);
    return ok;
}

/* A sub of unknown file is shown with the first file, as in nytprofhtml. */
static uint32_t file_of_sub(const struct nytp_profile *profile, const struct nytp_sub *sub)
{
    if (sub->file != 0)
        return sub->file;
    const bool is_called = sub->kind == NYTP_SUB_RUNTIME || sub->kind == NYTP_SUB_UNRETURNED;
    return is_called || profile->n_files == 1 ? NONE : 1;
}

static void take_subs(struct nytp_report *report)
{
    const struct nytp_profile *profile = report->profile;
    for (uint32_t s = 0; s < profile->n_subs; s++) {
        const struct nytp_sub *sub = &profile->subs[s];
        report->subs[s] = (struct nytp_report_sub){
            .calls = sub->calls,
            .excl_ticks = sub->excl_ticks,
            .svs = sub->svs,
            .inuse_bytes = sub->bytes.of[NYTP_INUSE_SPACE],
            .incl_ticks = sub->incl_ticks,
            .reci_ticks = sub->reci_ticks,
            .rec_depth = sub->rec_depth,
            .merged_into = NONE,
            .file = file_of_sub(profile, sub),
        };
    }
}

/* Marks subs that only the base has: a comparison's profile has the names of both sides. */
static void mark_gone(struct nytp_report *report)
{
    const struct nytp_diff *diff = report->options->report.diff;
    for (uint32_t i = 0; diff != NULL && i < diff->n_rows; i++) {
        const uint32_t sub = diff->rows[i].status == NYTP_DIFF_GONE
                                 ? nytp_report_sub_named(report, diff->rows[i].name)
                                 : NONE;
        if (sub != NONE)
            report->subs[sub].gone = !nytp_report_sub_ran(report, sub);
    }
}

static bool find_waits(struct nytp_report *report)
{
    struct nytp_waits waits;
    struct nytp_error error = {0};
    if (nytp_waits_init(&waits, report->profile, report->options->waits, &error))
        report->waits = nytp_waits_subs(&waits, report->profile);
    report->wait_ticks = waits.ticks;
    nytp_waits_free(&waits);
    return report->waits != NULL;
}

bool nytp_report_sum_up(struct nytp_report *report)
{
    const struct nytp_profile *profile = report->profile;
    report->files = calloc(profile->n_files, sizeof *report->files);
    report->subs = calloc(profile->n_subs, sizeof *report->subs);
    if (report->files == NULL || report->subs == NULL || !number_files(report))
        return false;
    nytp_scale_init(&report->ns, nytp_unit_find("ns"), profile->ticks_per_sec);
    report->levels = profile->n_blocks > 0 && !report->options->report.minimal;
    take_subs(report);
    mark_gone(report);
    if (!report->options->no_merge_evals &&
        (!nytp_report_merge_evals(report) || !nytp_report_merge_subs(report)))
        return false;
    if (!make_lines(report))
        return false;
    index_blocks(report);
    sum_defined_subs(report);
    if (!sum_evals(report) || !make_calls(report) || !index_calls(report) ||
        !index_subs_by_time(report) || !index_subs_by_file(report) || !index_evals(report) ||
        !index_siblings(report))
        return false;
    for (uint32_t f = 0; f < profile->n_files; f++)
        count_lines(report, f);
    return find_waits(report) && (!nytp_is_of_samples(profile) ||
                                  (report->samples = nytp_samples_by_sub(profile)) != NULL);
}

void nytp_report_free_sums(struct nytp_report *report)
{
    for (uint32_t f = 0; report->files != NULL && f < report->profile->n_files; f++) {
        free(report->files[f].stem);
        free(report->files[f].shown);
    }
    free(report->files);
    free(report->subs);
    free(report->lines.rows);
    free(report->calls);
    free(report->callers);
    free(report->calls_by_sub);
    free(report->files_by_time);
    free(report->subs_by_time);
    free(report->subs_by_file);
    free(report->evals_by_place);
    free(report->siblings);
    free(report->changes);
    free(report->waits);
    free(report->samples);
}
