/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Waits of a sampled program, as a table for the terminal: reason, peer and line.
 */
#include "exporters/base/exporter.h"
#include "exporters/base/regex_rows.h"
#include "exporters/base/text.h"
#include "exporters/base/wait_rows.h"

#define DEFAULT_ROWS 20

static void put_row(struct nytp_out *out, const struct nytp_profile *profile,
                    const struct nytp_export_options *options, const struct nytp_waited *row)
{
    char buffer[400];
    nytp_text_ns(out, row->ns, profile->ticks_per_sec, options->unit, 10);
    nytp_putc(out, ' ');
    nytp_text_percent(out, row->ns, nytp_total_ns(profile));
    nytp_printf(out, " %8llu %-10s ", (unsigned long long)row->samples,
                nytp_wait_reason_name(row->reason));
    const uint32_t width = nytp_text_put(out, row->peer, 0);
    nytp_text_pad(out, width < 24 ? 24 - width : 1);
    nytp_text_put_tail(
        out, nytp_text_place(profile, row->file, row->line, buffer, sizeof buffer), 0);
    nytp_putc(out, '\n');
}

static void put_sums(struct nytp_out *out, const struct nytp_profile *profile,
                     const struct nytp_export_options *options, int64_t waited_ns)
{
    int64_t cpu_ticks = 0;
    for (uint32_t i = 0; i < profile->n_processes; i++)
        cpu_ticks += profile->processes[i].cpu_ticks;
    nytp_text_time(out, profile->total_ticks, profile->ticks_per_sec, options->unit, 0);
    nytp_puts(out, " in all: ");
    nytp_text_time(out, cpu_ticks, profile->ticks_per_sec, options->unit, 0);
    nytp_puts(out, " on a processor, ");
    nytp_text_ns(out, waited_ns, profile->ticks_per_sec, options->unit, 0);
    nytp_puts(out, " waiting\n");
}

static bool write_waits(const struct nytp_profile *profile,
                        const struct nytp_export_options *options, struct nytp_out *out)
{
    struct nytp_wait_rows rows;
    const uint32_t wanted = options->top > 0 ? options->top : DEFAULT_ROWS;
    if (!nytp_wait_rows_init(&rows, profile, NULL))
        nytp_out_of_memory(&out->error);
    nytp_text_headline(out, profile, options);
    if (!profile->sampled)
        nytp_puts(out, "Reasons of waiting are known of samples: NYTPROF=sample=100.\n");
    else
        put_sums(out, profile, options, rows.total_ns);
    nytp_text_style(out, options->color, NYTP_STYLE_BOLD);
    nytp_puts(out, "      time      %  samples for        with                    at");
    nytp_text_style(out, options->color, NYTP_STYLE_PLAIN);
    nytp_putc(out, '\n');
    for (uint32_t i = 0; i < rows.n && i < wanted; i++)
        put_row(out, profile, options, &rows.rows[i]);
    if (rows.n > wanted)
        nytp_printf(out, "%lu more\n", (unsigned long)(rows.n - wanted));
    nytp_wait_rows_free(&rows);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_waits = {
    .name = "waits",
    .title = "what a sampled program waited for, in the terminal",
    .suffixes = "",
    .write = write_waits,
    .no_diff = "it has no runs to compare; use --top",
};
