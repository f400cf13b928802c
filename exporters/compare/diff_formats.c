/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Common parts of a comparison's text forms: rows and phrases; see diff_formats.h.
 */
#include "diff_formats.h"

#include "exporters/base/text.h"
#include "formats/base/utf8.h"
#include "formats/model/svs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_OF_TITLE = 60, /* bytes of a program's name */
};

enum nytp_weight nytp_diff_weight(const struct nytp_export_options *options)
{
    return options->weight_given ? options->weight : NYTP_WEIGHT_STATEMENTS;
}

const char *nytp_diff_weight_title(const struct nytp_diff *diff, enum nytp_weight weight)
{
    return weight == NYTP_WEIGHT_STATEMENTS || weight == NYTP_WEIGHT_CPU ||
                   nytp_weight_is_time(weight)
               ? nytp_text_statements(diff->profile)
               : nytp_measures[weight].title;
}

int64_t nytp_diff_value(const struct nytp_diff_cell *cell, enum nytp_weight weight)
{
    if (nytp_weight_is_memory(weight) && weight < NYTP_MEMORY_END)
        return nytp_measures[weight].own(NULL, &cell->memory);
    return weight == NYTP_WEIGHT_TIME    ? cell->ticks
           : weight == NYTP_WEIGHT_INCL  ? cell->incl_ticks
           : weight == NYTP_WEIGHT_CALLS ? cell->calls
           : weight == NYTP_WEIGHT_OPS   ? cell->statements + cell->calls
                                         : cell->statements;
}

int64_t nytp_diff_change(const struct nytp_diff_row *row, enum nytp_weight weight)
{
    return nytp_diff_value(&row->median[NYTP_DIFF_NEW], weight) -
           nytp_diff_value(&row->median[NYTP_DIFF_BASE], weight);
}

/* ---- counts ---- */

bool nytp_diff_side_has(const struct nytp_diff *diff, enum nytp_diff_side side,
                        enum nytp_weight weight)
{
    return (diff->has[side] & nytp_measures[weight].has) != 0;
}

bool nytp_diff_memory(const struct nytp_diff *diff, enum nytp_weight *weight)
{
    static const enum nytp_weight shown[] = {NYTP_WEIGHT_INUSE_SPACE, NYTP_WEIGHT_SVS};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (nytp_diff_side_has(diff, NYTP_DIFF_BASE, shown[i]) &&
            nytp_diff_side_has(diff, NYTP_DIFF_NEW, shown[i])) {
            *weight = shown[i];
            return true;
        }
    return false;
}

uint32_t nytp_diff_counts(const struct nytp_diff *diff, enum nytp_weight asked,
                          enum nytp_weight counts[NYTP_DIFF_MOST_COUNTS])
{
    counts[0] = NYTP_WEIGHT_STATEMENTS;
    counts[1] = NYTP_WEIGHT_CALLS;
    counts[2] = asked;
    return asked == NYTP_WEIGHT_OPS || nytp_weight_is_memory(asked) ||
                   nytp_diff_memory(diff, &counts[2])
               ? 3
               : 2;
}

static const char *count_remark(const struct nytp_diff *diff, enum nytp_weight weight)
{
    return nytp_measures[weight].nature == NYTP_MEASURE_ESTIMATE ? "estimated from samples"
           : diff->profile->sampled                              ? "sampled"
           : diff->total.varies                                  ? "median, the runs differ"
                                                                 : "exact";
}

struct nytp_diff_total_text nytp_diff_count_total(const struct nytp_diff *diff,
                                                  enum nytp_weight weight)
{
    const int64_t base = nytp_diff_value(&diff->total.median[NYTP_DIFF_BASE], weight);
    const int64_t now = nytp_diff_value(&diff->total.median[NYTP_DIFF_NEW], weight);
    struct nytp_diff_total_text text = {.label = weight == NYTP_WEIGHT_CALLS
                                                     ? nytp_text_calls(diff->profile)
                                                     : nytp_diff_weight_title(diff, weight)};
    snprintf(text.remark, sizeof text.remark, "%s", count_remark(diff, weight));
    nytp_diff_text(diff, base, weight, text.base, sizeof text.base);
    nytp_diff_text(diff, now, weight, text.now, sizeof text.now);
    nytp_diff_percent(base, now, text.change, sizeof text.change);
    return text;
}

