/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The neighbourhood of subs, for the terminal: callers above a sub, callees below it, with
 * their shares of its inclusive time.
 */
#include "exporters/stacks/calls.h"
#include "exporters/stacks/inclusive.h"
#include "exporters/stacks/samples.h"
#include "exporters/base/exporter.h"
#include "exporters/table/sheet.h"

#include <stdlib.h>

#define MOST_ROWS      20 /* callers, callees */
#define FIXED_COLUMNS  31
#define MEMORY_COLUMNS 10

struct peek {
    const struct nytp_profile *profile;
    const struct nytp_export_options *options;
    struct nytp_out *out;
    struct nytp_callers callers;
    enum nytp_memory_columns columns; /* only one: SVs, or bytes in use */
    uint64_t *memory;                 /* by sub, inclusive; NULL if not recorded */
    uint64_t *samples;                /* by sub; NULL if calls are counted */
    int64_t whole;                    /* inclusive ticks of the current sub */
};

/* Writes the first columns of a row, without a number of calls (or samples) if that is 0. */
static void put_numbers(const struct peek *peek, int64_t ticks, int64_t whole, uint64_t calls,
                        int64_t memory)
{
    nytp_text_time(peek->out, ticks, peek->profile->ticks_per_sec, peek->options->unit, 10);
    nytp_putc(peek->out, ' ');
    nytp_text_percent(peek->out, ticks, whole);
    if (calls > 0)
        nytp_printf(peek->out, " %10llu ", (unsigned long long)calls);
    else
        nytp_text_pad(peek->out, 12);
    if (peek->columns == NYTP_MEMORY_NONE)
        return;
    if (peek->columns == NYTP_MEMORY_SVS)
        nytp_printf(peek->out, "%9lld", (long long)memory);
    else
        nytp_text_bytes(peek->out, memory, 9);
    nytp_putc(peek->out, ' ');
}

static void put_name(const struct peek *peek, const char *arrow, uint32_t sub, uint32_t file,
                     uint32_t line)
{
    struct nytp_out *out = peek->out;
    const struct nytp_named named = {peek->profile->subs[sub].name, file, line};
    nytp_puts(out, arrow);
    nytp_text_named(out, peek->profile, peek->options, &named,
                    FIXED_COLUMNS + 4 +
                        (peek->columns != NYTP_MEMORY_NONE ? MEMORY_COLUMNS : 0));
    nytp_putc(out, '\n');
}

static int64_t memory_of(const struct peek *peek, const struct nytp_call_row *row)
{
    return peek->columns == NYTP_MEMORY_SVS ? row->svs : row->inuse_bytes;
}

static void put_rows(const struct peek *peek, const char *arrow,
                     const struct nytp_call_rows *rows)
{
    int64_t ticks = 0, memory = 0;
    uint64_t calls = 0;
    const uint32_t shown = rows->n > MOST_ROWS + 1 ? MOST_ROWS : rows->n;
    for (uint32_t i = 0; i < rows->n; i++) {
        const struct nytp_call_row *row = &rows->rows[i];
        if (i < shown) {
            put_numbers(peek, row->incl_ticks, peek->whole, row->calls, memory_of(peek, row));
            put_name(peek, arrow, row->sub, row->file, row->line);
        } else {
            ticks += row->incl_ticks;
            calls += row->calls;
            memory += memory_of(peek, row);
        }
    }
    if (shown < rows->n) {
        put_numbers(peek, ticks, peek->whole, calls, memory);
        nytp_printf(peek->out, "%s(%lu more)\n", arrow, (unsigned long)(rows->n - shown));
    }
}

static void put_sub(const struct peek *peek, uint32_t index)
{
    const struct nytp_sub *sub = &peek->profile->subs[index];
    nytp_text_style(peek->out, peek->options->color, NYTP_STYLE_BOLD);
    put_numbers(peek, sub->incl_ticks, peek->profile->total.ticks,
                peek->samples != NULL ? peek->samples[index] : sub->calls,
                peek->memory != NULL ? (int64_t)peek->memory[index] : 0);
    nytp_text_style(peek->out, peek->options->color, NYTP_STYLE_PLAIN);
    put_name(peek, "", index, sub->file, sub->first_line);
}

