/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Merges string evals of one place; see report.h. The reading API has the same rule.
 */
#include "report.h"

#include "formats/base/fnv1a.h"
#include "formats/model/sibling_evals.h"

#include <stdlib.h>
#include <string.h>

#define NONE NYTP_REPORT_NONE

#define MAX_SIBLINGS 200 /* more distinct string evals of one line are merged */

/* ---- files ---- */

static const struct nytp_source_line *source_of(const struct nytp_report *report, uint32_t file,
                                                uint32_t *n)
{
    *n = report->profile->files[file].n_sources;
    return *n > 0 ? report->profile->sources + report->profile->files[file].first_source : NULL;
}

static uint64_t hash_source(const struct nytp_report *report, uint32_t file)
{
    uint64_t hash = NYTP_FNV1A_64_START;
    uint32_t n;
    const struct nytp_source_line *source = source_of(report, file, &n);
    for (uint32_t i = 0; i < n; i++)
        hash = nytp_fnv1a_64(hash, source[i].text, source[i].len);
    return n > 0 ? hash | 1 : 0;
}

static bool same_source(const void *context, uint32_t a, uint32_t b)
{
    const struct nytp_report *report = context;
    uint32_t n_a, n_b;
    const struct nytp_source_line *x = source_of(report, a, &n_a);
    const struct nytp_source_line *y = source_of(report, b, &n_b);
    for (uint32_t i = 0; n_a == n_b && i < n_a; i++)
        if (x[i].line != y[i].line ||
            nytp_compare_bytes(x[i].text, x[i].len, y[i].text, y[i].len) != 0)
            return false;
    return n_a == n_b;
}

bool nytp_report_merge_evals(struct nytp_report *report)
{
    const struct nytp_profile *profile = report->profile;
    struct nytp_sibling_eval *evals = malloc(profile->n_files * sizeof *evals);
    if (evals == NULL)
        return false;
    uint32_t n = 0;
    for (uint32_t f = 1; f < profile->n_files; f++)
        if (nytp_report_is_eval(report, f))
            report->files[profile->files[f].eval_file].has_evals = true;
    for (uint32_t f = 1; f < profile->n_files; f++)
        if (nytp_report_is_eval(report, f))
            evals[n++] = (struct nytp_sibling_eval){
                .file = f,
                .ran_file = profile->files[f].eval_file,
                .ran_line = profile->files[f].eval_line,
                .hash = hash_source(report, f),
                .has_evals = report->files[f].has_evals,
            };
    nytp_sibling_evals_merge(evals, n, MAX_SIBLINGS, same_source, report);
    for (uint32_t i = 0; i < n; i++) {
        if (evals[i].merged_into == evals[i].file)
            continue;
        struct nytp_report_file *into = &report->files[evals[i].merged_into];
        report->files[evals[i].file].merged_into = evals[i].merged_into;
        into->n_merged++;
        into->src_varied |= evals[i].other_source;
    }
    free(evals);
    return true;
}

/* ---- subs ---- */

struct defined {
    struct nytp_name before, after; /* parts of the name around the eval's name */
    uint32_t file, sub;             /* the file that shows it */
};

static int by_definition(const void *left, const void *right)
{
    const struct defined *a = left, *b = right;
    NYTP_RETURN_ORDER(a->file, b->file);
    int order = nytp_compare_names(a->before, b->before);
    order = order != 0 ? order : nytp_compare_names(a->after, b->after);
    return order != 0 ? order : (a->sub > b->sub) - (a->sub < b->sub);
}

/* Finds a sub "Pkg::__ANON__[FILE:LINE]" whose FILE is merged or has merged ones. */
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
    sum->svs += sub->svs;
    sum->inuse_bytes += sub->inuse_bytes;
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
