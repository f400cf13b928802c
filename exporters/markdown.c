/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The subs with the most time as a Markdown table, for the summary of a CI job, a comment, a
 * chat. With --diff, the changes.
 */
#include "exporters/compare/diff_formats.h"
#include "exporters/base/markdown.h"
#include "exporters/stacks/sub_rows.h"

static void put_head(struct nytp_out *out, const struct nytp_profile *profile,
                     const struct nytp_export_options *options)
{
    nytp_puts(out, "### ");
    nytp_markdown_code(out, nytp_base_name(nytp_text_program(&profile->recordings[0])));
    if (profile->n_recordings > 1)
        nytp_printf(out, " and %lu more", (unsigned long)profile->n_recordings - 1);
    nytp_puts(out, ": ");
    if (nytp_profile_has(profile, NYTP_WEIGHT_TIME)) {
        nytp_text_time(out, profile->total.ticks, profile->ticks_per_sec, options->unit, 0);
        nytp_printf(out, "%s%s", options->unit != NULL ? " " : "",
                    options->unit != NULL ? options->unit->name : "");
    } else {
        nytp_puts(out, NYTP_COUNTS_ONLY);
    }
    nytp_printf(out, ", %llu %s, %s%llu calls%s\n\n",
                (unsigned long long)profile->total.statements, nytp_text_statements(profile),
                profile->sampled ? "at least " : "", (unsigned long long)profile->total.calls,
                profile->partial ? "; partial: the recording ends early" : "");
}

static bool write_markdown(const struct nytp_profile *profile,
                           const struct nytp_export_options *options, struct nytp_out *out)
{
    struct nytp_sub_rows rows;
    struct nytp_sheet *const sheet = &rows.sheet;
    if (nytp_sub_rows_init(&rows, profile, options) && nytp_sub_rows_sort(&rows, NULL)) {
        nytp_sheet_show(sheet, NYTP_SUB_SELF, true);
        nytp_sheet_show(sheet, NYTP_SUB_SELF_SHARE, true);
        nytp_sheet_show(sheet, NYTP_SUB_INCL, true);
        nytp_sheet_show(sheet, NYTP_SUB_SAMPLES, rows.samples != NULL);
        nytp_sheet_show(sheet, NYTP_SUB_STATEMENTS, rows.samples == NULL);
        nytp_sheet_show(sheet, NYTP_SUB_CALLS, rows.samples == NULL);
        nytp_sub_rows_show_memory(&rows, nytp_text_memory_columns(profile, NULL));
        nytp_sheet_show(sheet, NYTP_SUB_NAME, true);
        nytp_sheet_show(sheet, NYTP_SUB_PLACE, true);
        put_head(out, profile, options);
        nytp_sheet_put_markdown(sheet, out);
    } else {
        nytp_out_of_memory(&out->error);
    }
    nytp_sub_rows_free(&rows);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_markdown = {
    .name = "markdown",
    .title = "table for job summaries, pull requests and chats",
    .suffixes = ".md .markdown",
    .adds_processes = true,
    .shows_counts = true,
    .needs = NYTP_HAS_ARCS,
    .write = write_markdown,
    .write_diff = nytp_diff_write_markdown,
    .shows_limits = true,
    .takes = "unit",
    .takes_diff = "lines weight",
};
