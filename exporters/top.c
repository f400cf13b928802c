/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The subs with the most time, as a table for the terminal. The last line sums up what is left
 * out, so that the self column always adds up to the total.
 */
#include "exporters/compare/diff_formats.h"
#include "exporters/base/exporter.h"
#include "exporters/stacks/hot_lines.h"
#include "exporters/stacks/inclusive.h"
#include "exporters/stacks/samples.h"
#include "exporters/stacks/spread.h"
#include "exporters/base/text.h"
#include "exporters/base/waits.h"

#include "formats/build/correction.h"
#include "formats/model/svs.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_ROWS  20
#define FIXED_COLUMNS 55  /* the numbers and gaps */
#define FEW_COLUMNS   31  /* the same on a narrow terminal */
#define MIN_NAME      16  /* least columns for a name, and for a place */
#define MOST_ALIGNED  200 /* in a file, places are aligned behind names up to this width */
#define WAIT_COLUMNS  10
#define CPU_COLUMNS   10
#define SVS_COLUMNS   20
#define OPS_COLUMNS   11
#define CALL_COLUMNS  10 /* time per call, which samples do not have */
#define HOT_PERCENT   10 /* of the total: subs with more exclusive time are coloured */

enum order {
    BY_SELF,
    BY_INCL,
    BY_CALLS,
    BY_PERCALL,
    BY_NAME,
    BY_SVS,
    BY_OPS,
    BY_BYTES /* and the other measures behind it */
};

struct row {
    const struct nytp_sub *sub;
    uint64_t count; /* of calls, or of samples if these are counted */
    double key;     /* descending */
};

static unsigned order_of(const char *sort)
{
    static const char *const names[] = {"self", "incl", "calls", "percall",
                                        "name", "svs",  "ops"};
    for (size_t i = 0; sort != NULL && i < sizeof names / sizeof *names; i++)
        if (strcmp(sort, names[i]) == 0)
            return (unsigned)i;
    const enum nytp_bytes_measure measure = nytp_bytes_measure_of(sort);
    return measure < NYTP_N_BYTES_MEASURES ? BY_BYTES + measure : BY_SELF;
}

static double key_of(const struct nytp_sub *sub, uint64_t count, unsigned order)
{
    if (order >= BY_BYTES)
        return (double)sub->bytes.of[order - BY_BYTES];
    switch (order) {
    case BY_SELF:
        return (double)sub->excl_ticks;
    case BY_INCL:
        return (double)sub->incl_ticks;
    case BY_CALLS:
        return (double)count;
    case BY_PERCALL:
        return sub->calls > 0 ? (double)sub->incl_ticks / (double)sub->calls : 0;
    case BY_SVS:
        return (double)sub->svs;
    case BY_OPS:
        return (double)(sub->statements + sub->calls);
    default: /* by name */
        return 0;
    }
}

/* Subs are sorted by name: their address breaks ties. */
static int by_key(const void *x, const void *y)
{
    const struct row *a = x, *b = y;
    if (a->key != b->key)
        return a->key < b->key ? 1 : -1;
    return (a->sub > b->sub) - (a->sub < b->sub);
}

/* Makes sorted rows of all subs with anything to show. `samples` is by sub, or NULL if calls
 * are counted. Returns how many. */
static uint32_t list_rows(const struct nytp_profile *profile, unsigned order,
                          const uint64_t *samples, struct row *rows)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < profile->n_subs; i++) {
        const struct nytp_sub *sub = &profile->subs[i];
        if (sub->calls == 0 && sub->excl_ticks == 0 && sub->incl_ticks == 0 && sub->svs == 0 &&
            nytp_bytes_are_none(sub->bytes))
            continue;
        const uint64_t count = samples != NULL ? samples[i] : sub->calls;
        rows[n++] = (struct row){sub, count, key_of(sub, count, order)};
    }
    if (n > 0)
        qsort(rows, n, sizeof *rows, by_key);
    return n;
}

