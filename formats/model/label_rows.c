/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Rows of labels; see label_sums.h.
 *
 * The subs that ran a statement or made a call are not known here. The recording cost of those
 * events is subtracted in proportion, from all subs but builtins and xsubs.
 */
#include "label_state.h"

#include "order.h"
#include "profile.h"

#include <stdlib.h>
#include <string.h>

static int by_key_and_total(const void *x, const void *y)
{
    const struct nytp_label_row *a = x, *b = y;
    const int keys = nytp_compare_names(a->key, b->key);
    if (keys != 0)
        return keys;
    NYTP_RETURN_ORDER(b->total_s, a->total_s);
    return nytp_compare_names(a->value, b->value);
}

/* The profiler's modules are subs like others, but nobody asks for them. */
static bool is_profilers(struct nytp_name sub)
{
    static const char *const packages[] = {
        "Devel::NYTProf::", "Plack::Middleware::NYTP::", "Mojolicious::Plugin::NYTP::", "DB::"};
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
        if (strncmp(sub.ptr, packages[i], strlen(packages[i])) == 0)
            return true;
    return false;
}

static void add_time(struct nytp_label_row *row, enum nytp_label_time time, double seconds)
{
    row->database_s += time == NYTP_LABEL_DATABASE ? seconds : 0;
    row->waiting_s += time == NYTP_LABEL_WAITING ? seconds : 0;
}

/* Returns, by label, the part of the time outside builtins and xsubs that is left without what
 * recording statements and calls cost there. Returns NULL if memory is out. */
static double *parts_left(const struct nytp_label_sums *s)
{
    double *const parts = calloc(s->labels.n + 1, sizeof *parts);
    for (uint32_t i = 0; parts != NULL && i < s->cells.n; i++)
        if (s->subs[s->cells.at[i].sub].kind != NYTP_SUB_PERL)
            parts[s->cells.at[i].label] += s->cells.at[i].seconds;
    for (uint32_t i = 0; parts != NULL && i < s->labels.n; i++) {
        const struct label *const label = &s->labels.at[i];
        const double left = label->row.total_s - parts[i], before = left + label->around_s;
        parts[i] = left > 0 && before > 0 ? left / before : label->around_s > 0 ? 0 : 1;
    }
    return parts;
}

/* A stretch may be shorter than the samples in it: then its subs share what it took. */
static void fit_times(struct nytp_label_row *row, double of_subs_s)
{
    if (of_subs_s <= row->total_s)
        return;
    const double part = row->total_s / of_subs_s;
    row->slowest_s *= part;
    row->database_s *= part;
    row->waiting_s *= part;
}

/* Finds the sub with the most exclusive time under each label; code outside of subs has the
 * rest. A label with missing subs gets none, since a missing one may be the slowest. */
static void find_slowest(const struct nytp_label_sums *s, struct nytp_label_row *rows)
{
    static const struct nytp_name outside = {"main::RUNTIME", 13};
    double *const rest = calloc(s->labels.n + 1, sizeof *rest);
    double *const parts = parts_left(s);
    for (uint32_t i = 0; i < s->cells.n; i++) {
        const struct cell *cell = &s->cells.at[i];
        struct nytp_label_row *row = &rows[cell->label];
        const struct nytp_name sub = nytp_strings_get(s->strings, cell->sub);
        const bool is_leaf = s->subs[cell->sub].kind != NYTP_SUB_PERL;
        const double seconds =
            cell->seconds * (is_leaf || parts == NULL ? 1 : parts[cell->label]);
        if (rest != NULL)
            rest[cell->label] += seconds;
        if (s->time_of != NULL)
            add_time(row, s->time_of(sub, seconds, cell->calls), seconds);
        if (s->labels.at[cell->label].lacks_subs || is_profilers(sub))
            continue;
        if (row->slowest.len > 0 &&
            (row->slowest_s > seconds ||
             (row->slowest_s == seconds && nytp_compare_names(row->slowest, sub) < 0)))
            continue;
        row->slowest = sub;
        row->slowest_s = seconds;
        row->slowest_file = nytp_strings_get(s->strings, s->subs[cell->sub].file);
        row->slowest_line = s->subs[cell->sub].first_line;
    }
    for (uint32_t i = 0; rest != NULL && i < s->labels.n; i++) {
        fit_times(&rows[i], rest[i]);
        const double outside_s = rows[i].total_s - rest[i];
        if (rows[i].slowest.len == 0 || outside_s <= rows[i].slowest_s)
            continue;
        rows[i].slowest = outside;
        rows[i].slowest_s = outside_s;
        rows[i].slowest_file = nytp_strings_get(s->strings, 0);
        rows[i].slowest_line = 0;
    }
    free(parts);
    free(rest);
}

struct nytp_label_row *nytp_label_sums_rows(struct nytp_label_sums *s, uint32_t *n_rows)
{
    struct nytp_label_row *rows = calloc((size_t)s->labels.n + 1, sizeof *rows);
    if (rows == NULL || s->failed) {
        free(rows);
        return NULL;
    }
    for (uint32_t i = 0; i < s->labels.n; i++)
        rows[i] = s->labels.at[i].row;
    nytp_label_lengths_sort(&s->lengths);
    for (uint32_t i = 0, end; i < s->lengths.n; i = end) {
        const struct nytp_label_length *const first = &s->lengths.all[i];
        struct nytp_label_row *const row = &rows[first->label];
        for (end = i + 1; end < s->lengths.n && s->lengths.all[end].label == first->label;)
            end++;
        row->lengths = first;
        row->n_lengths = end - i;
        row->median_s = nytp_label_median(first, row->n);
        row->p95_s = nytp_label_p95(first, row->n);
    }
    find_slowest(s, rows);
    *n_rows = 0;
    for (uint32_t i = 0; i < s->labels.n; i++)
        if (rows[i].n > 0)
            rows[(*n_rows)++] = rows[i];
    qsort(rows, *n_rows, sizeof *rows, by_key_and_total);
    return rows;
}
