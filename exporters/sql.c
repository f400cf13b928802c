/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What requests ask of databases, as tables for the terminal: how many statements and how long
 * each request, and which statement one place sends again and again.
 */
#include "exporters/base/text.h"
#include "exporters/stacks/statements.h"
#include "exporters/stacks/timeline.h"

#define DEFAULT_ROWS 20
#define FIXED        65 /* columns before a request's name */
#define LEAST        16

struct tables {
    const struct nytp_profile *profile;
    const struct nytp_export_options *options;
    struct nytp_out *out;
    struct nytp_statements statements;
    uint32_t wanted;
};

static void put_time(const struct tables *t, int64_t ticks)
{
    nytp_text_time(t->out, ticks, t->profile->ticks_per_sec, t->options->unit, 10);
}

/* To the end of the terminal's line, of which `used` columns are full. */
static void put_rest(const struct tables *t, struct nytp_name text, uint32_t used)
{
    const uint32_t columns = t->options->columns;
    nytp_text_put(t->out, text,
                  columns == 0             ? 0
                  : columns > used + LEAST ? columns - used
                                           : LEAST);
    nytp_putc(t->out, '\n');
}

static void put_bold(const struct tables *t, const char *text)
{
    nytp_text_style(t->out, t->options->color, NYTP_STYLE_BOLD);
    nytp_puts(t->out, text);
    nytp_text_style(t->out, t->options->color, NYTP_STYLE_PLAIN);
}

static void put_more(const struct tables *t, uint32_t n)
{
    if (n > t->wanted)
        nytp_printf(t->out, "%lu more\n", (unsigned long)(n - t->wanted));
}

/* What was outside of all requests has no number and no time of its own. */
static void put_request(const struct tables *t, const struct nytp_request *request)
{
    const struct nytp_name outside =
        nytp_name_of_text(t->statements.key.len > 0 ? "(no request)" : "(all)");
    const bool is_outside = request->n == 0;
    if (is_outside)
        nytp_puts(t->out, "       -");
    else
        nytp_printf(t->out, "%8llu", (unsigned long long)request->n);
    nytp_printf(t->out, " %10llu %6llu %8llu ", (unsigned long long)request->statements,
                (unsigned long long)request->most, (unsigned long long)request->texts);
    put_time(t, request->database_ticks);
    nytp_putc(t->out, ' ');
    if (is_outside && t->statements.key.len > 0)
        nytp_puts(t->out, "     -          -");
    else {
        const int64_t whole = is_outside ? t->profile->total_ticks : request->ticks;
        nytp_text_percent(t->out, request->database_ticks, whole);
        nytp_putc(t->out, ' ');
        put_time(t, whole);
    }
    nytp_puts(t->out, "  ");
    put_rest(t, is_outside ? outside : request->value, FIXED);
}

static void put_requests(const struct tables *t)
{
    put_bold(t, "       n statements   most distinct   database      %       time  ");
    if (t->statements.key.len > 0)
        put_rest(t, t->statements.key, FIXED);
    else
        nytp_puts(t->out, "program\n");
    for (uint32_t i = 0; i < t->statements.n_requests && i < t->wanted; i++)
        put_request(t, &t->statements.requests[i]);
    put_more(t, t->statements.n_requests);
}

static void put_place(const struct tables *t, uint32_t file, uint32_t line)
{
    char buffer[4096];
    nytp_text_put_tail(
        t->out,
        nytp_text_place_in(t->profile, file, line, t->options->columns, buffer, sizeof buffer),
        0);
}

static void put_sub(const struct tables *t, uint32_t sub)
{
    nytp_text_put_tail(t->out, t->profile->subs[sub].name, 0);
}

static void put_repeat(const struct tables *t, const struct nytp_repeat *repeat)
{
    nytp_printf(t->out, "%8llu %6llu ", (unsigned long long)repeat->calls,
                (unsigned long long)repeat->most);
    put_time(t, repeat->ticks);
    nytp_puts(t->out, "  ");
    put_rest(t,
             repeat->text.len > 0 ? repeat->text
                                  : nytp_name_of_text("(NYTPROF=sql=1 tells which)"),
             28);
    nytp_puts(t->out, "           ");
    put_sub(t, repeat->callee);
    nytp_puts(t->out, " at ");
    put_place(t, repeat->file, repeat->line);
    nytp_puts(t->out, " in ");
    put_sub(t, repeat->caller);
    nytp_puts(t->out, "\n           the loop: ");
    put_place(t, repeat->loop_file, repeat->loop_line);
    nytp_puts(t->out, " in ");
    put_sub(t, repeat->loop_sub);
    if (repeat->request.len > 0) {
        nytp_puts(t->out, ", as in ");
        nytp_text_put(t->out, repeat->request, 100);
    }
    nytp_putc(t->out, '\n');
}

static void put_repeats(const struct tables *t)
{
    if (t->statements.n_repeats == 0)
        return;
    put_bold(
        t,
        "\n   calls   most       time  sent again and again: one statement for all may do\n");
    for (uint32_t i = 0; i < t->statements.n_repeats && i < t->wanted; i++)
        put_repeat(t, &t->statements.repeats[i]);
    put_more(t, t->statements.n_repeats);
}

static void put_remarks(const struct tables *t)
{
    char text[200];
    for (uint32_t i = 0; i < t->profile->n_processes; i++) {
        const char *const remark = nytp_timeline_remark(t->profile, i, text, sizeof text);
        if (*remark == '\0')
            continue;
        nytp_printf(t->out, "\nnot all is counted%s; --max-calls=N takes more\n", remark);
        return;
    }
}

static bool write_sql(const struct nytp_profile *profile,
                      const struct nytp_export_options *options, struct nytp_out *out)
{
    struct tables t = {profile, options, out,
                       .wanted = options->top > 0 ? options->top : DEFAULT_ROWS};
    if (!nytp_statements_init(&t.statements, profile))
        nytp_out_of_memory(&out->error);
    nytp_text_headline(out, profile, options);
    if (t.statements.n == 0)
        nytp_puts(out,
                  options->selected == NULL && (profile->has & NYTP_HAS_CALLS) != 0
                      ? "No statement was sent through DBI.\n"
                      : "No calls one by one: not recorded, or left out by a selection.\n");
    put_requests(&t);
    put_repeats(&t);
    put_remarks(&t);
    nytp_statements_free(&t.statements);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_sql = {
    .name = "sql",
    .title = "what requests ask of databases (DBI), and statements in a loop, in the terminal",
    .suffixes = "",
    .needs = NYTP_HAS_CALLS,
    .wants_statements = true,
    .write = write_sql,
    .no_diff = "it has no runs to compare; use --top",
};