static void put_time_or_none(struct nytp_out *out, const struct nytp_profile *profile,
                             const struct nytp_export_options *options, int64_t ticks)
{
    if (ticks == 0)
        nytp_printf(out, "%*s", WAIT_COLUMNS - 1, "-");
    else
        nytp_text_time(out, ticks, profile->ticks_per_sec, options->unit, WAIT_COLUMNS - 1);
    nytp_putc(out, ' ');
}

/* Optional columns. */
struct more_columns {
    const int64_t *waits; /* by sub, or NULL for none */
    const double *costs;  /* by sub: recording cost that was subtracted */
    const uint64_t *svs;  /* by sub: inclusive; or NULL for none */
    enum nytp_memory_columns memory;
    bool cpu, per_call, few, ops;
};

static uint32_t fixed_columns(const struct more_columns *more)
{
    const uint32_t cpu = (more->cpu ? CPU_COLUMNS : 0) + (more->ops ? OPS_COLUMNS : 0) +
                         (more->svs != NULL ? SVS_COLUMNS : 0);
    if (more->few)
        return FEW_COLUMNS + cpu;
    return FIXED_COLUMNS + (more->waits != NULL ? WAIT_COLUMNS : 0) + cpu -
           (more->per_call ? 0 : CALL_COLUMNS);
}

/* Returns the width for names: the longest name, or the terminal's width minus a place. In a
 * file names are whole, and one enormous name does not push all places away. */
static uint32_t name_columns(const struct nytp_profile *profile, const struct row *rows,
                             uint32_t n, uint32_t columns, const struct more_columns *more)
{
    const uint32_t fixed = fixed_columns(more);
    uint32_t longest = 4, longest_place = MIN_NAME;
    char buffer[4096];
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t width = nytp_text_width(rows[i].sub->name);
        const uint32_t place = nytp_text_width(
            nytp_text_place_in(profile, rows[i].sub->file, rows[i].sub->first_line, columns,
                               buffer, sizeof buffer));
        longest = width > longest ? width : longest;
        longest_place = place > longest_place ? place : longest_place;
    }
    if (columns == 0)
        return longest < MOST_ALIGNED ? longest : MOST_ALIGNED;
    const uint32_t left = columns > fixed + MIN_NAME ? columns - fixed : MIN_NAME;
    const uint32_t place = longest_place + 2 < left / 2 ? longest_place + 2 : left / 3;
    const uint32_t most = left > 2 * MIN_NAME + 2 ? left - place : left;
    return longest < most ? longest : most;
}

/* Drops leading packages until the name fits. */
static struct nytp_name in_room(struct nytp_name name, uint32_t columns)
{
    uint32_t width = nytp_text_width(name), begin = 0;
    for (uint32_t i = 0; width > columns && i + 2 < name.len && name.ptr[i] != '['; i++) {
        if (name.ptr[i] != ':' || name.ptr[i + 1] != ':')
            continue;
        i++;
        width -= nytp_text_width((struct nytp_name){name.ptr + begin, i + 1 - begin});
        begin = i + 1;
    }
    return (struct nytp_name){name.ptr + begin, name.len - begin};
}

/* Returns true if the recording cost exceeds the rest, unless both are negligible. */
static bool is_mostly_cost(const struct nytp_profile *profile, const struct nytp_sub *sub,
                           const struct more_columns *more)
{
    const double rest = (double)sub->excl_ticks, cost = more->costs[sub - profile->subs];
    return cost > rest && (cost + rest) * 100 > (double)profile->total_ticks;
}

/* Writes the exclusive time, marked if it is approximate. */
static void put_self(struct nytp_out *out, const struct nytp_profile *profile,
                     const struct nytp_export_options *options, const struct nytp_sub *sub,
                     const struct more_columns *more)
{
    const int width = more->few ? 8 : 10;
    if (options->unit == NULL && is_mostly_cost(profile, sub, more))
        nytp_text_about(out, sub->excl_ticks, profile->ticks_per_sec, width);
    else
        nytp_text_time(out, sub->excl_ticks, profile->ticks_per_sec, options->unit, width);
    nytp_putc(out, ' ');
    nytp_text_percent(out, sub->excl_ticks, profile->total_ticks);
}

