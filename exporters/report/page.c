/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The frame around every page, and the cells of all tables. See report.h.
 *
 * The content policy allows only the report's own assets: even if markup from the profile got
 * onto a page, it could run no script and use no network.
 */
#include "report.h"

#include "exporters/base/text.h"
#include "exporters/base/version.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NONE      NYTP_REPORT_NONE
#define MOST_ENDS 5
#define MOST_OPEN 50 /* open calls named for a process */

/* ---- numbers ---- */

/* The user's format has exactly one conversion, of a number (nytp_is_time_format()). */
static void put_formatted(struct nytp_out *out, const char *format, double seconds)
{
    char text[512];
    const int len = snprintf(text, sizeof text, format, seconds);
    if (len > 0)
        nytp_html_attribute(out, text,
                            (size_t)len < sizeof text ? (uint32_t)len : sizeof text - 1);
}

void nytp_report_put_seconds(const struct nytp_report *report, struct nytp_out *out,
                             double seconds)
{
    if (report->options->report.time_format != NULL) {
        put_formatted(out, report->options->report.time_format, seconds);
        return;
    }
    const double size = fabs(seconds);
    const char *sign = seconds < 0 ? "-" : "";
    if (size < 0.5e-9) {
        nytp_puts(out, "0s");
    } else if (size < 1e-3) { /* most times; lrint() rounds like printf */
        const bool is_ns = size < 1e-6;
        nytp_puts(out, sign);
        nytp_put_u64(out, (uint64_t)lrint(size * (is_ns ? 1e9 : 1e6)));
        nytp_puts(out, is_ns ? "ns" : "\xc2\xb5s");
    } else if (size < 1)
        nytp_printf(out, "%s%.*fms", sign, size < 1e-2 ? 2 : size < 0.1 ? 1 : 0, size * 1e3);
    else
        nytp_printf(out, "%s%.*fs", sign, size < 10 ? 2 : size < 100 ? 1 : 0, size);
}

int64_t nytp_report_ns(const struct nytp_report *report, int64_t ticks)
{
    return nytp_scale_once(&report->ns, ticks);
}

void nytp_report_put_time(const struct nytp_report *report, struct nytp_out *out, int64_t ticks)
{
    nytp_report_put_seconds(report, out, (double)nytp_report_ns(report, ticks) * 1e-9);
}

void nytp_report_put_average(const struct nytp_report *report, int64_t ticks, uint64_t n)
{
    nytp_report_put_seconds(report, report->out,
                            (double)nytp_report_ns(report, ticks) * 1e-9 / (double)n);
}

void nytp_report_put_exact(struct nytp_report *report, int64_t ticks)
{
    const int64_t ns = nytp_report_ns(report, ticks);
    if (report->options->report.time_format == NULL && ns > -1000 && ns < 1000)
        return;
    nytp_puts(report->out, " data-n=");
    nytp_put_i64(report->out, ns);
}

void nytp_report_put_heat(struct nytp_out *out, int heat, int64_t part, int64_t whole)
{
    const double share = part > 0 && whole > 0 ? 100 * (double)part / (double)whole : 0;
    const int percent = share < 100 ? (int)(share + 0.5) : 100;
    if (percent == 0) {
        nytp_printf(out, " class=h%d", heat);
        return;
    }
    nytp_printf(out, " class=\"h%d", heat);
    if (percent >= 10)
        nytp_printf(out, " a%d", percent / 10);
    if (percent % 10 > 0)
        nytp_printf(out, " b%d", percent % 10);
    nytp_putc(out, '"');
}

static int heat_of(int64_t part, int64_t whole, int top)
{
    if (part <= 0 || whole <= 0)
        return 0;
    const double heat = ceil(top + 2 * log10((double)part / (double)whole));
    return heat < 0 ? 0 : heat > 7 ? 7 : (int)heat;
}

int nytp_report_line_heat(const struct nytp_report *report, int64_t ticks)
{
    return heat_of(ticks, report->hottest_ticks, 7);
}

