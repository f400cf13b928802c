/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Database statements of requests, as tables for the terminal: how many statements and how
 * much time for each request, and statements that one place sends again and again. With
 * --by=KEY,sql the statements of each request, with their senders.
 */
#include "exporters/base/text.h"
#include "exporters/stacks/queries.h"
#include "exporters/stacks/timeline.h"

#include <stdio.h>
#include <string.h>

#define DEFAULT_ROWS 20
#define FIXED        65 /* columns before a request's name */
#define LEAST        16

struct tables {
    const struct nytp_profile *profile;
    const struct nytp_export_options *options;
    struct nytp_out *out;
    struct nytp_queries queries;
    uint32_t wanted;
};

static void put_time(const struct tables *t, int64_t ticks)
{
    nytp_text_time(t->out, ticks, t->profile->ticks_per_sec, t->options->unit, 10);
}

/* Writes to the end of the terminal's line, of which `used` columns are full. */
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

static struct nytp_name outside_of(const struct tables *t)
{
    return nytp_name_of_text(t->queries.key.len > 0 ? "(no request)" : "(all)");
}

/* The row for all that is outside of requests has no number and no total time. */
static void put_request(const struct tables *t, const struct nytp_request *request)
{
    const bool is_outside = request->n == 0;
    if (is_outside)
        nytp_puts(t->out, "       -");
    else
        nytp_printf(t->out, "%8llu", (unsigned long long)request->n);
    nytp_printf(t->out, " %10llu %6llu %8llu ", (unsigned long long)request->queries,
                (unsigned long long)request->most, (unsigned long long)request->texts);
    put_time(t, request->database_ticks);
    nytp_putc(t->out, ' ');
    if (is_outside && t->queries.key.len > 0)
        nytp_puts(t->out, "     -          -");
    else {
        const int64_t whole = is_outside ? t->profile->total_ticks : request->ticks;
        nytp_text_percent(t->out, request->database_ticks, whole);
        nytp_putc(t->out, ' ');
        put_time(t, whole);
    }
    nytp_puts(t->out, "  ");
    put_rest(t, is_outside ? outside_of(t) : request->value, FIXED);
}

static void put_requests(const struct tables *t)
{
    put_bold(t, "       n statements   most distinct   database      %       time  ");
    if (t->queries.key.len > 0)
        put_rest(t, t->queries.key, FIXED);
    else
        nytp_puts(t->out, "program\n");
    for (uint32_t i = 0; i < t->queries.n_requests && i < t->wanted; i++)
        put_request(t, &t->queries.requests[i]);
    put_more(t, t->queries.n_requests);
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
    if (t->queries.n_repeats == 0)
        return;
    put_bold(
        t,
        "\n   calls   most       time  sent again and again: one statement for all may do\n");
    for (uint32_t i = 0; i < t->queries.n_repeats && i < t->wanted; i++)
        put_repeat(t, &t->queries.repeats[i]);
    put_more(t, t->queries.n_repeats);
}

/* ---- statements of each request ---- */

#define FIXED_SENT  30  /* columns before a statement */
#define MOST_TEXT   60  /* columns of a statement if there is no terminal */
#define WIDE        120 /* wider terminals show the way beside the statement */
#define NARROW_NAME 1   /* a width at which places are shown without folders */

static bool is_wide(const struct tables *t)
{
    return t->options->columns == 0 || t->options->columns >= WIDE;
}

static struct nytp_name text_of(const struct tables *t, const struct nytp_sent *sent)
{
    return sent->text.len > 0 ? sent->text : t->profile->subs[sent->callee].name;
}

/* "app.pl:6 customer_name <- app.pl:9", for subs of main without the package. */
static uint32_t put_way(const struct tables *t, const struct nytp_sent *sent, char *text,
                        size_t size)
{
    uint32_t len = 0;
    for (uint32_t i = 0; i < sent->n_sites && len < size; i++) {
        char buffer[4096];
        const struct nytp_call_site site = sent->sites[i];
        const struct nytp_sub *const sub = &t->profile->subs[site.sub];
        const struct nytp_name place = nytp_text_place_in(t->profile, site.file, site.line,
                                                          NARROW_NAME, buffer, sizeof buffer);
        struct nytp_name name = sub->name;
        if (name.len > 6 && memcmp(name.ptr, "main::", 6) == 0)
            name = (struct nytp_name){name.ptr + 6, name.len - 6};
        if (sub->kind >= NYTP_SUB_RUNTIME)
            name.len = 0;
        len += (uint32_t)snprintf(text + len, size - len, "%s%.*s%s%.*s", i > 0 ? " <- " : "",
                                  (int)place.len, place.ptr, name.len > 0 ? " " : "",
                                  (int)name.len, name.ptr);
    }
    return len < size ? len : (uint32_t)size - 1;
}

