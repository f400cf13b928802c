/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The subs with the most time as a Markdown table, for the summary of a CI job, a comment, a
 * chat. With --diff, the changes.
 */
#include "exporters/compare/diff_formats.h"
#include "exporters/base/markdown.h"
#include "exporters/base/text.h"
#include "exporters/stacks/inclusive.h"
#include "exporters/stacks/samples.h"

#include "formats/model/svs.h"

#include <stdlib.h>

#define DEFAULT_ROWS 20

struct row {
    const struct nytp_sub *sub;
};

/* Optional columns. Lists are by sub, and owned. */
struct more {
    uint64_t *samples; /* if samples are counted instead of calls, else NULL */
    uint64_t *svs;     /* inclusive; NULL: not recorded */
    enum nytp_memory_columns memory;
};

/* Subs are sorted by name: their address breaks ties. */
static int by_self(const void *x, const void *y)
{
    const struct row *a = x, *b = y;
    if (a->sub->excl_ticks != b->sub->excl_ticks)
        return a->sub->excl_ticks < b->sub->excl_ticks ? 1 : -1;
    return (a->sub > b->sub) - (a->sub < b->sub);
}

static uint32_t list_rows(const struct nytp_profile *profile, struct row *rows)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < profile->n_subs; i++) {
        const struct nytp_sub *sub = &profile->subs[i];
        if (sub->calls != 0 || sub->excl_ticks != 0 || sub->incl_ticks != 0 || sub->svs != 0 ||
            !nytp_bytes_are_none(sub->bytes))
            rows[n++] = (struct row){sub};
    }
    if (n > 0)
        qsort(rows, n, sizeof *rows, by_self);
    return n;
}

static void put_time(struct nytp_out *out, const struct nytp_profile *profile,
                     const struct nytp_export_options *options, int64_t ticks)
{
    nytp_text_time(out, ticks, profile->ticks_per_sec, options->unit, 0);
    nytp_puts(out, " | ");
}

static void put_memory(struct nytp_out *out, const struct nytp_profile *profile,
                       const struct more *more, const struct nytp_sub *sub)
{
    if (more->memory == NYTP_MEMORY_SPACE) {
        nytp_text_bytes(out, sub->bytes.of[NYTP_ALLOC_SPACE], 0);
        nytp_puts(out, " | ");
        nytp_text_bytes(out, sub->bytes.of[NYTP_INUSE_SPACE], 0);
        nytp_puts(out, " | ");
    } else if (more->memory == NYTP_MEMORY_SVS) {
        nytp_printf(out, "%lld | %lld | ", (long long)sub->svs,
                    (long long)more->svs[sub - profile->subs]);
    }
}

static void put_row(struct nytp_out *out, const struct nytp_profile *profile,
                    const struct nytp_export_options *options, const struct nytp_sub *sub,
                    const struct more *more)
{
    char buffer[300];
    nytp_puts(out, "| ");
    put_time(out, profile, options, sub->excl_ticks);
    nytp_text_percent(out, sub->excl_ticks, profile->total_ticks);
    nytp_puts(out, " | ");
    put_time(out, profile, options, sub->incl_ticks);
    if (more->samples != NULL)
        nytp_printf(out, "%llu | ", (unsigned long long)more->samples[sub - profile->subs]);
    else
        nytp_printf(out, "%llu | %llu | ", (unsigned long long)sub->statements,
                    (unsigned long long)sub->calls);
    put_memory(out, profile, more, sub);
    nytp_markdown_code(out, sub->name);
    const struct nytp_name place =
        nytp_text_place(profile, sub->file, sub->first_line, buffer, sizeof buffer);
    if (place.len > 0) {
        nytp_putc(out, ' ');
        nytp_markdown_code(out, place);
    }
    nytp_puts(out, " |\n");
}

static void put_head(struct nytp_out *out, const struct nytp_profile *profile,
                     const struct nytp_export_options *options, const struct more *more)
{
    static const char *const of_memory[] = {
        [NYTP_MEMORY_SPACE] = "alloc | in use | ", [NYTP_MEMORY_SVS] = "SVs | incl SVs | "};
    const char *const memory = more->memory == NYTP_MEMORY_NONE ? "" : of_memory[more->memory];
    const char *const line = more->memory == NYTP_MEMORY_NONE ? "" : "---:|---:|";
    const struct nytp_recording *recording = &profile->recordings[0];
    nytp_puts(out, "### ");
    nytp_markdown_code(out,
                       nytp_base_name(recording->application.len > 0 ? recording->application
                                                                     : recording->path));
    if (profile->n_recordings > 1)
        nytp_printf(out, " and %lu more", (unsigned long)profile->n_recordings - 1);
    nytp_puts(out, ": ");
    nytp_text_time(out, profile->total_ticks, profile->ticks_per_sec, options->unit, 0);
    nytp_printf(out, "%s%s, %llu %s, %s%llu calls%s\n\n", options->unit != NULL ? " " : "",
                options->unit != NULL ? options->unit->name : "",
                (unsigned long long)profile->total_statements, nytp_text_statements(profile),
                profile->sampled ? "at least " : "", (unsigned long long)profile->total_calls,
                profile->partial ? "; partial: the recording ends early" : "");
    if (more->samples != NULL)
        nytp_printf(
            out, "| self | self %% | incl | samples | %ssub |\n|---:|---:|---:|---:|%s---|\n",
            memory, line);
    else
        nytp_printf(out,
                    "| self | self %% | incl | %s | %s | %ssub |\n"
                    "|---:|---:|---:|---:|---:|%s---|\n",
                    nytp_text_statements(profile), nytp_text_calls(profile), memory, line);
}

static bool write_markdown(const struct nytp_profile *profile,
                           const struct nytp_export_options *options, struct nytp_out *out)
{
    struct row *rows = malloc(((size_t)profile->n_subs + 1) * sizeof *rows);
    const bool of_samples = nytp_is_of_samples(profile);
    const struct more more = {
        .samples = of_samples ? nytp_samples_by_sub(profile) : NULL,
        .svs = (profile->has & NYTP_HAS_SVS) != 0
                   ? nytp_inclusive_of_subs(profile, nytp_line_svs)
                   : NULL,
        .memory = nytp_text_memory_columns(profile, NULL),
    };
    if (rows == NULL || (of_samples && more.samples == NULL) ||
        (more.svs == NULL && more.memory != NYTP_MEMORY_NONE)) {
        free(rows);
        free(more.samples);
        free(more.svs);
        return nytp_out_of_memory(&out->error);
    }
    const uint32_t n = list_rows(profile, rows);
    const uint32_t wanted = options->top > 0 ? options->top : DEFAULT_ROWS;
    uint32_t i = 0;
    put_head(out, profile, options, &more);
    for (; i < n && i < wanted && out->n_bytes < NYTP_MARKDOWN_ROOM; i++)
        put_row(out, profile, options, rows[i].sub, &more);
    if (i < n)
        nytp_printf(out, "\n%lu more subs\n", (unsigned long)(n - i));
    free(rows);
    free(more.samples);
    free(more.svs);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_markdown = {
    .name = "markdown",
    .title = "table for job summaries, pull requests and chats",
    .suffixes = ".md .markdown",
    .adds_processes = true,
    .needs = NYTP_HAS_ARCS,
    .write = write_markdown,
    .write_diff = nytp_diff_write_markdown,
    .shows_limits = true,
};
