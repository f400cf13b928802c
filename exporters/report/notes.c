/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What a source page says beside the code: who calls the sub that begins here, what a line
 * calls, which string evals it ran. See report.h and README.md.
 *
 * Recursion: the inclusive time of calls at depth 1 is told as such. Calls nested in another
 * call of the same sub overlap with it; their time is told apart and in words, never
 * subtracted.
 */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#define NONE NYTP_REPORT_NONE

#define MAX_OPEN_CALLERS 3 /* with more places the list is folded */
#define MAX_OPEN_CALLEES 5 /* more go into a folded list */
#define MAX_OPEN_EVALS   3
#define MAX_LISTED_EVALS 500 /* a line may run tens of thousands */

/* "12µs (10µs + 2µs)": inclusive, of it own and of what was called. A nested call of a
 * recursion has own time and no inclusive time of its own to tell. */
static void put_incl_excl(struct nytp_report *report, double incl_s, double excl_s)
{
    struct nytp_out *out = report->out;
    nytp_report_put_time(report, out, excl_s);
    if (incl_s >= excl_s) {
        nytp_puts(out, " + ");
        nytp_report_put_time(report, out, incl_s - excl_s);
    } else {
        nytp_puts(out, " in nested calls");
    }
}

static void put_average(struct nytp_report *report, double seconds, uint64_t count)
{
    if (count <= 1 || !(seconds > 0))
        return;
    nytp_puts(report->out, ", avg ");
    nytp_report_put_time(report, report->out, seconds / (double)count);
}

/* ---- who calls a sub ---- */

static void put_caller_names(struct nytp_report *report, const struct nytp_summary_call *call)
{
    const struct nytp_summary *summary = report->summary;
    bool first = true;
    for (uint32_t c = call->first_caller; c != NYTP_SUMMARY_NONE;
         c = summary->callers[c].next) {
        nytp_puts(report->out, first ? " by " : " or ");
        nytp_report_put_any_name(report, nytp_summary_str(summary, summary->callers[c].name));
        first = false;
    }
}

/* "line 12", "line 12 of Foo.pm", linked. */
static void put_place(struct nytp_report *report, const struct nytp_summary_call *call,
                      uint32_t from_file)
{
    const uint32_t file = nytp_summary_file_of(report->summary, call->fid);
    if (file == NYTP_SUMMARY_NONE)
        return;
    uint32_t line = call->line;
    const bool linked = nytp_report_page_of(report, file, &line) != NYTP_SUMMARY_NONE;
    nytp_puts(report->out, " at ");
    if (linked) {
        nytp_puts(report->out, "<a href=");
        nytp_report_put_line_url(report, file, call->line);
        nytp_putc(report->out, '>');
    }
    nytp_printf(report->out, "line %u", (unsigned)call->line);
    if (file != from_file) {
        nytp_puts(report->out, " of ");
        nytp_report_put_file(report, file);
    }
    if (linked)
        nytp_puts(report->out, "</a>");
}

static void put_caller(struct nytp_report *report, const struct nytp_summary_call *call,
                       uint32_t file)
{
    struct nytp_out *out = report->out;
    nytp_puts(out, "<li>");
    nytp_report_put_calls(out, call->count);
    nytp_puts(out, " (");
    put_incl_excl(report, call->incl_s, call->excl_s);
    nytp_putc(out, ')');
    put_caller_names(report, call);
    put_place(report, call, file);
    put_average(report, call->incl_s, call->count);
    nytp_putc(out, '\n');
}

struct ranked_call {
    double time;
    uint32_t call;
};

static int compare_ranked(const void *left, const void *right)
{
    const struct ranked_call *a = left, *b = right;
    if (a->time != b->time)
        return a->time > b->time ? -1 : 1;
    return (a->call > b->call) - (a->call < b->call);
}