/* ---- the list ---- */

#define LEAST_EXPLANATION 0.05 /* of the total's change */

struct keyed_row {
    const struct nytp_diff_row *row;
    int64_t key, ticks; /* changes */
};

/* Rows are sorted by name: their address breaks ties. */
static int by_key(const void *x, const void *y)
{
    const struct keyed_row *a = x, *b = y;
    NYTP_RETURN_ORDER(b->key, a->key);
    NYTP_RETURN_ORDER(b->ticks, a->ticks);
    return (a->row > b->row) - (a->row < b->row);
}

static int64_t size_of_change(const struct nytp_diff_row *row, enum nytp_weight weight)
{
    const int64_t change = nytp_diff_change(row, weight);
    return change < 0 ? -change : change;
}

/* Returns true if the row is a twentieth or more of the total's significant change, although
 * its own change is not significant. */
static bool explains_total(const struct nytp_diff *diff, const struct nytp_diff_row *row)
{
    const int64_t total = nytp_diff_change(&diff->total, NYTP_WEIGHT_TIME);
    const int64_t change = nytp_diff_change(row, NYTP_WEIGHT_TIME);
    return diff->tested && diff->total.significant && row->p >= 0 && !row->significant &&
           (change < 0) == (total < 0) && (double)change / (double)total >= LEAST_EXPLANATION;
}

bool nytp_diff_is_listed(const struct nytp_diff *diff, const struct nytp_diff_row *row,
                         enum nytp_weight weight)
{
    const bool times = weight == NYTP_WEIGHT_TIME && diff->base_has_times && !diff->tested;
    return row->status != NYTP_DIFF_EQUAL || row->significant || explains_total(diff, row) ||
           ((times || nytp_weight_is_memory(weight)) && nytp_diff_change(row, weight) != 0);
}

bool nytp_diff_list_init(struct nytp_diff_list *list, const struct nytp_diff *diff,
                         const struct nytp_export_options *options)
{
    const enum nytp_weight weight = nytp_diff_weight(options);
    struct keyed_row *keyed = malloc(((size_t)diff->n_rows + 1) * sizeof *keyed);
    *list = (struct nytp_diff_list){
        .rows = malloc(((size_t)diff->n_rows + 1) * sizeof(struct nytp_diff_row *))};
    const bool ok = keyed != NULL && list->rows != NULL;
    for (uint32_t i = 0; ok && i < diff->n_rows; i++)
        if (nytp_diff_is_listed(diff, &diff->rows[i], weight))
            keyed[list->n++] =
                (struct keyed_row){&diff->rows[i], size_of_change(&diff->rows[i], weight),
                                   size_of_change(&diff->rows[i], NYTP_WEIGHT_TIME)};
    if (ok && list->n > 0)
        qsort(keyed, list->n, sizeof *keyed, by_key);
    for (uint32_t i = 0; i < list->n; i++)
        list->rows[i] = keyed[i].row;
    free(keyed);
    if (!ok)
        nytp_diff_list_free(list);
    return ok;
}

void nytp_diff_list_free(struct nytp_diff_list *list)
{
    free(list->rows);
    *list = (struct nytp_diff_list){0};
}

/* ---- texts ---- */

void nytp_diff_title(const struct nytp_diff *diff, char *text, size_t size)
{
    const struct nytp_recording *recording = &diff->profile->recordings[0];
    const struct nytp_name name = nytp_base_name(
        recording->application.len > 0 ? recording->application : recording->path);
    const uint32_t n_base = diff->n_runs[NYTP_DIFF_BASE], n_new = diff->n_runs[NYTP_DIFF_NEW];
    const int len = (int)nytp_utf8_whole(name.ptr, name.len, MOST_OF_TITLE);
    if (n_base == 1 && n_new == 1)
        snprintf(text, size, "%.*s: 1 run against 1", len, name.ptr);
    else
        snprintf(text, size, "%.*s: %lu run%s against %lu", len, name.ptr, (unsigned long)n_new,
                 n_new == 1 ? "" : "s", (unsigned long)n_base);
}