void nytp_report_time_cell(struct nytp_report *report, int64_t ticks, bool heat, int64_t whole)
{
    struct nytp_out *out = report->out;
    if (ticks == 0) {
        nytp_puts(out, "<td>");
        nytp_report_put_time(report, out, 0);
        return;
    }
    const int degree = heat ? heat_of(ticks, report->profile->total.ticks, 8) : 0;
    nytp_puts(out, "<td");
    if (degree > 0)
        nytp_report_put_heat(out, degree, ticks, whole);
    nytp_report_put_exact(report, ticks);
    const double percent = whole > 0 ? 100 * (double)ticks / (double)whole : 0;
    if (fabs(percent) >= 0.05)
        nytp_printf(out, " title=\"%.1f%%\"", percent);
    nytp_putc(out, '>');
    nytp_report_put_time(report, out, ticks);
}

void nytp_report_bytes_cell(struct nytp_report *report, int64_t bytes)
{
    if (bytes == 0)
        nytp_puts(report->out, "<td>");
    else
        nytp_printf(report->out, "<td data-n=%lld>", (long long)bytes);
    nytp_text_bytes(report->out, bytes, 0);
}

void nytp_report_count_cell(struct nytp_report *report, uint64_t count)
{
    nytp_puts(report->out, "<td>");
    nytp_put_u64(report->out, count);
}

void nytp_report_seconds_cell(struct nytp_report *report, double seconds)
{
    nytp_printf(report->out, "<td data-n=%.0f>", seconds * 1e9);
    nytp_report_put_seconds(report, report->out, seconds);
}

void nytp_report_share_cell(struct nytp_report *report, int64_t part, int64_t whole)
{
    nytp_puts(report->out, "<td>");
    if (whole > 0)
        nytp_printf(report->out, "%.1f", 100 * (double)part / (double)whole);
}

void nytp_report_put_calls(struct nytp_report *report, uint64_t calls)
{
    struct nytp_out *const out = report->out;
    if (report->profile->sampled)
        nytp_puts(out, "at least ");
    if (calls == 1)
        nytp_puts(out, "once");
    else
        nytp_printf(out, "%llu times", (unsigned long long)calls);
}

void nytp_report_plural(struct nytp_out *out, uint64_t n, const char *one, const char *many)
{
    nytp_put_u64(out, n);
    nytp_putc(out, ' ');
    nytp_puts(out, n == 1 ? one : many);
}

/* ---- head and foot ---- */

enum nytp_memory_columns nytp_report_memory(const struct nytp_report *report)
{
    return nytp_text_memory_columns(report->profile, NULL);
}

static void put_program(struct nytp_report *report)
{
    const struct nytp_name program = report->profile->recordings[0].application;
    if (report->options->title != NULL)
        nytp_html_puts(report->out, report->options->title);
    else if (program.len > 0)
        nytp_html_text(report->out, program.ptr, program.len);
    else
        nytp_puts(report->out, "a Perl program");
}

static void put_policy(struct nytp_report *report)
{
    struct nytp_out *out = report->out;
    nytp_puts(out,
              "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ");
    if (report->single)
        nytp_printf(out, "style-src 'sha256-%s'; script-src 'sha256-%s'; img-src data:; ",
                    nytp_report_css.sha256, nytp_report_js.sha256);
    else
        nytp_puts(out, "style-src 'self'; script-src 'self'; img-src 'self' data:; ");
    nytp_puts(out, "base-uri 'none'; form-action 'none'\">\n");
}

static void document_begin(struct nytp_report *report, const char *title, uint32_t file)
{
    struct nytp_out *out = report->out;
    nytp_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    put_policy(report);
    nytp_puts(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<meta name=\"color-scheme\" content=\"light dark\">\n"
                   "<meta name=\"robots\" content=\"noindex, nofollow\">\n<title>");
    if (file != NONE)
        nytp_report_put_file(report, file);
    else
        nytp_puts(out, title);
    nytp_puts(out, " \xc2\xb7 ");
    put_program(report);
    nytp_puts(out, "</title>\n");
    if (report->single) {
        nytp_puts(out, "<style>");
        nytp_put(out, nytp_report_css.bytes, nytp_report_css.len);
        nytp_puts(out, "</style>\n<script>");
        nytp_put(out, nytp_report_js.bytes, nytp_report_js.len);
        nytp_puts(out, "</script>\n");
    } else {
        nytp_puts(out, "<link rel=\"stylesheet\" href=\"report.css\">\n"
                       "<script src=\"report.js\"></script>\n");
    }
    nytp_puts(out,
              "</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n");
}