static void put_row(struct nytp_out *out, const struct nytp_profile *profile,
                    const struct nytp_export_options *options, const struct row *row,
                    uint32_t name_width, const struct more_columns *more)
{
    const struct nytp_sub *sub = row->sub;
    const int64_t rate = profile->ticks_per_sec;
    const bool hot = sub->excl_ticks > profile->total_ticks / 100 * HOT_PERCENT;
    put_self(out, profile, options, sub, more);
    if (!more->few)
        nytp_text_time(out, sub->incl_ticks, rate, options->unit, 11);
    nytp_putc(out, ' ');
    nytp_text_percent(out, sub->incl_ticks, profile->total_ticks);
    nytp_printf(out, " %*llu ", more->few ? 7 : 8, (unsigned long long)row->count);
    if (more->per_call && !more->few) {
        nytp_text_per_call(out, sub->incl_ticks, sub->calls, rate, options->unit, 9);
        nytp_putc(out, ' ');
    }
    if (more->cpu)
        put_time_or_none(out, profile, options, sub->cpu_ticks);
    if (more->waits != NULL)
        put_time_or_none(out, profile, options, more->waits[sub - profile->subs]);
    if (more->ops)
        nytp_printf(out, "%10llu ", (unsigned long long)(sub->statements + sub->calls));
    if (more->svs != NULL)
        nytp_text_memory(out, more->memory, sub->svs, (int64_t)more->svs[sub - profile->subs],
                         sub->bytes);

    nytp_text_style(out, options->color, hot ? NYTP_STYLE_HOT : NYTP_STYLE_PLAIN);
    const uint32_t width =
        options->columns > 0
            ? nytp_text_put_tail(out, in_room(sub->name, name_width), name_width)
            : nytp_text_put_tail(out, sub->name, 0);
    nytp_text_style(out, options->color, NYTP_STYLE_PLAIN);

    char buffer[4096];
    const struct nytp_name place = nytp_text_place_in(profile, sub->file, sub->first_line,
                                                      options->columns, buffer, sizeof buffer);
    const uint32_t used = fixed_columns(more) + name_width + 2;
    const bool fits = options->columns == 0 || options->columns >= used + MIN_NAME;
    if (place.len > 0 && fits) {
        nytp_text_pad(out, width < name_width ? name_width - width + 2 : 2);
        nytp_text_style(out, options->color, NYTP_STYLE_DIM);
        nytp_text_put_tail(out, place, options->columns > 0 ? options->columns - used : 0);
        nytp_text_style(out, options->color, NYTP_STYLE_PLAIN);
    }
    nytp_putc(out, '\n');
}

static void put_rest(struct nytp_out *out, const struct nytp_profile *profile,
                     const struct nytp_export_options *options, const struct row *rows,
                     uint32_t n, const struct more_columns *more)
{
    int64_t ticks = 0;
    uint64_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        ticks += rows[i].sub->excl_ticks;
        count += rows[i].count;
    }
    nytp_text_time(out, ticks, profile->ticks_per_sec, options->unit, more->few ? 8 : 10);
    nytp_putc(out, ' ');
    nytp_text_percent(out, ticks, profile->total_ticks);
    nytp_printf(out, "%*s %*llu %*s(%lu more subs)\n", more->few ? 7 : 18, "",
                more->few ? 7 : 8, (unsigned long long)count,
                more->per_call && !more->few ? CALL_COLUMNS : 0, "", (unsigned long)n);
}

/* Returns, by sub, the waits in it or below. Returns NULL if they are less than a percent of
 * the whole, the terminal has no room, or on failure, with out->error set. */
static int64_t *waits_to_show(const struct nytp_profile *profile,
                              const struct nytp_export_options *options, struct nytp_out *out)
{
    struct nytp_waits waits;
    int64_t *by_sub = NULL;
    const bool room = !nytp_text_is_narrow(options->columns);
    const bool known = nytp_waits_init(&waits, profile, options->waits, &out->error);
    if (known && room && waits.ticks > 0 && waits.ticks >= profile->total_ticks / 100) {
        by_sub = nytp_waits_by_sub(&waits, profile);
        if (by_sub == NULL)
            nytp_out_of_memory(&out->error);
    }
    nytp_waits_free(&waits);
    return by_sub;
}