/* The calls of a sub, those with the most time first. NULL when memory is out. */
static struct ranked_call *ranked_calls(const struct nytp_report *report, uint32_t sub,
                                        uint32_t *n)
{
    const struct nytp_summary *summary = report->summary;
    struct ranked_call *calls = malloc(((size_t)report->subs[sub].places + 1) * sizeof *calls);
    *n = 0;
    for (uint32_t c = summary->subs[sub].first_call; calls != NULL && c != NYTP_SUMMARY_NONE;
         c = summary->calls[c].next)
        if (summary->calls[c].count > 0)
            calls[(*n)++] =
                (struct ranked_call){summary->calls[c].incl_s + summary->calls[c].reci_s, c};
    if (calls != NULL && *n > 0)
        qsort(calls, *n, sizeof *calls, compare_ranked);
    return calls;
}

static void put_sub_summary(struct nytp_report *report, uint32_t sub)
{
    const struct nytp_summary_sub *s = &report->summary->subs[sub];
    struct nytp_out *out = report->out;
    nytp_report_put_time(report, out, s->incl_s);
    if (s->incl_s > s->excl_s) {
        nytp_puts(out, " (");
        put_incl_excl(report, s->incl_s, s->excl_s);
        nytp_putc(out, ')');
    }
    nytp_puts(out, " within <b>");
    nytp_report_put_sub(report, sub);
    nytp_puts(out, "</b>, called ");
    nytp_report_put_calls(out, s->count);
    if (report->subs[sub].places > 1)
        nytp_printf(out, " from %u places", (unsigned)report->subs[sub].places);
    put_average(report, s->incl_s, s->count);
    if (s->rec_depth > 0) {
        nytp_printf(out, "; it recurses to depth %u, the nested calls took ",
                    (unsigned)s->rec_depth);
        nytp_report_put_time(report, out, s->reci_s);
    }
}

bool nytp_report_put_callers(struct nytp_report *report, uint32_t sub, uint32_t file)
{
    const struct nytp_str name = nytp_report_sub_name(report, sub);
    if (report->summary->subs[sub].count == 0)
        return false;
    uint32_t n;
    struct ranked_call *calls = ranked_calls(report, sub, &n);
    if (calls == NULL) {
        nytp_error_set(&report->out->error, NYTP_ERR_MEMORY, "out of memory");
        return false;
    }
    nytp_puts(report->out, "<details class=in");
    nytp_report_put_id(report, "sub-");
    nytp_html_id(report->out, name.ptr, name.len);
    nytp_puts(report->out, n <= MAX_OPEN_CALLERS ? " open><summary>" : "><summary>");
    put_sub_summary(report, sub);
    nytp_puts(report->out, "</summary><ul>");
    for (uint32_t i = 0; i < n; i++)
        put_caller(report, &report->summary->calls[calls[i].call], file);
    nytp_puts(report->out, "</ul></details>");
    free(calls);
    return true;
}

/* ---- what a line calls ---- */

/* The note of one sub that the line called. */
static void put_callee(struct nytp_report *report, const struct nytp_summary_call *call)
{
    struct nytp_out *out = report->out;
    const double seconds = call->incl_s + call->reci_s;
    nytp_puts(out, "<li>");
    nytp_report_put_time(report, out, seconds);
    nytp_puts(out, " making ");
    nytp_report_plural(out, call->count, "call", "calls");
    nytp_puts(out, " to ");
    const bool linked = nytp_report_put_sub_anchor(report, call->sub);
    nytp_report_put_sub(report, call->sub);
    if (linked)
        nytp_puts(out, "</a>");
    put_average(report, seconds, call->count);
    if (call->rec_depth > 0) {
        nytp_printf(out, ", recursion: max depth %u, sum of overlapping time ",
                    (unsigned)call->rec_depth);
        nytp_report_put_time(report, out, call->reci_s);
    }
    nytp_putc(out, '\n');
}

