/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Notes of a source page: callers of the sub that begins here, callees of a line, and its
 * string evals. See report.h and README.md.
 *
 * Recursion: inclusive time is that of calls at depth 1. The time of nested calls of the same
 * sub overlaps with it, so it is mentioned separately and never subtracted.
 */
#include "report.h"

#include "formats/model/profile.h"

#define NONE NYTP_REPORT_NONE

#define MAX_OPEN_CALLERS 3 /* with more places the list is folded */
#define MAX_OPEN_CALLEES 5 /* more go into a folded list */
#define MAX_OPEN_EVALS   3
#define MAX_LISTED_EVALS 500 /* a line may run tens of thousands */

/* Writes "12µs (10µs + 2µs)": inclusive, exclusive, and callees' time. A nested call of a
 * recursion has no separate inclusive time. */
static void put_incl_excl(struct nytp_report *report, int64_t incl_ticks, int64_t excl_ticks)
{
    struct nytp_out *out = report->out;
    nytp_report_put_time(report, out, excl_ticks);
    if (incl_ticks >= excl_ticks) {
        nytp_puts(out, " + ");
        nytp_report_put_time(report, out, incl_ticks - excl_ticks);
    } else {
        nytp_puts(out, " in nested calls");
    }
}

static void put_average(struct nytp_report *report, int64_t ticks, uint64_t count)
{
    if (count <= 1 || ticks <= 0 || report->profile->sampled) /* calls are a lower bound */
        return;
    nytp_puts(report->out, ", avg ");
    nytp_report_put_average(report, ticks, count);
}

/* ---- callers of a sub ---- */

static void put_caller_names(struct nytp_report *report, const struct nytp_report_call *call)
{
    for (uint32_t i = 0; i < call->n_callers; i++) {
        nytp_puts(report->out, i == 0 ? " by " : " or ");
        nytp_report_put_sub(report, report->callers[call->first_caller + i]);
    }
}

/* Writes "line 12" or "line 12 of Foo.pm", linked. */
static void put_place(struct nytp_report *report, const struct nytp_report_call *call,
                      uint32_t from_file)
{
    const uint32_t file = call->file;
    if (file == 0)
        return;
    nytp_puts(report->out, " at ");
    const bool linked = nytp_report_put_line_anchor(report, file, call->line);
    nytp_printf(report->out, "line %u", (unsigned)call->line);
    if (file != from_file) {
        nytp_puts(report->out, " of ");
        nytp_report_put_file(report, file);
    }
    if (linked)
        nytp_puts(report->out, "</a>");
}

static void put_caller(struct nytp_report *report, const struct nytp_report_call *call,
                       uint32_t file)
{
    struct nytp_out *out = report->out;
    nytp_puts(out, "<li>");
    nytp_report_put_calls(report, call->calls);
    nytp_puts(out, " (");
    put_incl_excl(report, call->incl_ticks, call->excl_ticks);
    nytp_putc(out, ')');
    put_caller_names(report, call);
    put_place(report, call, file);
    put_average(report, call->incl_ticks, call->calls);
    nytp_putc(out, '\n');
}

static void put_sub_summary(struct nytp_report *report, uint32_t sub)
{
    const struct nytp_report_sub *s = &report->subs[sub];
    struct nytp_out *out = report->out;
    nytp_report_put_time(report, out, s->incl_ticks);
    if (s->incl_ticks > s->excl_ticks) {
        nytp_puts(out, " (");
        put_incl_excl(report, s->incl_ticks, s->excl_ticks);
        nytp_putc(out, ')');
    }
    nytp_puts(out, " within <b>");
    nytp_report_put_sub(report, sub);
    nytp_puts(out, "</b>, called ");
    nytp_report_put_calls(report, s->calls);
    if (s->places > 1)
        nytp_printf(out, " from %u places", (unsigned)s->places);
    put_average(report, s->incl_ticks, s->calls);
    if (s->rec_depth > 0) {
        nytp_printf(out, "; it recurses to depth %u, the nested calls took ",
                    (unsigned)s->rec_depth);
        nytp_report_put_time(report, out, s->reci_ticks);
    }
}

bool nytp_report_put_callers(struct nytp_report *report, uint32_t sub, uint32_t file)
{
    const struct nytp_name name = nytp_report_sub_name(report, sub);
    const struct nytp_report_sub *s = &report->subs[sub];
    if (!nytp_report_sub_ran(report, sub) ||
        report->profile->subs[sub].kind >= NYTP_SUB_RUNTIME) /* the program has no caller */
        return false;
    nytp_puts(report->out, "<details class=in");
    nytp_report_put_id(report, "sub-");
    nytp_html_id(report->out, name.ptr, name.len);
    nytp_puts(report->out, s->places <= MAX_OPEN_CALLERS ? " open><summary>" : "><summary>");
    put_sub_summary(report, sub);
    nytp_puts(report->out, "</summary><ul>");
    for (uint32_t i = 0; i < s->places; i++)
        put_caller(report, &report->calls[report->calls_by_sub[s->first_call + i]], file);
    nytp_puts(report->out, "</ul></details>");
    return true;
}