static uint32_t last_parts(const char *path, uint32_t len, unsigned n)
{
    for (uint32_t i = len; i > 0; i--)
        if (path[i - 1] == '/' && --n == 0)
            return i;
    return 0;
}

static void put_neighbour(struct nytp_report *report, const char *rel, uint32_t file)
{
    nytp_printf(report->out, " <a rel=\"%s\" href=", rel);
    nytp_report_put_page_url(report, file, nytp_report_link_level(report, file));
    const struct nytp_report_file *named = &report->files[file];
    nytp_puts(report->out, " title=\"");
    nytp_html_attribute(report->out, named->shown, named->shown_len);
    nytp_puts(report->out, "\">");
    const uint32_t from = last_parts(named->shown, named->shown_len, 2);
    nytp_html_text(report->out, named->shown + from, named->shown_len - from);
    nytp_puts(report->out, "</a>");
}

static void put_neighbours(struct nytp_report *report, uint32_t file)
{
    const uint32_t place = report->files[file].place;
    if (place == NONE)
        return;
    if (place > 0)
        put_neighbour(report, "prev", report->files_by_time[place - 1]);
    if (place + 1 < report->n_ranked)
        put_neighbour(report, "next", report->files_by_time[place + 1]);
}

static void put_navigation(struct nytp_report *report, uint32_t file)
{
    static const struct {
        const char *page, *text;
    } links[] = {
        {"index.html", "Index"},
        {"index-subs-excl.html", "All subs"},
    };
    nytp_puts(report->out, "<header class=\"top\"><nav aria-label=\"Report\">");
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        nytp_puts(report->out, i > 0 ? " <a href=" : "<a href=");
        nytp_report_put_url(report, links[i].page, "");
        nytp_printf(report->out, ">%s</a>", links[i].text);
    }
    if (file != NONE)
        put_neighbours(report, file);
    nytp_puts(report->out, "</nav><div id=\"tools\"></div></header>\n");
}

static void put_page_data(struct nytp_report *report, const struct nytp_report_page *page)
{
    struct nytp_out *out = report->out;
    nytp_printf(out, " data-page=\"%s\" data-file=\"", page->kind);
    nytp_html_attribute(out, page->name, strlen(page->name));
    nytp_printf(out, "\" data-total=\"%lld\" data-hottest=\"%lld\"",
                (long long)nytp_report_ns(report, report->profile->total.ticks),
                (long long)nytp_report_ns(report, report->hottest_ticks));
    if (page->file != NONE)
        nytp_printf(out, " data-fid=\"%u\" data-level=\"%s\"",
                    (unsigned)report->files[page->file].id,
                    nytp_report_level_words[page->level]);
}

/* Writes the open calls of processes whose end was not recorded. */
static void put_open_calls(struct nytp_report *report)
{
    const struct nytp_profile *const profile = report->profile;
    struct nytp_out *const out = report->out;
    for (uint32_t i = 0, n = 0; i < profile->n_processes && n < MOST_ENDS; i++) {
        uint32_t node = profile->processes[i].root;
        if (profile->processes[i].complete || nytp_text_open_child(profile, node) == node)
            continue;
        nytp_printf(out, "<p class=\"note open\">Process %u %s in ",
                    (unsigned)profile->processes[i].pid,
                    nytp_is_partly_read(profile, &profile->processes[i])
                        ? "is not read to its end; reading ended"
                        : "was killed, or still ran,");
        for (uint32_t next = node, depth = 0; depth < MOST_OPEN; depth++, node = next) {
            next = nytp_text_open_child(profile, node);
            nytp_puts(out, depth > 0 ? " &gt; <code>" : "<code>");
            nytp_report_put_sub(report, profile->nodes[node].sub);
            nytp_puts(out, "</code>");
            if (next == node)
                break;
            nytp_printf(out, " line %u", (unsigned)profile->nodes[next].line);
        }
        nytp_puts(out, "</p>\n");
        n++;
    }
}