void nytp_diff_percent(int64_t base, int64_t now, char *text, size_t size)
{
    if (base == now)
        snprintf(text, size, "0");
    else if (base == 0)
        snprintf(text, size, "new");
    else
        snprintf(text, size, "%+.1f %%",
                 ((double)now - (double)base) / fabs((double)base) * 100);
}

void nytp_diff_time(const struct nytp_diff *diff, int64_t ticks, bool sign, char *text,
                    size_t size)
{
    static const char *const units[] = {"s", "ms", "us", "ns"};
    if (!diff->has_times) {
        snprintf(text, size, "-");
        return;
    }
    double value = (double)ticks / (double)diff->ticks_per_sec;
    size_t i = 0;
    while (ticks != 0 && i < 3 && value < 0.9995 && value > -0.9995) {
        value *= 1000;
        i++;
    }
    const double absolute = value < 0 ? -value : value;
    const int decimals = absolute >= 99.95 || ticks == 0 ? 0 : absolute >= 9.995 ? 1 : 2;
    snprintf(text, size, sign && ticks != 0 ? "%+.*f %s" : "%.*f %s", decimals, value,
             units[i]);
}

void nytp_diff_text(const struct nytp_diff *diff, int64_t value, enum nytp_weight weight,
                    char *text, size_t size)
{
    if (weight == NYTP_WEIGHT_TIME)
        nytp_diff_time(diff, value, false, text, size);
    else if (nytp_weight_is_space(weight))
        nytp_bytes_text(value, text, size);
    else
        snprintf(text, size, "%lld", (long long)value);
}

void nytp_diff_time_change(const struct nytp_diff *diff, const struct nytp_diff_row *row,
                           char *text, size_t size)
{
    char change[40], noise[40];
    const int64_t ticks = nytp_diff_change(row, NYTP_WEIGHT_TIME);
    nytp_diff_time(diff, ticks, true, change, sizeof change);
    nytp_diff_time(diff, row->noise_ticks, false, noise, sizeof noise);
    if (!diff->base_has_times)
        snprintf(text, size, "-");
    else if (!diff->tested)
        snprintf(text, size, ticks != 0 ? "%s ?" : "%s", change);
    else if (row->significant)
        snprintf(text, size, "%s ±%s", change, noise);
    else if (explains_total(diff, row))
        snprintf(text, size, "%s p=%.2g", change, row->p);
    else
        snprintf(text, size, "~");
}

static const char *no_times(const struct nytp_diff *diff)
{
    return diff->has_times ? "the base has no times" : "no times were recorded (counts=1)";
}

void nytp_diff_answer(const struct nytp_diff *diff, char *text, size_t size)
{
    const struct nytp_diff_row *total = &diff->total;
    const int64_t base = total->median[NYTP_DIFF_BASE].ticks;
    const int64_t now = total->median[NYTP_DIFF_NEW].ticks;
    char was[40], is[40], change[40], runs[60], interval[80] = "";
    nytp_diff_time(diff, base, false, was, sizeof was);
    nytp_diff_time(diff, now, false, is, sizeof is);
    nytp_diff_percent(base, now, change, sizeof change);
    snprintf(runs, sizeof runs, "%lu run%s against %lu",
             (unsigned long)diff->n_runs[NYTP_DIFF_NEW],
             diff->n_runs[NYTP_DIFF_NEW] == 1 ? "" : "s",
             (unsigned long)diff->n_runs[NYTP_DIFF_BASE]);
    if (diff->factor[0] > 0)
        snprintf(interval, sizeof interval, " (95 %%: %+.1f to %+.1f)",
                 (diff->factor[0] - 1) * 100, (diff->factor[1] - 1) * 100);
    if (!diff->base_has_times)
        snprintf(text, size, "counts only: %s", no_times(diff));
    else if (!diff->tested)
        snprintf(text, size, "too few runs to tell: %s -> %s in %s, 4 on each side are needed",
                 was, is, runs);
    else if (total->significant)
        snprintf(text, size, "%s: %s -> %s, %s%s, %s", now < base ? "faster" : "slower", was,
                 is, change, interval, runs);
    else
        snprintf(text, size, "no difference that %s could show%s", runs, interval);
}

