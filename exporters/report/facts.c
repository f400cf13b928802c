/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The HTML report: what is worked out before the first page is written. See report.h.
 *
 * The sorted indices are arrays of 32 bit numbers into the summary's arrays. qsort() passes no
 * context, so what it compares is copied beside each index first.
 */
#include "report.h"

#include "flame_picture.h"

#include <stdlib.h>
#include <string.h>

#define NONE NYTP_REPORT_NONE

struct nytp_str nytp_report_file_name(const struct nytp_report *report, uint32_t file)
{
    return nytp_summary_str(report->summary, report->summary->files[file].name);
}

struct nytp_str nytp_report_sub_name(const struct nytp_report *report, uint32_t sub)
{
    return nytp_summary_str(report->summary, report->summary->subs[sub].name);
}

/* What looks like a package inside "__ANON__[a::b.pl:3]" is none. */
uint32_t nytp_report_package_len(struct nytp_str name)
{
    return nytp_package_len((struct nytp_name){name.ptr, name.len});
}

bool nytp_report_is_opcode(const struct nytp_report *report, uint32_t sub)
{
    const struct nytp_str name = nytp_report_sub_name(report, sub);
    const uint32_t at = nytp_report_package_len(name);
    return name.len - at > 5 && memcmp(name.ptr + at, "CORE:", 5) == 0;
}

bool nytp_report_is_foreign(const struct nytp_report *report, uint32_t sub)
{
    const struct nytp_summary_sub *s = &report->summary->subs[sub];
    return s->first_line == 0;
}

bool nytp_report_has_sub(const struct nytp_report *report, uint32_t sub)
{
    return report->summary->subs[sub].merged_into == NYTP_SUMMARY_NONE;
}

double nytp_report_seconds(const struct nytp_report *report, int64_t ticks)
{
    return (double)ticks * report->tick_s;
}

/* ---- sorted indices ---- */

struct sort_entry {
    uint32_t file, line;
    double time;
    struct nytp_str name;
    uint32_t index;
};

/* By file, line, time falling, name, index. */
static int compare_entries(const void *left, const void *right)
{
    const struct sort_entry *a = left, *b = right;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->time != b->time)
        return a->time > b->time ? -1 : 1;
    const int order = nytp_compare_texts(a->name, b->name);
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

/* The index in that order, in new memory; takes `entries`. NULL when memory is out. */
static uint32_t *sorted_index(struct sort_entry *entries, uint32_t n)
{
    uint32_t *index = entries != NULL ? malloc((n + 1) * sizeof *index) : NULL;
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
    const struct nytp_summary *summary = report->summary;
    struct sort_entry *entries = entries_for(summary->n_subs);
    uint32_t n = 0;
    for (uint32_t s = 0; entries != NULL && s < summary->n_subs; s++)
        if (nytp_report_has_sub(report, s) && summary->subs[s].count > 0)
            entries[n++] = (struct sort_entry){
                .time = summary->subs[s].excl_s,
                .name = nytp_report_sub_name(report, s),
                .index = s,
            };
    report->n_called = n;
    report->subs_by_time = sorted_index(entries, n);
    return report->subs_by_time != NULL;
}

static bool index_subs_by_name(struct nytp_report *report)
{
    struct sort_entry *entries = entries_for(report->summary->n_subs);
    uint32_t n = 0;
    for (uint32_t s = 0; entries != NULL && s < report->summary->n_subs; s++)
        if (nytp_report_has_sub(report, s))
            entries[n++] =
                (struct sort_entry){.name = nytp_report_sub_name(report, s), .index = s};
    report->n_subs_by_name = n;
    report->subs_by_name = sorted_index(entries, n);
    return report->subs_by_name != NULL;
}

uint32_t nytp_report_sub_named(const struct nytp_report *report, struct nytp_str name)
{
    uint32_t low = 0, high = report->n_subs_by_name;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const uint32_t sub = report->subs_by_name[middle];
        const int order = nytp_compare_texts(nytp_report_sub_name(report, sub), name);
        if (order == 0)
            return sub;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NONE;
}

static bool index_subs_by_file(struct nytp_report *report)
{
    const struct nytp_summary *summary = report->summary;
    struct sort_entry *entries = entries_for(summary->n_subs);
    uint32_t n = 0;
    for (uint32_t s = 0; entries != NULL && s < summary->n_subs; s++)
        if (nytp_report_has_sub(report, s) && report->subs[s].file != NONE)
            entries[n++] = (struct sort_entry){
                .file = report->subs[s].file,
                .line = nytp_report_is_foreign(report, s) ? NONE : summary->subs[s].first_line,
                .name = nytp_report_sub_name(report, s),
                .index = s,
            };
    report->n_subs = n;
    report->subs_by_file = sorted_index(entries, n);
    return report->subs_by_file != NULL;
}