bool nytp_report_put_callees(struct nytp_report *report, uint32_t first, uint32_t end)
{
    const struct nytp_summary_call *calls = report->summary->calls;
    /* one too many is shown rather than folded away alone */
    const uint32_t n_open =
        end - first <= MAX_OPEN_CALLEES + 1 ? end - first : MAX_OPEN_CALLEES;
    if (first == end)
        return false;
    nytp_puts(report->out, "<ul class=out>");
    for (uint32_t i = first; i < first + n_open; i++)
        put_callee(report, &calls[report->calls_by_place[i]]);
    nytp_puts(report->out, "</ul>");
    if (first + n_open == end)
        return true;
    double rest_s = 0;
    for (uint32_t i = first + n_open; i < end; i++)
        rest_s +=
            calls[report->calls_by_place[i]].incl_s + calls[report->calls_by_place[i]].reci_s;
    nytp_printf(report->out, "<details class=\"out more\"><summary>%u more subs, ",
                (unsigned)(end - first - n_open));
    nytp_report_put_time(report, report->out, rest_s);
    nytp_puts(report->out, "</summary><ul>");
    for (uint32_t i = first + n_open; i < end; i++)
        put_callee(report, &calls[report->calls_by_place[i]]);
    nytp_puts(report->out, "</ul></details>");
    return true;
}

/* ---- string evals of a line ---- */

/* The note of a string eval that the line ran, or of several that were merged. */
static void put_eval(struct nytp_report *report, uint32_t eval)
{
    const struct nytp_report_file *file = &report->files[eval];
    struct nytp_out *out = report->out;
    const double seconds = nytp_report_seconds(report, file->all_ticks);
    const uint32_t n = report->summary->files[eval].n_merged + 1;
    nytp_puts(out, "<li>");
    nytp_report_put_time(report, out, seconds);
    nytp_puts(out, " executing statements in ");
    if (file->stem != NULL) {
        nytp_puts(out, "<a href=");
        nytp_report_put_line_url(report, eval, 0);
        nytp_putc(out, '>');
    }
    nytp_report_plural(out, n, "string eval", "string evals");
    if (n > 1)
        nytp_puts(out, " (merged)");
    nytp_puts(out, file->stem != NULL ? "</a>" : " (no page: too many evals)");
    if (file->all_ticks != file->ticks) {
        nytp_puts(out, ", ");
        nytp_report_put_time(report, out, nytp_report_seconds(report, file->ticks));
        nytp_puts(out, " here plus ");
        nytp_report_put_time(report, out,
                             nytp_report_seconds(report, file->all_ticks - file->ticks));
        nytp_printf(out, " in %u nested evals", (unsigned)(file->n_direct + file->n_nested));
    }
    if (file->defined_calls > 0) {
        nytp_puts(out, "; includes ");
        nytp_report_put_time(report, out, file->defined_s);
        nytp_puts(out, " in ");
        nytp_report_plural(out, file->defined_calls, "call", "calls");
        nytp_puts(out, " to ");
        nytp_report_plural(out, file->n_defined, "sub", "subs");
        nytp_puts(out, " defined therein");
    }
    nytp_putc(out, '\n');
}

bool nytp_report_put_evals(struct nytp_report *report, uint32_t first, uint32_t end)
{
    struct nytp_out *out = report->out;
    if (first == end)
        return false;
    uint64_t n_evals = 0;
    int64_t ticks = 0;
    for (uint32_t i = first; i < end; i++) {
        const uint32_t eval = report->evals_by_place[i];
        n_evals += report->summary->files[eval].n_merged + 1;
        ticks += report->files[eval].all_ticks;
    }
    nytp_puts(out, end - first <= MAX_OPEN_EVALS ? "<details class=\"out evals\" open><summary>"
                                                 : "<details class=\"out evals\"><summary>");
    nytp_report_plural(out, n_evals, "string eval", "string evals");
    if (n_evals > end - first)
        nytp_printf(out, " in %u groups", (unsigned)(end - first));
    nytp_puts(out, ", ");
    nytp_report_put_time(report, out, nytp_report_seconds(report, ticks));
    nytp_puts(out, "</summary><ul>");
    for (uint32_t i = first; i < end && i - first < MAX_LISTED_EVALS; i++)
        put_eval(report, report->evals_by_place[i]);
    if (end - first > MAX_LISTED_EVALS)
        nytp_printf(out, "<li>and %u more, of less time",
                    (unsigned)(end - first - MAX_LISTED_EVALS));
    nytp_puts(out, "</ul></details>");
    return true;
}
