/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Sorts the calls of each sub by their length, and sums up the first and the last of them; see
 * spread.h.
 */
#include "spread.h"
#include "exporters/base/text.h"

#include <stdio.h>
#include <stdlib.h>

#define LEAST_CALLS   10
#define WIDE_COLUMNS  83 /* the numbers and the gaps between them */
#define FEW_COLUMNS   57 /* those of a narrow terminal */
#define TREND_COLUMNS 8
#define LEAST_PLACE   12

/* ---- the numbers ---- */

static int by_length(const void *x, const void *y)
{
    const int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

/* The length that `per_mille` of all calls do not exceed; the `missing` ones are the shortest.
 */
static int64_t at_rank(const int64_t *sorted, uint32_t n, uint64_t missing, uint64_t per_mille)
{
    const uint64_t calls = n + missing;
    const uint64_t rank = (calls * per_mille + 999) / 1000 - 1;
    return rank >= missing && rank < calls ? sorted[rank - missing] : -1;
}

/* Not the mean: a single call that was interrupted decides nothing. */
static int64_t middle_of(int64_t *lengths, uint32_t n)
{
    qsort(lengths, n, sizeof *lengths, by_length);
    return at_rank(lengths, n, 0, 500);
}

static struct nytp_spread spread_of(int64_t *lengths, uint32_t n, uint64_t calls)
{
    struct nytp_spread spread = {-1, -1, -1, -1, -1};
    const uint64_t missing = calls > n ? calls - n : 0;
    if (n == 0)
        return spread;
    if (missing == 0 && n >= LEAST_CALLS) {
        spread.first = middle_of(lengths, n / 10);
        spread.last = middle_of(lengths + n - n / 10, n / 10);
    }
    qsort(lengths, n, sizeof *lengths, by_length);
    spread.median = at_rank(lengths, n, missing, 500);
    spread.p95 = at_rank(lengths, n, missing, 950);
    spread.max = lengths[n - 1];
    return spread;
}

struct nytp_spread *nytp_spread_by_sub(const struct nytp_profile *profile)
{
    const uint32_t n_subs = profile->n_subs;
    struct nytp_spread *spreads = malloc(((size_t)n_subs + 1) * sizeof *spreads);
    uint32_t *ends = calloc((size_t)n_subs + 1, sizeof *ends);
    int64_t *lengths = malloc(((size_t)profile->n_spans + 1) * sizeof *lengths);
    const bool ok = spreads != NULL && ends != NULL && lengths != NULL;
    for (uint32_t i = 0; ok && i < profile->n_spans; i++)
        ends[profile->nodes[profile->spans[i].node].sub]++;
    for (uint32_t sub = 0, begin = 0; ok && sub < n_subs; sub++) {
        const uint32_t n = ends[sub];
        ends[sub] = begin;
        begin += n;
    }
    for (uint32_t i = 0; ok && i < profile->n_spans; i++) {
        const struct nytp_span *span = &profile->spans[i];
        lengths[ends[profile->nodes[span->node].sub]++] = span->end_ticks - span->start_ticks;
    }
    for (uint32_t sub = 0; ok && sub < n_subs; sub++) {
        const uint32_t begin = sub > 0 ? ends[sub - 1] : 0;
        spreads[sub] = spread_of(lengths + begin, ends[sub] - begin, profile->subs[sub].calls);
    }
    free(ends);
    free(lengths);
    if (!ok)
        free(spreads);
    return ok ? spreads : NULL;
}

/* ---- the table ---- */

struct row {
    const struct nytp_sub *sub;
    const struct nytp_spread *spread;
};

static int by_self(const void *x, const void *y)
{
    const struct row *a = x, *b = y;
    if (a->sub->excl_ticks != b->sub->excl_ticks)
        return a->sub->excl_ticks < b->sub->excl_ticks ? 1 : -1;
    return (a->sub > b->sub) - (a->sub < b->sub);
}

static void put_time(struct nytp_out *out, const struct nytp_profile *profile,
                     const struct nytp_export_options *options, int64_t ticks, int width)
{
    if (ticks < 0)
        nytp_printf(out, "%*s", width, "-");
    else
        nytp_text_time(out, ticks, profile->ticks_per_sec, options->unit, width);
}

static void put_trend(struct nytp_out *out, const struct nytp_spread *spread)
{
    char text[24] = "-";
    const double trend = spread->first > 0 ? (double)spread->last / (double)spread->first : -1;
    if (trend >= 0)
        snprintf(text, sizeof text, trend < 9.95 ? "x%.1f" : "x%.0f", trend);
    nytp_printf(out, "%*s ", TREND_COLUMNS - 1, text);
}

/* Where the sub begins, as far as that is known and there is room for most of it. */
static void put_place(struct nytp_out *out, const struct nytp_profile *profile,
                      const struct nytp_export_options *options, const struct nytp_sub *sub,
                      uint32_t room)
{
    char buffer[4096];
    const struct nytp_name place = nytp_text_place_in(profile, sub->file, sub->first_line,
                                                      options->columns, buffer, sizeof buffer);
    if (place.len == 0 || room < LEAST_PLACE + 2)
        return;
    nytp_puts(out, "  ");
    nytp_text_style(out, options->color, NYTP_STYLE_DIM);
    nytp_text_put_tail(out, place, room == UINT32_MAX ? 0 : room - 2);
    nytp_text_style(out, options->color, NYTP_STYLE_PLAIN);
}

static void put_row(struct nytp_out *out, const struct nytp_profile *profile,
                    const struct nytp_export_options *options, const struct row *row)
{
    const struct nytp_sub *sub = row->sub;
    const bool narrow = nytp_text_is_narrow(options->columns);
    const int width = narrow ? 10 : 11;
    nytp_text_time(out, sub->excl_ticks, profile->ticks_per_sec, options->unit, 10);
    nytp_printf(out, " %8llu", (unsigned long long)sub->calls);
    put_time(out, profile, options, row->spread->median, width);
    put_time(out, profile, options, row->spread->p95, width);
    put_time(out, profile, options, row->spread->max, width);
    if (!narrow) {
        put_time(out, profile, options, row->spread->first, 11);
        put_time(out, profile, options, row->spread->last, 11);
    }
    put_trend(out, row->spread);
    const uint32_t fixed = narrow ? FEW_COLUMNS : WIDE_COLUMNS;
    const uint32_t room = options->columns > fixed + 8 ? options->columns - fixed : 8;
    const uint32_t used = nytp_text_put_tail(out, sub->name, options->columns > 0 ? room : 0);
    if (!narrow)
        put_place(out, profile, options, sub, options->columns > 0 ? room - used : UINT32_MAX);
    nytp_putc(out, '\n');
}

static void put_titles(struct nytp_out *out, const struct nytp_export_options *options)
{
    nytp_text_style(out, options->color, NYTP_STYLE_BOLD);
    if (nytp_text_is_narrow(options->columns))
        nytp_puts(out, "      self    calls    median       p95       max  trend sub");
    else
        nytp_puts(out, "      self    calls     median        p95        max"
                       "  first 10%   last 10%  trend sub");
    nytp_text_style(out, options->color, NYTP_STYLE_PLAIN);
    nytp_putc(out, '\n');
}

static void put_rest(struct nytp_out *out, const struct nytp_profile *profile,
                     const struct nytp_export_options *options, const struct row *rows,
                     uint32_t n)
{
    int64_t ticks = 0;
    uint64_t calls = 0;
    for (uint32_t i = 0; i < n; i++) {
        ticks += rows[i].sub->excl_ticks;
        calls += rows[i].sub->calls;
    }
    nytp_text_time(out, ticks, profile->ticks_per_sec, options->unit, 10);
    nytp_printf(out, " %8llu (%lu more subs)\n", (unsigned long long)calls, (unsigned long)n);
}

/* Of the process that had the most. */
static void put_memory(struct nytp_out *out, const struct nytp_profile *profile)
{
    const struct nytp_process *most = NULL;
    for (uint32_t i = 0; i < profile->n_processes; i++)
        if (profile->processes[i].memory_peak > (most != NULL ? most->memory_peak : 0))
            most = &profile->processes[i];
    if (most == NULL)
        return;
    nytp_puts(out, "memory: ");
    nytp_text_bytes(out, most->memory_peak, 0);
    nytp_puts(out, " at most, ");
    nytp_text_bytes(out, most->memory_start, 0);
    nytp_puts(out, " at the start");
    if (profile->n_processes > 1)
        nytp_printf(out, " (pid %lu)", (unsigned long)most->pid);
    nytp_putc(out, '\n');
}

bool nytp_put_spread(const struct nytp_profile *profile,
                     const struct nytp_export_options *options, uint32_t wanted,
                     struct nytp_out *out)
{
    struct nytp_spread *spreads = nytp_spread_by_sub(profile);
    struct row *rows = malloc(((size_t)profile->n_subs + 1) * sizeof *rows);
    uint32_t n = 0;
    for (uint32_t i = 0; spreads != NULL && rows != NULL && i < profile->n_subs; i++)
        if (profile->subs[i].calls > 0 || profile->subs[i].excl_ticks != 0)
            rows[n++] = (struct row){&profile->subs[i], &spreads[i]};
    if (n > 0)
        qsort(rows, n, sizeof *rows, by_self);
    const uint32_t shown = n < wanted ? n : wanted;
    put_titles(out, options);
    for (uint32_t i = 0; i < shown; i++)
        put_row(out, profile, options, &rows[i]);
    if (shown < n)
        put_rest(out, profile, options, rows + shown, n - shown);
    put_memory(out, profile);
    const bool ok = spreads != NULL && rows != NULL;
    free(spreads);
    free(rows);
    return ok ? out->error.status == NYTP_OK : nytp_out_of_memory(&out->error);
}
