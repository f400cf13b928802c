/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Merges sibling evals; see sibling_evals.h. They are sorted by the line that ran them and by
 * a hash of their source. Neighbours with the same hash are compared in full.
 */
#include "sibling_evals.h"
#include "formats/base/strings.h"

#include <stdlib.h>

struct rule {
    uint32_t max_siblings;
    bool (*same_source)(const void *context, uint32_t a, uint32_t b);
    const void *context;
};

static int by_place(const void *left, const void *right)
{
    const struct nytp_sibling_eval *a = left, *b = right;
    const int order = nytp_compare_u64(a->ran_file, b->ran_file);
    return order != 0 ? order : nytp_compare_u64(a->ran_line, b->ran_line);
}

static int by_number(const void *left, const void *right)
{
    const struct nytp_sibling_eval *a = left, *b = right;
    return nytp_compare_u64(a->file, b->file);
}

static int by_place_and_source(const void *left, const void *right)
{
    const struct nytp_sibling_eval *a = left, *b = right;
    const int order = by_place(a, b);
    if (order != 0 || a->hash != b->hash)
        return order != 0 ? order : nytp_compare_u64(a->hash, b->hash);
    return by_number(a, b);
}

/* Merges the evals of a run that ran no string evals. The run is in the order of numbers. */
static void merge_run(struct nytp_sibling_eval *run, uint32_t n, bool other_source)
{
    const struct nytp_sibling_eval *into = NULL;
    for (uint32_t i = 0; i < n; i++) {
        if (run[i].has_evals)
            continue;
        if (into == NULL)
            into = &run[i];
        run[i].merged_into = into->file;
        run[i].other_source = other_source;
    }
}

static uint32_t group_end(const struct rule *rule, const struct nytp_sibling_eval *run,
                          uint32_t first, uint32_t n)
{
    uint32_t end = first + 1;
    while (end < n && run[end].hash == run[first].hash &&
           rule->same_source(rule->context, run[end].file, run[first].file))
        end++;
    return end;
}

static bool any_has_evals(const struct nytp_sibling_eval *run, uint32_t n)
{
    bool any = false;
    for (uint32_t i = 0; i < n; i++)
        any |= run[i].has_evals;
    return any;
}

static void merge_line(const struct rule *rule, struct nytp_sibling_eval *run, uint32_t n)
{
    uint32_t groups = 0;
    for (uint32_t first = 0; first < n; first = group_end(rule, run, first, n))
        groups++;
    if (groups > rule->max_siblings) {
        qsort(run, n, sizeof *run, by_number);
        merge_run(run, n, true);
        return;
    }
    for (uint32_t first = 0, end; first < n; first = end) {
        end = group_end(rule, run, first, n);
        /* if one of them ran an eval, equal sources may behave differently */
        if (run[first].hash == 0 || !any_has_evals(run + first, end - first))
            merge_run(run + first, end - first, false);
    }
}

void nytp_sibling_evals_merge(struct nytp_sibling_eval *evals, uint32_t n,
                              uint32_t max_siblings,
                              bool (*same_source)(const void *context, uint32_t a, uint32_t b),
                              const void *context)
{
    const struct rule rule = {max_siblings, same_source, context};
    for (uint32_t i = 0; i < n; i++)
        evals[i].merged_into = evals[i].file;
    if (n > 0)
        qsort(evals, n, sizeof *evals, by_place_and_source);
    for (uint32_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && by_place(&evals[end], &evals[first]) == 0;)
            end++;
        if (end - first > 1)
            merge_line(&rule, evals + first, end - first);
    }
}