/* ---- callees of a line ---- */

static void put_callee(struct nytp_report *report, const struct nytp_report_call *call)
{
    struct nytp_out *out = report->out;
    const int64_t ticks = nytp_ticks_sum(call->incl_ticks, call->reci_ticks);
    nytp_puts(out, "<li>");
    nytp_report_put_time(report, out, ticks);
    nytp_puts(out, report->profile->sampled ? " making at least " : " making ");
    nytp_report_plural(out, call->calls, "call", "calls");
    nytp_puts(out, " to ");
    const bool linked = nytp_report_put_sub_anchor(report, call->sub);
    nytp_report_put_sub(report, call->sub);
    if (linked)
        nytp_puts(out, "</a>");
    put_average(report, ticks, call->calls);
    if (call->rec_depth > 0) {
        nytp_printf(out, ", recursion: max depth %u, sum of overlapping time ",
                    (unsigned)call->rec_depth);
        nytp_report_put_time(report, out, call->reci_ticks);
    }
    nytp_putc(out, '\n');
}

bool nytp_report_put_callees(struct nytp_report *report, uint32_t first, uint32_t end)
{
    const struct nytp_report_call *calls = report->calls;
    /* a single one more is shown, not folded */
    const uint32_t n_open =
        end - first <= MAX_OPEN_CALLEES + 1 ? end - first : MAX_OPEN_CALLEES;
    if (first == end)
        return false;
    nytp_puts(report->out, "<ul class=out>");
    for (uint32_t i = first; i < first + n_open; i++)
        put_callee(report, &calls[i]);
    nytp_puts(report->out, "</ul>");
    if (first + n_open == end)
        return true;
    int64_t rest = 0;
    for (uint32_t i = first + n_open; i < end; i++)
        rest = nytp_ticks_sum(rest, nytp_ticks_sum(calls[i].incl_ticks, calls[i].reci_ticks));
    nytp_printf(report->out, "<details class=\"out more\"><summary>%u more subs, ",
                (unsigned)(end - first - n_open));
    nytp_report_put_time(report, report->out, rest);
    nytp_puts(report->out, "</summary><ul>");
    for (uint32_t i = first + n_open; i < end; i++)
        put_callee(report, &calls[i]);
    nytp_puts(report->out, "</ul></details>");
    return true;
}

/* ---- string evals of a line ---- */

static void put_eval(struct nytp_report *report, uint32_t eval)
{
    const struct nytp_report_file *file = &report->files[eval];
    struct nytp_out *out = report->out;
    const uint32_t n = file->n_merged + 1;
    nytp_puts(out, "<li>");
    nytp_report_put_time(report, out, file->all_ticks);
    nytp_puts(out, " executing statements in ");
    if (file->stem != NULL)
        nytp_report_put_line_anchor(report, eval, 0);
    nytp_report_plural(out, n, "string eval", "string evals");
    if (n > 1)
        nytp_puts(out, " (merged)");
    nytp_puts(out, file->stem != NULL ? "</a>" : " (no page: too many evals)");
    if (file->all_ticks != file->ticks) {
        nytp_puts(out, ", ");
        nytp_report_put_time(report, out, file->ticks);
        nytp_puts(out, " here plus ");
        nytp_report_put_time(report, out, file->all_ticks - file->ticks);
        nytp_puts(out, " in ");
        nytp_report_plural(out, file->n_direct + file->n_nested, "nested eval", "nested evals");
    }
    if (file->defined_calls > 0) {
        nytp_puts(out, "; includes ");
        nytp_report_put_time(report, out, file->defined_ticks);
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
        n_evals += report->files[eval].n_merged + 1;
        ticks += report->files[eval].all_ticks;
    }
    nytp_puts(out, end - first <= MAX_OPEN_EVALS ? "<details class=\"out evals\" open><summary>"
                                                 : "<details class=\"out evals\"><summary>");
    nytp_report_plural(out, n_evals, "string eval", "string evals");
    if (n_evals > end - first)
        nytp_printf(out, " in %u groups", (unsigned)(end - first));
    nytp_puts(out, ", ");
    nytp_report_put_time(report, out, ticks);
    nytp_puts(out, "</summary><ul>");
    for (uint32_t i = first; i < end && i - first < MAX_LISTED_EVALS; i++)
        put_eval(report, report->evals_by_place[i]);
    if (end - first > MAX_LISTED_EVALS)
        nytp_printf(out, "<li>and %u more, of less time",
                    (unsigned)(end - first - MAX_LISTED_EVALS));
    nytp_puts(out, "</ul></details>");
    return true;
}