/* Sort all calls by place, and tell each file where its calls are. */
static bool index_calls(struct nytp_report *report)
{
    const struct nytp_summary *summary = report->summary;
    struct sort_entry *entries = entries_for(summary->n_calls);
    uint32_t n = 0;
    for (uint32_t c = 0; entries != NULL && c < summary->n_calls; c++) {
        const struct nytp_summary_call *call = &summary->calls[c];
        const uint32_t file = nytp_summary_file_of(summary, call->fid);
        if (file == NYTP_SUMMARY_NONE || call->count == 0)
            continue;
        entries[n++] = (struct sort_entry){
            .file = file,
            .line = call->line,
            .time = call->incl_s + call->reci_s,
            .name = nytp_report_sub_name(report, call->sub),
            .index = c,
        };
    }
    report->n_calls = n;
    report->calls_by_place = sorted_index(entries, n);
    return report->calls_by_place != NULL;
}

/* The file that ran an eval, or the one that this was merged into. */
static uint32_t file_that_ran(const struct nytp_summary *summary, uint32_t eval)
{
    const uint32_t file = summary->files[eval].eval_file;
    const uint32_t into = summary->files[file].merged_into;
    return into != NYTP_SUMMARY_NONE ? into : file;
}

/* Sort all string evals by the line that ran them, and tell each file where its evals are. */
static bool index_evals(struct nytp_report *report)
{
    const struct nytp_summary *summary = report->summary;
    struct sort_entry *entries = entries_for(summary->n_files);
    uint32_t n = 0;
    for (uint32_t f = 0; entries != NULL && f < summary->n_files; f++) {
        const struct nytp_summary_file *file = &summary->files[f];
        if (file->eval_file == NYTP_SUMMARY_NONE || file->merged_into != NYTP_SUMMARY_NONE)
            continue;
        entries[n++] = (struct sort_entry){
            .file = file_that_ran(summary, f),
            .line = file->eval_line,
            .time = (double)report->files[f].all_ticks,
            .name = {.ptr = NULL},
            .index = f,
        };
    }
    report->n_evals = n;
    report->evals_by_place = sorted_index(entries, n);
    return report->evals_by_place != NULL;
}

