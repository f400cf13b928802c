/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The HTML report: all pages in order. See report.h.
 */
#include "report.h"

/* Names of pages need the sums, and the orders need the names. */
static bool prepare(struct nytp_report *report)
{
    return nytp_report_sum_up(report) && nytp_report_name_files(report) &&
           nytp_report_index_files(report) && nytp_report_index_changes(report);
}

static void put_asset(struct nytp_report *report, const struct nytp_asset *asset)
{
    nytp_put(nytp_output_set_member(report->set, asset->name), asset->bytes, asset->len);
}

static void put_sources(struct nytp_report *report)
{
    for (uint32_t f = 0; f < report->profile->n_files; f++) {
        if (report->files[f].stem == NULL)
            continue;
        nytp_report_source(report, f, NYTP_LEVEL_LINE);
        if (!report->levels || nytp_report_is_eval(report, f))
            continue;
        nytp_report_source(report, f, NYTP_LEVEL_BLOCK);
        nytp_report_source(report, f, NYTP_LEVEL_SUB);
    }
}

bool nytp_report_write(const struct nytp_profile *profile,
                       const struct nytp_export_options *options, struct nytp_output_set *set)
{
    struct nytp_report report = {
        .profile = profile,
        .options = options,
        .set = set,
        .page = "",
        .single = nytp_output_set_is_single(set),
        .flame = !options->report.no_flame && profile->total.ticks > 0,
    };
    bool ok = prepare(&report);
    if (ok) {
        if (report.single) {
            nytp_report_single_begin(&report);
        } else {
            put_asset(&report, &nytp_report_css);
            put_asset(&report, &nytp_report_js);
            ok = !report.flame || nytp_report_flame_files(&report);
        }
        nytp_report_index(&report);
        nytp_report_all_subs(&report);
        put_sources(&report);
        if (report.single) {
            nytp_report_single_end(&report);
            if (report.flame)
                nytp_report_flame_inline(&report);
            nytp_report_foot(&report);
        }
    }
    nytp_report_free_sums(&report);
    return ok;
}
