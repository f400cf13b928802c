/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * String evals of one place that are shown as one; see report.h, and the manual of the reading
 * API, which has the same rule.
 */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#define NONE NYTP_REPORT_NONE

#define MAX_SIBLINGS 200 /* distinct string evals of one line that stay apart */

/* ---- files ---- */

struct eval {
    uint32_t file, ran_file, ran_line;
    uint64_t hash; /* of the source; 0 = no source kept */
};

static const struct nytp_source_line *source_of(const struct nytp_report *report, uint32_t file,
                                                uint32_t *n)
{
    *n = report->profile->files[file].n_sources;
    return *n > 0 ? report->profile->sources + report->profile->files[file].first_source : NULL;
}

static uint64_t hash_source(const struct nytp_report *report, uint32_t file)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    uint32_t n;
    const struct nytp_source_line *source = source_of(report, file, &n);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t c = 0; c < source[i].len; c++)
            hash = (hash ^ (unsigned char)source[i].text[c]) * 1099511628211u;
    return n > 0 ? hash | 1 : 0;
}

static bool same_source(const struct nytp_report *report, uint32_t a, uint32_t b)
{
    uint32_t n_a, n_b;
    const struct nytp_source_line *x = source_of(report, a, &n_a);
    const struct nytp_source_line *y = source_of(report, b, &n_b);
    for (uint32_t i = 0; n_a == n_b && i < n_a; i++)
        if (x[i].line != y[i].line ||
            nytp_compare_bytes(x[i].text, x[i].len, y[i].text, y[i].len) != 0)
            return false;
    return n_a == n_b;
}

static int by_place(const void *left, const void *right)
{
    const struct eval *a = left, *b = right;
    if (a->ran_file != b->ran_file)
        return a->ran_file < b->ran_file ? -1 : 1;
    return (a->ran_line > b->ran_line) - (a->ran_line < b->ran_line);
}

static int by_place_and_file(const void *left, const void *right)
{
    const struct eval *a = left, *b = right;
    const int order = by_place(a, b);
    return order != 0 ? order : (a->file > b->file) - (a->file < b->file);
}

static int by_place_and_source(const void *left, const void *right)
{
    const struct eval *a = left, *b = right;
    const int order = by_place(a, b);
    if (order != 0 || a->hash != b->hash)
        return order != 0 ? order : a->hash < b->hash ? -1 : 1;
    return (a->file > b->file) - (a->file < b->file);
}

/* Those of a run that ran no string evals become one; a run in order of file. */
static void merge_run(struct nytp_report *report, const struct eval *run, uint32_t n)
{
    uint32_t into = NONE;
    for (uint32_t i = 0; i < n; i++) {
        struct nytp_report_file *file = &report->files[run[i].file];
        if (file->has_evals)
            continue;
        if (into == NONE)
            into = run[i].file;
        else
            file->merged_into = into;
        report->files[into].n_merged += into != run[i].file;
    }
}

/* The end of the evals from `first` on that have the same source. */
static uint32_t group_end(const struct nytp_report *report, const struct eval *run,
                          uint32_t first, uint32_t n)
{
    uint32_t end = first + 1;
    while (end < n && run[end].hash == run[first].hash &&
           same_source(report, run[end].file, run[first].file))
        end++;
    return end;
}

static bool any_has_evals(const struct nytp_report *report, const struct eval *run, uint32_t n)
{
    bool any = false;
    for (uint32_t i = 0; i < n; i++)
        any |= report->files[run[i].file].has_evals;
    return any;
}

/* All evals of one line, sorted by source. */
static void merge_line(struct nytp_report *report, struct eval *run, uint32_t n)
{
    uint32_t groups = 0;
    for (uint32_t first = 0; first < n; first = group_end(report, run, first, n))
        groups++;
    if (groups > MAX_SIBLINGS) {
        qsort(run, n, sizeof *run, by_place_and_file);
        merge_run(report, run, n);
        for (uint32_t i = 0; i < n; i++)
            report->files[run[i].file].src_varied = report->files[run[i].file].n_merged > 0;
        return;
    }
    for (uint32_t first = 0, end; first < n; first = end) {
        end = group_end(report, run, first, n);
        /* same source, but one of them ran an eval: what the others do may differ as well */
        if (run[first].hash == 0 || !any_has_evals(report, run + first, end - first))
            merge_run(report, run + first, end - first);
    }
}