static int compare_indexes(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static bool ran_at_one_place(const struct nytp_summary *summary, uint32_t a, uint32_t b)
{
    return summary->files[a].eval_line == summary->files[b].eval_line &&
           file_that_ran(summary, a) == file_that_ran(summary, b);
}

/* The string evals of each line in the order they came; needs evals_by_place. */
static bool index_siblings(struct nytp_report *report)
{
    const uint32_t n = report->n_evals;
    uint32_t *siblings = report->siblings = malloc(((size_t)n + 1) * sizeof *siblings);
    if (siblings == NULL)
        return false;
    memcpy(siblings, report->evals_by_place, n * sizeof *siblings);
    for (uint32_t first = 0, end; first < n; first = end) {
        for (end = first + 1;
             end < n && ran_at_one_place(report->summary, siblings[first], siblings[end]);)
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
    struct sort_entry *entries = entries_for(report->summary->n_files);
    uint32_t n = 0;
    for (uint32_t f = 0; entries != NULL && f < report->summary->n_files; f++) {
        report->files[f].place = NONE;
        if (report->summary->files[f].eval_file == NYTP_SUMMARY_NONE &&
            report->files[f].stem != NULL)
            entries[n++] = (struct sort_entry){
                .time = (double)report->files[f].all_ticks,
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

/* Where each file's stretch of an index begins and how long it is. */
static void note_stretches(struct nytp_report *report)
{
    const struct nytp_summary *summary = report->summary;
    for (uint32_t i = report->n_subs; i-- > 0;) {
        struct nytp_report_file *file =
            &report->files[report->subs[report->subs_by_file[i]].file];
        file->first_sub = i;
        file->n_subs++;
    }
    for (uint32_t i = report->n_calls; i-- > 0;) {
        const uint32_t fid = summary->calls[report->calls_by_place[i]].fid;
        struct nytp_report_file *file = &report->files[nytp_summary_file_of(summary, fid)];
        file->first_call = i;
        file->n_calls++;
    }
    for (uint32_t i = report->n_evals; i-- > 0;) {
        const uint32_t into = file_that_ran(summary, report->evals_by_place[i]);
        report->files[into].first_eval = i;
        report->files[into].n_evals++;
    }
}

/* ---- sums ---- */

static void sum_lines(struct nytp_report *report, uint32_t f)
{
    const struct nytp_summary_lines *lines = &report->summary->files[f].times[NYTP_LEVEL_LINE];
    struct nytp_report_file *file = &report->files[f];
    for (uint32_t line = 0; line < lines->n; line++) {
        const struct nytp_summary_time *time = &lines->at[line];
        if (!time->seen)
            continue;
        file->stmts += time->count;
        file->ticks += time->ticks;
        const double seconds = nytp_report_seconds(report, time->ticks);
        if (seconds > report->hottest_s)
            report->hottest_s = seconds;
    }
    file->all_stmts = file->stmts;
    file->all_ticks = file->ticks;
}

/* What an eval took counts for the file that ran it, and so on outwards. A merged eval's time
 * is its survivor's already, but it is counted as an eval. */
static void add_to_outer(struct nytp_report *report, uint32_t f)
{
    const struct nytp_summary_file *file = &report->summary->files[f];
    struct nytp_report_file *mine = &report->files[f];
    if (file->eval_file == NYTP_SUMMARY_NONE)
        return;
    struct nytp_report_file *outer = &report->files[file->eval_file];
    outer->n_direct++;
    outer->n_nested += mine->n_direct + mine->n_nested;
    outer->n_defined += mine->n_defined;
    outer->defined_calls += mine->defined_calls;
    outer->defined_s += mine->defined_s;
    outer->all_stmts += mine->all_stmts;
    outer->all_ticks += mine->all_ticks;
}

static void sum_defined_subs(struct nytp_report *report)
{
    for (uint32_t s = 0; s < report->summary->n_subs; s++) {
        const struct nytp_summary_sub *sub = &report->summary->subs[s];
        if (report->subs[s].file == NONE || !nytp_report_has_sub(report, s) ||
            nytp_report_is_foreign(report, s))
            continue;
        struct nytp_report_file *file = &report->files[report->subs[s].file];
        file->n_defined++;
        file->defined_calls += sub->count;
        file->defined_s += sub->excl_s;
    }
}

/* Evals from the innermost outwards: each is added when all inside it are. */
static bool sum_evals(struct nytp_report *report)
{
    const struct nytp_summary *summary = report->summary;
    uint32_t *inside = calloc((size_t)summary->n_files + 1, sizeof *inside); /* not added yet */
    if (inside == NULL)
        return false;
    for (uint32_t f = 0; f < summary->n_files; f++)
        if (summary->files[f].eval_file != NYTP_SUMMARY_NONE)
            inside[summary->files[f].eval_file]++;
    for (uint32_t f = 0; f < summary->n_files; f++)
        for (uint32_t at = f; at != NYTP_SUMMARY_NONE && inside[at] == 0;
             at = summary->files[at].eval_file) {
            add_to_outer(report, at);
            inside[at] = NONE; /* done */
            if (summary->files[at].eval_file != NYTP_SUMMARY_NONE)
                inside[summary->files[at].eval_file]--;
        }
    free(inside);
    return true;
}

static uint32_t first_call_line(const struct nytp_report *report,
                                const struct nytp_report_file *file)
{
    return report->summary->calls[report->calls_by_place[file->first_call]].line;
}

static uint32_t first_eval_line(const struct nytp_report *report,
                                const struct nytp_report_file *file)
{
    return report->summary->files[report->evals_by_place[file->first_eval]].eval_line;
}

/* How many lines a page has: source, statements and what is called or defined there. */
static void count_lines(struct nytp_report *report, uint32_t f)
{
    const struct nytp_summary_file *file = &report->summary->files[f];
    struct nytp_report_file *mine = &report->files[f];
    uint32_t n = file->n_source;
    while (n > 0 && file->source[n - 1].ptr == NULL)
        n--;
    for (int level = 0; level < NYTP_LEVELS; level++) {
        uint32_t last = file->times[level].n;
        while (last > n && !file->times[level].at[last - 1].seen)
            last--;
        n = last > n ? last : n;
        mine->has_line_0 |= file->times[level].n > 0 && file->times[level].at[0].seen;
    }
    mine->has_line_0 |= mine->n_calls > 0 && first_call_line(report, mine) == 0;
    mine->has_line_0 |= mine->n_evals > 0 && first_eval_line(report, mine) == 0;
    for (uint32_t i = 0; i < mine->n_calls; i++) {
        const uint32_t line =
            report->summary->calls[report->calls_by_place[mine->first_call + i]].line;
        n = line + 1 > n && line < NYTP_SUMMARY_MAX_LINE ? line + 1 : n;
    }
    for (uint32_t i = 0; i < mine->n_evals; i++) {
        const uint32_t line =
            report->summary->files[report->evals_by_place[mine->first_eval + i]].eval_line;
        n = line + 1 > n && line < NYTP_SUMMARY_MAX_LINE ? line + 1 : n;
    }
    for (uint32_t i = 0; i < mine->n_subs; i++) {
        const uint32_t sub = report->subs_by_file[mine->first_sub + i];
        const uint32_t line = report->summary->subs[sub].first_line;
        n = line + 1 > n && line < NYTP_SUMMARY_MAX_LINE ? line + 1 : n;
    }
    mine->n_lines = n;
}

/* The places and files that a sub is called from: calls of a sub are one for each place. */
static bool count_places(struct nytp_report *report)
{
    const struct nytp_summary *summary = report->summary;
    uint32_t *seen = calloc((size_t)summary->n_files + 1, sizeof *seen);
    if (seen == NULL)
        return false;
    for (uint32_t s = 0; s < summary->n_subs; s++) {
        const struct nytp_summary_sub *sub = &summary->subs[s];
        struct nytp_report_sub *mine = &report->subs[s];
        const uint32_t file = nytp_summary_file_of(summary, sub->fid);
        /* a sub that no file is known to define is told with the first file, as in nytprofhtml
         */
        mine->file = sub->fid == 0 || file == NYTP_SUMMARY_NONE ? 0 : file;
        if (summary->n_files == 0)
            mine->file = NONE;
        for (uint32_t c = sub->first_call; c != NYTP_SUMMARY_NONE; c = summary->calls[c].next) {
            if (summary->calls[c].count == 0)
                continue;
            const uint32_t from = nytp_summary_file_of(summary, summary->calls[c].fid);
            const uint32_t slot = from == NYTP_SUMMARY_NONE ? summary->n_files : from;
            mine->places++;
            mine->files += seen[slot] != s + 1;
            seen[slot] = s + 1;
        }
    }
    free(seen);
    return true;
}

static double attribute(const struct nytp_summary *summary, const char *key)
{
    for (uint32_t i = 0; i < summary->attributes.n; i++) {
        const struct nytp_str name = nytp_summary_str(summary, summary->attributes.at[i].key);
        if (name.len != strlen(key) || memcmp(name.ptr, key, name.len) != 0)
            continue;
        const struct nytp_str value =
            nytp_summary_str(summary, summary->attributes.at[i].value);
        return strtod(value.ptr, NULL); /* interned strings end in NUL */
    }
    return 0;
}

static void find_total(struct nytp_report *report)
{
    const struct nytp_summary *summary = report->summary;
    report->tick_s = summary->ticks_per_sec > 0 ? 1 / summary->ticks_per_sec : 1e-6;
    report->total_s =
        summary->duration_s - attribute(summary, "cumulative_overhead_ticks") * report->tick_s;
    report->total_s -= (double)summary->recording_ticks * report->tick_s;
    if (!(report->total_s > 0))
        report->total_s = (double)summary->total_ticks * report->tick_s;
}

bool nytp_report_find_facts(struct nytp_report *report)
{
    const struct nytp_summary *summary = report->summary;
    report->files = calloc((size_t)summary->n_files + 1, sizeof *report->files);
    report->subs = calloc((size_t)summary->n_subs + 1, sizeof *report->subs);
    if (report->files == NULL || report->subs == NULL || !count_places(report))
        return false;
    find_total(report);
    report->levels = summary->has_blocks && !report->options->minimal;
    for (uint32_t f = 0; f < summary->n_files; f++)
        if (summary->files[f].merged_into == NYTP_SUMMARY_NONE)
            sum_lines(report, f);
    sum_defined_subs(report);
    if (!sum_evals(report))
        return false;
    if (!index_subs_by_time(report) || !index_subs_by_name(report) ||
        !index_subs_by_file(report) || !index_calls(report) || !index_evals(report) ||
        !index_siblings(report))
        return false;
    note_stretches(report);
    for (uint32_t f = 0; f < summary->n_files; f++)
        count_lines(report, f);
    return true;
}

void nytp_report_free_facts(struct nytp_report *report)
{
    for (uint32_t f = 0; report->files != NULL && f < report->summary->n_files; f++) {
        free(report->files[f].stem);
        free(report->files[f].shown);
        free(report->files[f].dot);
    }
    free(report->files);
    free(report->subs);
    free(report->files_by_time);
    free(report->subs_by_time);
    free(report->subs_by_name);
    free(report->subs_by_file);
    free(report->calls_by_place);
    free(report->evals_by_place);
    free(report->siblings);
    free(report->changes);
}
