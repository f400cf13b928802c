/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Sorts the calls of each sub by their length, and sums up the first and the last of them; see
 * spread.h.
 */
#include "spread.h"
#include "exporters/table/sheet.h"

#include <stdlib.h>

#define LEAST_CALLS 10

/* ---- the numbers ---- */

static int by_length(const void *x, const void *y)
{
    const int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

/* The length that `per_mille` of all calls do not exceed; `missing` ones are the shortest. */
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

enum {
    SELF,
    CALLS,
    MEDIAN,
    P95,
    MAX,
    FIRST,
    LAST,
    TREND,
    NAME,
    PLACE
};

static const struct nytp_column columns[] = {
    [SELF] = {"exclusive", "self", NYTP_CELL_TICKS, 10, 10, .is_summed = true},
    [CALLS] = {"calls", "calls", NYTP_CELL_COUNT, 9, 9, .is_summed = true},
    [MEDIAN] = {"median", "median", NYTP_CELL_TICKS, 11, 10},
    [P95] = {"p95", "p95", NYTP_CELL_TICKS, 11, 10},
    [MAX] = {"max", "max", NYTP_CELL_TICKS, 11, 10},
    [FIRST] = {"first", "first 10%", NYTP_CELL_TICKS, 11},
    [LAST] = {"last", "last 10%", NYTP_CELL_TICKS, 11},
    [TREND] = {"", "trend", NYTP_CELL_RATIO, 7, 7},
    [NAME] = {"sub", "sub", NYTP_CELL_CODE},
    [PLACE] = {"", "", NYTP_CELL_PLACE, .joins = true},
};

static void fill(const struct nytp_sheet *sheet, uint32_t row, struct nytp_cell *cells)
{
    const struct nytp_spread *const spread = &((const struct nytp_spread *)sheet->context)[row];
    const struct nytp_sub *const sub = &sheet->profile->subs[row];
    const int64_t ticks[] = {sub->excl_ticks, (int64_t)sub->calls, spread->median,
                             spread->p95,     spread->max,         spread->first,
                             spread->last,    spread->last};
    for (int i = SELF; i <= TREND; i++)
        cells[i] = (struct nytp_cell){
            .value = ticks[i], .of = spread->first, .is_none = i > CALLS && ticks[i] < 0};
    cells[NAME].text = sub->name;
    cells[PLACE] = (struct nytp_cell){.file = sub->file, .line = sub->first_line};
}

static void put_name(const struct nytp_sheet *sheet, uint32_t row, uint32_t pad, uint32_t room,
                     struct nytp_out *out)
{
    const struct nytp_sub *const sub = &sheet->profile->subs[row];
    const struct nytp_named named = {sub->name, sheet->is_narrow ? 0 : sub->file,
                                     sub->first_line};
    (void)room;
    nytp_text_pad(out, pad);
    nytp_text_named(out, sheet->profile, sheet->options, &named, nytp_sheet_fixed(sheet));
}

/* Prints the peak of the process that had the most. */
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
    uint32_t *rows = malloc(((size_t)profile->n_subs + 1) * sizeof *rows), n = 0;
    struct nytp_sheet sheet = nytp_sheet_of(profile, options, columns, PLACE + 1);
    for (uint32_t i = 0; spreads != NULL && rows != NULL && i < profile->n_subs; i++)
        if (profile->subs[i].calls > 0 || profile->subs[i].excl_ticks != 0)
            rows[n++] = i;
    sheet.name = "subs";
    sheet.more = "more subs";
    sheet.is_narrow = nytp_text_is_narrow(options->columns);
    sheet.context = spreads;
    sheet.rows = rows;
    sheet.n = n;
    sheet.wanted = wanted;
    sheet.fill = fill;
    sheet.tail = put_name;
    const bool ok = spreads != NULL && rows != NULL && nytp_sheet_sort(&sheet, SELF, rows, n);
    if (ok && !nytp_sheets_put(&sheet, 1, out)) {
        nytp_sheet_put_text(&sheet, out);
        put_memory(out, profile);
    }
    free(spreads);
    free(rows);
    return ok ? out->error.status == NYTP_OK : nytp_out_of_memory(&out->error);
}