bool nytp_report_merge_evals(struct nytp_report *report)
{
    const struct nytp_profile *profile = report->profile;
    struct eval *evals = malloc(profile->n_files * sizeof *evals);
    uint32_t n = 0;
    for (uint32_t f = 1; evals != NULL && f < profile->n_files; f++) {
        if (!nytp_report_is_eval(report, f))
            continue;
        report->files[profile->files[f].eval_file].has_evals = true;
        evals[n++] = (struct eval){f, profile->files[f].eval_file, profile->files[f].eval_line,
                                   hash_source(report, f)};
    }
    if (n > 0)
        qsort(evals, n, sizeof *evals, by_place_and_source);
    for (uint32_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && by_place(&evals[end], &evals[first]) == 0;)
            end++;
        if (end - first > 1)
            merge_line(report, evals + first, end - first);
    }
    free(evals);
    return n == 0 || evals != NULL;
}

/* ---- subs ---- */

struct defined {
    struct nytp_name before, after; /* of the name, what is around the eval's own name */
    uint32_t file, sub;             /* the file that it is shown in */
};

static int by_definition(const void *left, const void *right)
{
    const struct defined *a = left, *b = right;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    int order = nytp_compare_names(a->before, b->before);
    order = order != 0 ? order : nytp_compare_names(a->after, b->after);
    return order != 0 ? order : (a->sub > b->sub) - (a->sub < b->sub);
}

/* "Pkg::__ANON__[FILE:LINE]" of a FILE that is merged or took others over. */
static bool find_definition(const struct nytp_report *report, uint32_t sub, struct defined *to)
{
    static const char mark[] = "::__ANON__[";
    const uint32_t file = report->profile->subs[sub].file;
    const struct nytp_name name = nytp_report_sub_name(report, sub);
    const struct nytp_name eval = nytp_report_file_name(report, file);
    if (report->files[file].merged_into == NONE && report->files[file].n_merged == 0)
        return false;
    const char *at = strstr(name.ptr, mark);
    const uint32_t len = at != NULL ? (uint32_t)(at - name.ptr) + (uint32_t)sizeof mark - 1 : 0;
    if (at == NULL || name.len < len + eval.len ||
        memcmp(name.ptr + len, eval.ptr, eval.len) != 0)
        return false;
    *to = (struct defined){{name.ptr, len},
                           {name.ptr + len + eval.len, name.len - len - eval.len},
                           nytp_report_merged(report, file),
                           sub};
    return true;
}

static void take_over(struct nytp_report *report, uint32_t into, uint32_t from)
{
    struct nytp_report_sub *sum = &report->subs[into], *sub = &report->subs[from];
    sub->merged_into = into;
    sum->calls += sub->calls;
    sum->excl_ticks += sub->excl_ticks;
    sum->incl_ticks += sub->incl_ticks;
    sum->reci_ticks += sub->reci_ticks;
    if (sub->rec_depth > sum->rec_depth)
        sum->rec_depth = sub->rec_depth;
}

bool nytp_report_merge_subs(struct nytp_report *report)
{
    struct defined *list = malloc(report->profile->n_subs * sizeof *list);
    uint32_t n = 0;
    for (uint32_t s = 1; list != NULL && s < report->profile->n_subs; s++) {
        if (report->subs[s].file != NONE)
            report->subs[s].file = nytp_report_merged(report, report->subs[s].file);
        n += find_definition(report, s, &list[n]);
    }
    if (n > 0)
        qsort(list, n, sizeof *list, by_definition);
    for (uint32_t i = 1, first = 0; i < n; i++) {
        if (list[i].file == list[first].file &&
            nytp_compare_names(list[i].before, list[first].before) == 0 &&
            nytp_compare_names(list[i].after, list[first].after) == 0)
            take_over(report, list[first].sub, list[i].sub);
        else
            first = i;
    }
    free(list);
    return list != NULL;
}