static void put_titles(struct nytp_out *out, const struct nytp_profile *profile,
                       const struct nytp_export_options *options,
                       const struct more_columns *more)
{
    const char *const counted =
        nytp_is_of_samples(profile) ? "samples" : nytp_text_calls(profile);
    nytp_text_style(out, options->color, NYTP_STYLE_BOLD);
    if (more->few)
        nytp_printf(out, "    self  self%%  incl%% %7s ", counted);
    else
        nytp_printf(out, "      self  self%%       incl  incl%% %8s %s", counted,
                    more->per_call ? " per call " : "");
    nytp_printf(out, "%s%s%s", more->cpu ? "      cpu " : "",
                more->waits != NULL ? "     wait " : "", more->ops ? "       ops " : "");
    nytp_text_memory_title(out, more->memory, "      SVs  incl SVs ");
    nytp_puts(out, "sub");
    nytp_text_style(out, options->color, NYTP_STYLE_PLAIN);
    nytp_putc(out, '\n');
}

static void explain_mark(struct nytp_out *out, const struct nytp_profile *profile,
                         const struct nytp_export_options *options, const struct row *rows,
                         uint32_t n, const struct more_columns *more)
{
    for (uint32_t i = 0; options->unit == NULL && i < n; i++) {
        if (!is_mostly_cost(profile, rows[i].sub, more))
            continue;
        nytp_puts(out, "~ recording took more than is left: NYTPROF=sample=1000 is nearer\n");
        return;
    }
}

static bool top_write(const struct nytp_profile *profile,
                      const struct nytp_export_options *options, struct nytp_out *out)
{
    const uint32_t wanted = options->top > 0 ? options->top : DEFAULT_ROWS;
    if (options->lines || options->spread) {
        nytp_text_headline(out, profile, options);
        return options->lines ? nytp_put_hot_lines(profile, options, wanted, out)
                              : nytp_put_spread(profile, options, wanted, out);
    }
    const bool of_samples = nytp_is_of_samples(profile);
    struct row *rows = malloc(((size_t)profile->n_subs + 1) * sizeof *rows);
    uint64_t *samples = of_samples ? nytp_samples_by_sub(profile) : NULL;
    double *costs = nytp_recording_by_sub(profile);
    const bool has_svs = (profile->has & NYTP_HAS_SVS) != 0;
    uint64_t *svs = has_svs ? nytp_inclusive_of_subs(profile, nytp_line_svs) : NULL;
    if (rows == NULL || costs == NULL || (of_samples && samples == NULL) ||
        (has_svs && svs == NULL)) {
        free(svs);
        free(rows);
        free(samples);
        free(costs);
        return nytp_out_of_memory(&out->error);
    }
    const uint32_t n = list_rows(profile, order_of(options->sort), samples, rows);
    const uint32_t shown = n < wanted ? n : wanted;
    int64_t *waits = waits_to_show(profile, options, out);
    const struct more_columns more = {
        .waits = waits,
        .costs = costs,
        .svs = svs,
        .memory = nytp_text_memory_columns(profile, options->sort),
        .cpu = profile->sampled,
        .per_call = !of_samples,
        .few = nytp_text_is_narrow(options->columns),
        .ops = order_of(options->sort) == BY_OPS,
    };
    const uint32_t name_width = name_columns(profile, rows, shown, options->columns, &more);
    nytp_text_headline(out, profile, options);
    put_titles(out, profile, options, &more);
    for (uint32_t i = 0; i < shown; i++)
        put_row(out, profile, options, &rows[i], name_width, &more);
    if (shown < n)
        put_rest(out, profile, options, rows + shown, n - shown, &more);
    explain_mark(out, profile, options, rows, shown, &more);
    free(waits);
    free(svs);
    free(costs);
    free(samples);
    free(rows);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_top = {
    .name = "top",
    .title = "subs with the most time, for the terminal",
    .suffixes = "",
    .needs = NYTP_HAS_ARCS,
    .write_diff = nytp_diff_write_table,
    .adds_processes = true,
    .write = top_write,
};