static void put_sent(const struct tables *t, const struct nytp_request *request,
                     const struct nytp_sent *sent, uint32_t text_columns)
{
    static const char mark[] = "N+1? ";
    char way[2000];
    const int64_t whole = request->n > 0 ? request->ticks : t->profile->total_ticks;
    if (request->n > 0)
        nytp_printf(t->out, "%10.1f", (double)sent->calls / (double)request->n);
    else
        nytp_printf(t->out, "%10llu", (unsigned long long)sent->calls);
    put_time(t, sent->ticks);
    nytp_putc(t->out, ' ');
    nytp_text_percent(t->out, sent->ticks, whole);
    nytp_puts(t->out, "  ");
    const uint32_t used =
        nytp_text_put(t->out, text_of(t, sent), t->options->columns == 0 ? 0 : text_columns);
    if (is_wide(t))
        nytp_text_pad(t->out, used < text_columns ? text_columns - used + 2 : 2);
    else
        nytp_puts(t->out, "\n            ");
    const bool is_repeated = nytp_queries_is_repeated(&t->queries, sent);
    nytp_puts(t->out, is_repeated ? mark : "");
    const struct nytp_name text = {way, put_way(t, sent, way, sizeof way)};
    put_rest(t, text,
             (is_wide(t) ? FIXED_SENT + text_columns : 12) +
                 (is_repeated ? (uint32_t)sizeof mark - 1 : 0));
}

static uint32_t columns_for_texts(const struct tables *t)
{
    const uint32_t columns = t->options->columns;
    const uint32_t most = columns == 0 ? MOST_TEXT
                          : columns < WIDE
                              ? (columns > FIXED_SENT + LEAST ? columns - FIXED_SENT : LEAST)
                              : (columns - FIXED_SENT) / 2;
    uint32_t widest = LEAST;
    for (uint32_t i = 0; i < t->queries.n_sent; i++) {
        const uint32_t width = nytp_text_width(text_of(t, &t->queries.sent[i]));
        widest = width > widest ? width : widest;
    }
    return widest < most ? widest : most;
}

static void put_request_head(const struct tables *t, const struct nytp_request *request)
{
    const bool is_outside = request->n == 0;
    const int64_t whole = is_outside ? t->profile->total_ticks : request->ticks;
    const int64_t per_sec = t->profile->ticks_per_sec;
    nytp_text_style(t->out, t->options->color, NYTP_STYLE_BOLD);
    nytp_text_put(t->out, is_outside ? outside_of(t) : request->value, t->options->columns);
    nytp_text_style(t->out, t->options->color, NYTP_STYLE_PLAIN);
    nytp_puts(t->out, is_wide(t) ? "   " : "\n  ");
    if (is_outside)
        nytp_puts(t->out, "of ");
    else
        nytp_printf(t->out, "%llu request%s, ", (unsigned long long)request->n,
                    request->n == 1 ? "" : "s");
    nytp_text_time(t->out, whole, per_sec, t->options->unit, 0);
    nytp_puts(t->out, "; database ");
    nytp_text_time(t->out, request->database_ticks, per_sec, t->options->unit, 0);
    nytp_printf(t->out, ", %.1f%%\n",
                whole > 0 ? 100 * (double)request->database_ticks / (double)whole : 0);
}

static void put_by_statement(const struct tables *t)
{
    const uint32_t text_columns = columns_for_texts(t);
    for (uint32_t i = 0; i < t->queries.n_requests && i < t->wanted; i++) {
        const struct nytp_request *const request = &t->queries.requests[i];
        nytp_puts(t->out, i > 0 ? "\n" : "");
        put_request_head(t, request);
        if (request->n_sent == 0)
            continue;
        nytp_printf(t->out, "%10s      total   share  ", request->n > 0 ? "per req" : "calls");
        nytp_printf(t->out, is_wide(t) ? "%-*s  called from\n" : "statement, called from\n",
                    (int)text_columns, "statement");
        for (uint32_t k = 0; k < request->n_sent && k < t->wanted; k++)
            put_sent(t, request, &t->queries.sent[request->first_sent + k], text_columns);
        put_more(t, request->n_sent);
    }
    put_more(t, t->queries.n_requests);
    if (t->queries.n > 0 && !t->queries.has_texts)
        nytp_puts(t->out, "\nmethods of DBI: NYTPROF=sql=1 tells which statements\n");
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
    if (!nytp_queries_init_of(&t.queries, profile, NULL, options->request_key))
        nytp_out_of_memory(&out->error);
    nytp_text_headline(out, profile, options);
    if (t.queries.n == 0)
        nytp_puts(out,
                  options->selected == NULL && (profile->has & NYTP_HAS_CALLS) != 0
                      ? "No statement was sent through DBI.\n"
                      : "No calls one by one: not recorded, or left out by a selection.\n");
    if (options->by_query) {
        put_by_statement(&t);
    } else {
        put_requests(&t);
        put_repeats(&t);
    }
    put_remarks(&t);
    nytp_queries_free(&t.queries);
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