/* Writes warnings about the figures. */
static void put_notes(struct nytp_report *report)
{
    struct nytp_out *out = report->out;
    const struct nytp_export_options *options = report->options;
    if (options->report.partial)
        nytp_puts(out, "<p class=\"note partial\">This profile is <b>partial</b>: the "
                       "recording was cut off "
                       "or is damaged. The figures are those of what could be read.</p>\n");
    put_open_calls(report);
    if (options->selected != NULL) {
        nytp_puts(out, "<p class=\"note selected\">This is a <b>selection</b>: <code>");
        nytp_html_puts(out, options->selected);
        nytp_puts(out, "</code></p>\n");
    }
    if (report->flame && report->profile->estimated_tree)
        nytp_puts(out,
                  "<p class=\"note estimated\">The flame graph is an <b>estimate</b>: the "
                  "recording has no "
                  "single calls (option <code>calls=0</code>), so time was shared out over "
                  "the callers of each sub by their calls.</p>\n");
}

void nytp_report_put_id(struct nytp_report *report, const char *id)
{
    nytp_puts(report->out, " id=");
    if (report->single) {
        nytp_html_url(report->out, report->page, strlen(report->page));
        nytp_putc(report->out, ':');
    }
    nytp_puts(report->out, id);
}

void nytp_report_page_begin(struct nytp_report *report, const struct nytp_report_page *page)
{
    report->out = nytp_output_set_member(report->set, page->name);
    report->page = page->name;
    if (report->single) {
        nytp_puts(report->out, "<section class=\"page\" id=");
        nytp_html_url(report->out, page->name, strlen(page->name));
        nytp_puts(report->out, " data-id-prefix=\"");
        nytp_html_url(report->out, page->name, strlen(page->name));
        nytp_puts(report->out, ":\"");
    } else {
        document_begin(report, page->title, page->file);
        put_navigation(report, page->file);
        nytp_puts(report->out, "<main id=\"main\" class=\"page\"");
    }
    put_page_data(report, page);
    nytp_printf(report->out, ">\n<h%d>", report->single ? 2 : 1);
    if (page->of_program && report->single)
        nytp_puts(report->out, "Overview");
    else if (page->file != NONE)
        nytp_report_put_file(report, page->file);
    else
        nytp_puts(report->out, page->title);
    if (page->of_program && !report->single) {
        nytp_puts(report->out, " of ");
        put_program(report);
    }
    nytp_printf(report->out, "</h%d>\n", report->single ? 2 : 1);
    if (page->file == NONE && !page->of_program && !report->single) {
        nytp_puts(report->out, "<p class=\"program\">");
        put_program(report);
        nytp_puts(report->out, "</p>\n");
    }
    if (!report->single)
        put_notes(report);
}

void nytp_report_foot(struct nytp_report *report)
{
    nytp_puts(report->out, "<footer class=\"foot\">");
    const double start_s = report->profile->processes[0].start_s;
    const time_t start = start_s > 0 && start_s < 1e11 ? (time_t)start_s : 0;
    struct tm tm;
    char text[64];
    if (start > 0 && gmtime_r(&start, &tm) != NULL &&
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &tm) > 0)
        nytp_printf(report->out, "Program started %s. ", text);
    nytp_puts(report->out, "Report by nytp " NYTP_VERSION ".</footer>\n</body>\n</html>\n");
}

void nytp_report_page_end(struct nytp_report *report)
{
    if (report->single) {
        nytp_puts(report->out, "</section>\n");
        return;
    }
    nytp_puts(report->out, "</main>\n");
    nytp_report_foot(report);
}

void nytp_report_single_begin(struct nytp_report *report)
{
    report->out = nytp_output_set_member(report->set, "");
    report->page = "";
    document_begin(report, "Profile", NONE);
    put_navigation(report, NONE);
    nytp_puts(report->out, "<main id=\"main\">\n<h1>Profile of ");
    put_program(report);
    nytp_puts(report->out, "</h1>\n");
    put_notes(report);
}

void nytp_report_single_end(struct nytp_report *report)
{
    nytp_puts(report->out, "</main>\n");
}