static void put_time_remark(const struct nytp_diff *diff, char *text, size_t size)
{
    const int64_t base = diff->total.median[NYTP_DIFF_BASE].ticks;
    const double noise = base > 0 ? (double)diff->total.noise_ticks / (double)base * 100 : 0;
    if (!diff->base_has_times)
        snprintf(text, size, "%s",
                 diff->has_times ? "the base holds counts only" : no_times(diff));
    else if (!diff->tested)
        snprintf(text, size, "too few runs to tell (4 each needed)");
    else
        snprintf(text, size, "p=%.2g, noise ±%.1f %%", diff->total.p, noise);
}

struct nytp_diff_total_text nytp_diff_time_total(const struct nytp_diff *diff)
{
    const int64_t base = diff->total.median[NYTP_DIFF_BASE].ticks;
    const int64_t now = diff->total.median[NYTP_DIFF_NEW].ticks;
    struct nytp_diff_total_text text = {.label = "time", .change = "~"};
    if (diff->base_has_times)
        nytp_diff_time(diff, base, false, text.base, sizeof text.base);
    nytp_diff_time(diff, now, false, text.now, sizeof text.now);
    if (diff->base_has_times && (!diff->tested || diff->total.significant))
        nytp_diff_percent(base, now, text.change, sizeof text.change);
    put_time_remark(diff, text.remark, sizeof text.remark);
    return text;
}

void nytp_diff_summary(const struct nytp_diff *diff, char *text, size_t size)
{
    const uint32_t changed = diff->n_of_status[NYTP_DIFF_CHANGED];
    const uint32_t equal = diff->n_of_status[NYTP_DIFF_EQUAL];
    const uint32_t uncalled = diff->n_of_status[NYTP_DIFF_UNCALLED];
    const uint32_t renamed = diff->n_of_status[NYTP_DIFF_RENAMED];
    uint32_t in_time = 0;
    char not_called[32] = "", others[64] = "", times[48] = "";
    for (uint32_t i = 0; i < diff->n_rows; i++)
        in_time += diff->rows[i].status == NYTP_DIFF_EQUAL && diff->rows[i].significant;
    if (uncalled > 0)
        snprintf(not_called, sizeof not_called, ", %lu not called", (unsigned long)uncalled);
    if (renamed > 0)
        snprintf(others, sizeof others, ", %lu renamed", (unsigned long)renamed);
    if (in_time > 0)
        snprintf(times, sizeof times, ", %lu of these changed in time", (unsigned long)in_time);
    snprintf(text, size,
             "%lu sub%s changed, %lu new, %lu gone%s%s; %lu sub%s equal in every count%s",
             (unsigned long)changed, changed == 1 ? "" : "s",
             (unsigned long)diff->n_of_status[NYTP_DIFF_ADDED],
             (unsigned long)diff->n_of_status[NYTP_DIFF_GONE], not_called, others,
             (unsigned long)equal, equal == 1 ? "" : "s", times);
}

void nytp_diff_place(const struct nytp_diff_row *row, char *text, size_t size)
{
    char line[16] = "";
    if (row->shown_file.len > 0 && row->line > 0)
        snprintf(line, sizeof line, ":%lu", (unsigned long)row->line);
    const size_t most = size - strlen(line) - 1;
    size_t skip = row->shown_file.len > most ? row->shown_file.len - most : 0;
    while (skip > 0 && skip < row->shown_file.len &&
           nytp_utf8_inside(row->shown_file.ptr[skip]))
        skip++;
    snprintf(text, size, "%.*s%s", (int)(row->shown_file.len - skip),
             row->shown_file.ptr + skip, line);
}