static bool put_neighbours(struct peek *peek, uint32_t index)
{
    const struct nytp_sub *sub = &peek->profile->subs[index];
    struct nytp_call_rows callers = nytp_calls_to(peek->profile, &peek->callers, index);
    struct nytp_call_rows callees = nytp_calls_from(peek->profile, &peek->callers, index);
    const bool ok = callers.rows != NULL && callees.rows != NULL;
    peek->whole = sub->incl_ticks;
    if (ok) {
        put_rows(peek, "<-  ", &callers);
        put_sub(peek, index);
        put_numbers(peek, sub->excl_ticks, peek->whole, 0,
                    peek->columns == NYTP_MEMORY_SVS ? sub->svs
                                                     : sub->bytes.of[NYTP_INUSE_SPACE]);
        nytp_puts(peek->out, "    (its own time)\n");
        put_rows(peek, "->  ", &callees);
    }
    free(callers.rows);
    free(callees.rows);
    return ok;
}

static bool put_matching(struct peek *peek, const bool *matches)
{
    const struct nytp_profile *profile = peek->profile;
    bool first = true;
    for (uint32_t i = 0; i < profile->n_subs && peek->out->error.status == NYTP_OK; i++) {
        const struct nytp_sub *sub = &profile->subs[i];
        if (!matches[i] || (sub->calls == 0 && sub->incl_ticks == 0 && sub->n_arcs == 0))
            continue;
        if (!first)
            nytp_putc(peek->out, '\n');
        first = false;
        if (!put_neighbours(peek, i))
            return false;
    }
    return true;
}

/* Counts samples instead of calls if all processes were sampled. */
static bool count_samples(struct peek *peek)
{
    if (!nytp_is_of_samples(peek->profile))
        return true;
    peek->samples = nytp_samples_in_subs(peek->profile);
    peek->callers.samples = nytp_samples_in_calls(peek->profile);
    return peek->samples != NULL && peek->callers.samples != NULL;
}

static bool sum_memory(struct peek *peek)
{
    peek->columns = nytp_text_memory_columns(peek->profile, NULL);
    if (peek->columns == NYTP_MEMORY_NONE)
        return true;
    peek->memory = nytp_inclusive_of_subs(
        peek->profile, nytp_measures[peek->columns == NYTP_MEMORY_SVS ? NYTP_WEIGHT_SVS
                                                                      : NYTP_WEIGHT_INUSE_SPACE]
                           .own);
    return peek->memory != NULL;
}

static bool peek_write(const struct nytp_profile *profile,
                       const struct nytp_export_options *options, struct nytp_out *out)
{
    static const char *const titles[] = {[NYTP_MEMORY_NONE] = "",
                                         [NYTP_MEMORY_SVS] = "      SVs ",
                                         [NYTP_MEMORY_SPACE] = "   in use "};
    struct peek peek = {.profile = profile, .options = options, .out = out};
    bool *matches = nytp_patterns_match_subs(&options->names, profile, true, &out->error);
    const bool ok =
        nytp_callers_init(&peek.callers, profile) && sum_memory(&peek) && count_samples(&peek);
    if (ok && matches != NULL) {
        nytp_text_headline(out, profile, options);
        nytp_text_style(out, options->color, NYTP_STYLE_BOLD);
        nytp_printf(out, "      incl  share %10s %ssub: callers above, callees below",
                    peek.samples != NULL ? "samples" : nytp_text_calls(profile),
                    titles[peek.columns]);
        nytp_text_style(out, options->color, NYTP_STYLE_PLAIN);
        nytp_putc(out, '\n');
        if (!put_matching(&peek, matches))
            nytp_out_of_memory(&out->error);
    } else {
        nytp_out_of_memory(&out->error);
    }
    nytp_callers_free(&peek.callers);
    free(peek.memory);
    free(peek.samples);
    free(matches);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_peek = {
    .name = "peek",
    .title = "callers and callees of subs, for the terminal",
    .adds_processes = true,
    .wants_names = true,
    .needs = NYTP_HAS_ARCS,
    .write = peek_write,
    .takes = "unit wait",
    .options = NYTP_OPTIONS(
        NYTP_OWN_OPTION("peek", SUBS, names, "REGEX", "callers and callees of matching subs")),
};
