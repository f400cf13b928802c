/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Waits of a sampled program, as a table for the terminal: reason, peer and line.
 */
#include "exporters/base/exporter.h"
#include "exporters/base/regex_rows.h"
#include "exporters/base/wait_rows.h"
#include "exporters/table/sheet.h"

enum {
    TIME,
    SHARE,
    SAMPLES,
    REASON,
    PEER,
    PLACE
};

static const struct nytp_column columns[] = {
    [TIME] = {"time", "time", NYTP_CELL_NS, 10},
    [SHARE] = {"share", "%", NYTP_CELL_SHARE, 7},
    [SAMPLES] = {"samples", "samples", NYTP_CELL_COUNT, 9},
    [REASON] = {"for", "for", NYTP_CELL_WORD, 11},
    [PEER] = {"with", "with", NYTP_CELL_CODE, 24},
    [PLACE] = {"", "at", NYTP_CELL_PLACE},
};

static void fill(const struct nytp_sheet *sheet, uint32_t row, struct nytp_cell *cells)
{
    const struct nytp_waited *const w = &((const struct nytp_waited *)sheet->context)[row];
    cells[TIME].value = cells[SHARE].value = w->ns;
    cells[SHARE].of = nytp_total_ns(sheet->profile);
    cells[SAMPLES].value = (int64_t)w->samples;
    cells[REASON].text = nytp_name_of_text(nytp_wait_reason_name(w->reason));
    cells[PEER].text = w->peer;
    cells[PLACE] = (struct nytp_cell){.file = w->file, .line = w->line};
}

static void put_sums(struct nytp_out *out, const struct nytp_profile *profile,
                     const struct nytp_export_options *options, int64_t waited_ns)
{
    int64_t cpu_ticks = 0;
    for (uint32_t i = 0; i < profile->n_processes; i++)
        cpu_ticks += profile->processes[i].cpu_ticks;
    nytp_text_time(out, profile->total.ticks, profile->ticks_per_sec, options->unit, 0);
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
    struct nytp_sheet sheet = nytp_sheet_of(profile, options, columns, 6);
    if (!nytp_wait_rows_init(&rows, profile, NULL))
        nytp_out_of_memory(&out->error);
    sheet.name = "waits";
    sheet.more = "more";
    sheet.context = rows.rows;
    sheet.n = rows.n;
    sheet.fill = fill;
    if (!nytp_sheets_put(&sheet, 1, out)) {
        nytp_text_headline(out, profile, options);
        if (!profile->sampled)
            nytp_puts(out, "Reasons of waiting are known of samples: NYTPROF=sample=100.\n");
        else
            put_sums(out, profile, options, rows.total_ns);
        nytp_sheet_put_text(&sheet, out);
    }
    nytp_wait_rows_free(&rows);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_waits = {
    .name = "waits",
    .title = "what a sampled program waited for, in the terminal",
    .write = write_waits,
    .no_diff = "it has no runs to compare; use --top",
    .takes = "as unit",
    .refuses = "focus ignore show show-from no-wait",
    .options = NYTP_OPTIONS(
        NYTP_OWN_OPTION("waits", ROWS, top, "[=N]",
                        "the N longest waits and their reasons, default 20; 0 is all")),
};
