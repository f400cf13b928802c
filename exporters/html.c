/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The HTML report: pages for a browser, like nytprofhtml's, in a folder or in one file.
 * report/report.h describes its parts.
 */
#include "exporters/report/report.h"

const struct nytp_exporter nytp_exporter_html = {
    .name = "html",
    .title = "HTML report: source with times, flame graph; DIR/ or one file",
    .suffixes = ".html .htm",
    .needs = NYTP_HAS_STATEMENTS | NYTP_HAS_ARCS,
    .wants_sources = true,
    .wants_statements = true,
    .wants_blocks = true,
    .adds_processes = true,
    .viewer = NYTP_BROWSERS,
    .write_set = nytp_report_write,
    .takes = "flame-width no-source-files open source-files title",
    .takes_diff = "flame-width no-source-files open source-files title",
    .refuses = "per-process",
    .options = NYTP_OPTIONS(
        NYTP_OWN_OPTION("lib", LIST, report.libs, "DIR",
                        "show file names without this folder; may be given again"),
        NYTP_OWN_OPTION("minimal", FLAG, report.minimal, "", "no pages by block and by sub"),
        NYTP_OWN_OPTION("no-flame", FLAG, report.no_flame, "", "no flame graph"),
        NYTP_OWN_OPTION("replace", FLAG, report.replace, "",
                        "remove what an earlier report left in DIR, and nothing else")),
};
