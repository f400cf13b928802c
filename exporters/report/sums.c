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
    return sub != NONE ? nytp_report_merged_sub(report, sub) : NONE;
}

/* ---- sorted indices ---- */

static int compare_keys(const void *left, const void *right)
{
    const struct nytp_report_key *a = left, *b = right;
    NYTP_RETURN_ORDER(a->file, b->file);
    NYTP_RETURN_ORDER(a->line, b->line);
    NYTP_RETURN_ORDER(b->time, a->time);
    const bool are_named = a->name.len > 0 || b->name.len > 0;
    const int order = are_named ? nytp_compare_names(a->name, b->name) : 0;
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

struct nytp_report_key *nytp_report_keys(uint32_t n)
{
    return calloc((size_t)n + 1, sizeof(struct nytp_report_key));
}

uint32_t *nytp_report_sorted(struct nytp_report_key *keys, uint32_t n)
{
    uint32_t *index = keys != NULL ? malloc(((size_t)n + 1) * sizeof *index) : NULL;
    if (index != NULL) {
        qsort(keys, n, sizeof *keys, compare_keys);
        for (uint32_t i = 0; i < n; i++)
            index[i] = keys[i].index;
    }
    free(keys);
    return index;
}

uint32_t nytp_report_line_of(const struct nytp_report *report, enum nytp_report_list list,
                             uint32_t index)
{
    const struct nytp_profile *const profile = report->profile;
    switch (list) {
    case NYTP_REPORT_TEXTS:
        return profile->sources[index].line;
    case NYTP_REPORT_ROWS:
        return report->lines.rows[index].line;
    case NYTP_REPORT_CALLS:
        return report->calls[index].line;
    case NYTP_REPORT_EVALS:
        return profile->files[report->evals_by_place[index]].eval_line;
    default:
        break;
    }
    const uint32_t sub = report->subs_by_file[index];
    return nytp_report_is_foreign(report, sub) ? NONE : profile->subs[sub].first_line;
}

/* Lists are indexed from the last element to the first. */
static void add_first(struct nytp_slice *slice, uint32_t index)
{
    slice->first = index;
    slice->n++;
}

static bool index_subs_by_time(struct nytp_report *report)
{
    struct nytp_report_key *keys = nytp_report_keys(report->profile->n_subs);
    uint32_t n = 0;
    for (uint32_t s = 0; keys != NULL && s < report->profile->n_subs; s++)
        if (nytp_report_has_sub(report, s) && nytp_report_sub_ran(report, s))
            keys[n++] = (struct nytp_report_key){
                .time = report->subs[s].excl_ticks,
                .name = nytp_report_sub_name(report, s),
                .index = s,
            };
    report->n_called = n;
    report->subs_by_time = nytp_report_sorted(keys, n);
    return report->subs_by_time != NULL;
}

static bool index_subs_by_file(struct nytp_report *report)
{
    const struct nytp_profile *profile = report->profile;
    struct nytp_report_key *keys = nytp_report_keys(profile->n_subs);
    uint32_t n = 0;
    for (uint32_t s = 0; keys != NULL && s < profile->n_subs; s++)
        if (nytp_report_has_sub(report, s) && report->subs[s].file != NONE)
            keys[n++] = (struct nytp_report_key){
                .file = report->subs[s].file,
                .line = nytp_report_is_foreign(report, s) ? NONE : profile->subs[s].first_line,
                .name = nytp_report_sub_name(report, s),
                .index = s,
            };
    report->subs_by_file = nytp_report_sorted(keys, n);
    for (uint32_t i = n; report->subs_by_file != NULL && i-- > 0;) {
        const uint32_t file = report->subs[report->subs_by_file[i]].file;
        add_first(&report->files[file].of[NYTP_REPORT_SUBS], i);
    }
    return report->subs_by_file != NULL;
}

/* Sorts the string evals by the line that ran them, then by time or as recorded. */
static uint32_t *sorted_evals(struct nytp_report *report, bool by_time, uint32_t *n)
{
    const struct nytp_profile *profile = report->profile;
    struct nytp_report_key *keys = nytp_report_keys(profile->n_files);
    *n = 0;
    for (uint32_t f = 1; keys != NULL && f < profile->n_files; f++) {
        if (!nytp_report_is_eval(report, f) || report->files[f].merged_into != NONE)
            continue;
        keys[(*n)++] = (struct nytp_report_key){
            .file = nytp_report_merged(report, profile->files[f].eval_file),
            .line = profile->files[f].eval_line,
            .time = by_time ? report->files[f].all_ticks : 0,
            .index = f,
        };
    }
    return nytp_report_sorted(keys, *n);
}

static bool index_evals(struct nytp_report *report)
{
    uint32_t n;
    report->evals_by_place = sorted_evals(report, true, &n);
    for (uint32_t i = n; report->evals_by_place != NULL && i-- > 0;) {
        const uint32_t ran = report->profile->files[report->evals_by_place[i]].eval_file;
        add_first(&report->files[nytp_report_merged(report, ran)].of[NYTP_REPORT_EVALS], i);
    }
    return report->evals_by_place != NULL;
}

static bool ran_at_one_place(const struct nytp_report *report, uint32_t a, uint32_t b)
{
    const struct nytp_file *files = report->profile->files;
    return files[a].eval_line == files[b].eval_line &&
           nytp_report_merged(report, files[a].eval_file) ==
               nytp_report_merged(report, files[b].eval_file);
}

static bool index_siblings(struct nytp_report *report)
{
    uint32_t n;
    const uint32_t *siblings = report->siblings = sorted_evals(report, false, &n);
    for (uint32_t first = 0, end; siblings != NULL && first < n; first = end) {
        for (end = first + 1;
             end < n && ran_at_one_place(report, siblings[first], siblings[end]);)
            end++;
        for (uint32_t i = first; i < end; i++) {
            struct nytp_report_file *file = &report->files[siblings[i]];
            file->siblings = (struct nytp_slice){first, end - first};
            file->sibling = i - first;
        }
    }
    return siblings != NULL;
}

bool nytp_report_index_files(struct nytp_report *report)
{
    struct nytp_report_key *keys = nytp_report_keys(report->profile->n_files);
    uint32_t n = 0;
    for (uint32_t f = 0; keys != NULL && f < report->profile->n_files; f++) {
        report->files[f].place = NONE;
        if (!nytp_report_is_eval(report, f) && report->files[f].stem != NULL)
            keys[n++] = (struct nytp_report_key){
                .time = report->files[f].all_ticks,
                .name = nytp_report_file_name(report, f),
                .index = f,
            };
    }
    report->n_ranked = n;
    report->files_by_time = nytp_report_sorted(keys, n);
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
        arcs[(*n)++] = (struct arc){
            .file = nytp_report_merged(report, arc->file),
            .line = arc->line,
            .sub = nytp_report_merged_sub(report, arc->callee),
            .caller = nytp_report_merged_sub(report, arc->caller),
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
    for (uint32_t i = report->n_calls; ok && i-- > 0;)
        add_first(&report->files[report->calls[i].file].of[NYTP_REPORT_CALLS], i);
    return ok;
}

static bool index_calls(struct nytp_report *report)
{
    struct nytp_report_key *keys = nytp_report_keys(report->n_calls);
    uint32_t *seen = calloc(report->profile->n_files, sizeof *seen); /* sub + 1, by file */
    for (uint32_t c = 0; keys != NULL && c < report->n_calls; c++)
        keys[c] = (struct nytp_report_key){
            .file = report->calls[c].sub, .time = time_of(&report->calls[c]), .index = c};
    report->calls_by_sub = nytp_report_sorted(keys, report->n_calls);
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
        add_first(&file->of[NYTP_REPORT_ROWS], i);
        file->stmts += row->statements;
        file->ticks += row->self_ticks;
        if (row->self_ticks > report->hottest_ticks)
            report->hottest_ticks = row->self_ticks;
    }
    return true;
}

static void index_blocks(struct nytp_report *report)
{
    for (uint32_t i = report->profile->n_blocks; i-- > 0;)
        add_first(&report->files[report->profile->blocks[i].file].blocks, i);
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

/* Finds the number of lines of a page. A damaged profile may have text for line 0. */
static void count_lines(struct nytp_report *report, uint32_t f)
{
    struct nytp_report_file *mine = &report->files[f];
    const struct nytp_file *file = &report->profile->files[f];
    uint32_t last = 0; /* line with any information */
    mine->of[NYTP_REPORT_TEXTS] = (struct nytp_slice){file->first_source, file->n_sources};
    for (enum nytp_report_list list = 0; list < NYTP_REPORT_LISTS; list++) {
        const uint32_t first = mine->of[list].first;
        uint32_t end = first + mine->of[list].n;
        while (end > first && nytp_report_line_of(report, list, end - 1) == NONE)
            end--;
        if (end == first)
            continue;
        const uint32_t to = nytp_report_line_of(report, list, end - 1);
        last = to > last ? to : last;
        mine->has_line_0 |=
            list != NYTP_REPORT_TEXTS && nytp_report_line_of(report, list, first) == 0;
    }
    for (uint32_t i = 0; i < mine->blocks.n; i++) {
        const struct nytp_block *block = &report->profile->blocks[mine->blocks.first + i];
        last = block->block_line > last ? block->block_line : last;
        last = block->sub_line > last ? block->sub_line : last;
        mine->has_line_0 |= block->block_line == 0 || block->sub_line == 0;
    }
    mine->n_lines = last + 1;
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
    if (!report->options->report.no_merge_evals &&
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
