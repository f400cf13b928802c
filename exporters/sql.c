/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Database statements of requests, as tables for the terminal: how many statements and how
 * much time for each request, and statements that one place sends again and again. With
 * --by=KEY,sql the statements of each request, with their senders.
 */
#include "exporters/stacks/queries.h"
#include "exporters/stacks/timeline.h"
#include "exporters/table/sheet.h"

#include <stdio.h>
#include <string.h>

#define LEAST 16 /* columns of a text */

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

/* Fills the rest of the terminal's line, of which `used` columns are taken. */
static void put_rest(const struct tables *t, struct nytp_name text, uint32_t used)
{
    nytp_text_put(t->out, text, nytp_columns_left(t->options->columns, used, LEAST));
    nytp_putc(t->out, '\n');
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

enum {
    N,
    SENT,
    MOST,
    DISTINCT,
    DATABASE,
    SHARE,
    TIME,
    REQUEST
};

static const struct nytp_column request_columns[] = {
    [N] = {"n", "n", NYTP_CELL_COUNT, 8, 8},
    [SENT] = {"statements", "statements", NYTP_CELL_COUNT, 11, 11},
    [MOST] = {"most", "most", NYTP_CELL_COUNT, 7, 7},
    [DISTINCT] = {"distinct", "distinct", NYTP_CELL_COUNT, 9, 9},
    [DATABASE] = {"database", "database", NYTP_CELL_TICKS, 11, 11},
    [SHARE] = {"", "%", NYTP_CELL_SHARE, 7, 7},
    [TIME] = {"time", "time", NYTP_CELL_TICKS, 11, 11},
    [REQUEST] = {"request", "program", NYTP_CELL_CODE, .gap = 1},
};

/* The row for all that is outside of requests has no number and no total time. */
static void fill_request(const struct nytp_sheet *sheet, uint32_t row, struct nytp_cell *cells)
{
    const struct tables *const t = sheet->context;
    const struct nytp_request *const request = &t->queries.requests[row];
    const bool is_outside = request->n == 0, is_none = is_outside && t->queries.key.len > 0;
    const int64_t whole = is_outside ? t->profile->total.ticks : request->ticks;
    cells[N] = (struct nytp_cell){.value = (int64_t)request->n, .is_none = is_outside};
    cells[SENT].value = (int64_t)request->queries;
    cells[MOST].value = (int64_t)request->most;
    cells[DISTINCT].value = (int64_t)request->texts;
    cells[DATABASE].value = request->database_ticks;
    cells[SHARE] =
        (struct nytp_cell){.value = request->database_ticks, .of = whole, .is_none = is_none};
    cells[TIME] = (struct nytp_cell){.value = whole, .is_none = is_none};
    cells[REQUEST].text = is_outside ? outside_of(t) : request->value;
}

enum {
    LOOP_CALLS,
    LOOP_MOST,
    LOOP_TIME,
    STATEMENT,
    METHOD,
    CALLER,
    SITE,
    LOOP,
    LOOP_SITE,
    AS_IN
};

static const struct nytp_column loop_columns[] = {
    [LOOP_CALLS] = {"calls", "calls", NYTP_CELL_COUNT, 8, 8},
    [LOOP_MOST] = {"most", "most", NYTP_CELL_COUNT, 7, 7},
    [LOOP_TIME] = {"time", "time", NYTP_CELL_TICKS, 11, 11},
    [STATEMENT] = {"statement", "sent again and again: one statement for all may do",
                   NYTP_CELL_CODE, .gap = 1},
    [METHOD] = {"method", "method", NYTP_CELL_CODE},
    [CALLER] = {"sub", "sent by", NYTP_CELL_CODE},
    [SITE] = {"", "", NYTP_CELL_PLACE, .joins = true},
    [LOOP] = {"loop_sub", "the loop", NYTP_CELL_CODE},
    [LOOP_SITE] = {"loop_", "", NYTP_CELL_PLACE, .joins = true},
    [AS_IN] = {"request", "as in", NYTP_CELL_CODE},
};

static void fill_loop(const struct nytp_sheet *sheet, uint32_t row, struct nytp_cell *cells)
{
    const struct nytp_repeat *const r =
        &((const struct tables *)sheet->context)->queries.repeats[row];
    const struct nytp_sub *const subs = sheet->profile->subs;
    cells[LOOP_CALLS].value = (int64_t)r->calls;
    cells[LOOP_MOST].value = (int64_t)r->most;
    cells[LOOP_TIME].value = r->ticks;
    cells[STATEMENT].text =
        r->text.len > 0 ? r->text : nytp_name_of_text("(NYTPROF=sql=1 tells which)");
    cells[METHOD].text = subs[r->callee].name;
    cells[CALLER].text = subs[r->caller].name;
    cells[SITE] = (struct nytp_cell){.file = r->file, .line = r->line};
    cells[LOOP].text = subs[r->loop_sub].name;
    cells[LOOP_SITE] = (struct nytp_cell){.file = r->loop_file, .line = r->loop_line};
    cells[AS_IN].text = r->request;
}

/* Writes "in sub at place" of a loop's row below it. */
static void put_site(const struct nytp_sheet *sheet, const struct nytp_cell *sub,
                     const struct nytp_cell *site, struct nytp_out *out)
{
    char buffer[4096];
    nytp_text_put_tail(out,
                       nytp_text_place_in(sheet->profile, site->file, site->line,
                                          sheet->options->columns, buffer, sizeof buffer),
                       0);
    nytp_puts(out, " in ");
    nytp_text_put_tail(out, sub->text, 0);
}

static void put_loop(const struct nytp_sheet *sheet, uint32_t row, struct nytp_out *out)
{
    struct nytp_cell cells[NYTP_MOST_COLUMNS];
    nytp_sheet_cells(sheet, row, cells);
    nytp_puts(out, "           ");
    nytp_text_put_tail(out, cells[METHOD].text, 0);
    nytp_puts(out, " at ");
    put_site(sheet, &cells[CALLER], &cells[SITE], out);
    nytp_puts(out, "\n           the loop: ");
    put_site(sheet, &cells[LOOP], &cells[LOOP_SITE], out);
    if (cells[AS_IN].text.len > 0) {
        nytp_puts(out, ", as in ");
        nytp_text_put(out, cells[AS_IN].text, 100);
    }
    nytp_putc(out, '\n');
}

static void make_sheets(const struct tables *t, struct nytp_sheet sheets[2])
{
    sheets[0] = nytp_sheet_of(t->profile, t->options, request_columns, REQUEST + 1);
    sheets[0].name = "requests";
    sheets[0].n = t->queries.n_requests;
    sheets[0].fill = fill_request;
    if (t->queries.key.len > 0)
        sheets[0].columns[REQUEST].title = t->queries.key.ptr;
    sheets[1] = nytp_sheet_of(t->profile, t->options, loop_columns, AS_IN + 1);
    sheets[1].name = "loops";
    sheets[1].n = t->queries.n_repeats;
    sheets[1].fill = fill_loop;
    sheets[1].below = put_loop;
    for (int i = 0; i < 2; i++) {
        sheets[i].more = "more";
        sheets[i].context = t;
    }
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
    const int64_t whole = request->n > 0 ? request->ticks : t->profile->total.ticks;
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
    const uint32_t most = columns == 0     ? MOST_TEXT
                          : columns < WIDE ? nytp_columns_left(columns, FIXED_SENT, LEAST)
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
    const int64_t whole = is_outside ? t->profile->total.ticks : request->ticks;
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
    struct tables t = {profile, options, out, .wanted = nytp_wanted_rows(options)};
    if (!nytp_queries_init_of(&t.queries, profile, NULL, options->request_key))
        nytp_out_of_memory(&out->error);
    struct nytp_sheet sheets[2];
    make_sheets(&t, sheets);
    if (!nytp_sheets_put(sheets, 2, out)) {
        nytp_text_headline(out, profile, options);
        if (t.queries.n == 0)
            nytp_puts(out,
                      options->selected == NULL && (profile->has & NYTP_HAS_CALLS) != 0 &&
                              !profile->sampled
                          ? "No statement was sent through DBI.\n"
                          : "No calls one by one: not recorded, or left out by a selection.\n");
        if (options->request_key.ptr != NULL) {
            put_by_statement(&t);
        } else {
            nytp_sheet_put_text(&sheets[0], out);
            nytp_puts(out, sheets[1].n > 0 ? "\n" : "");
            if (sheets[1].n > 0)
                nytp_sheet_put_text(&sheets[1], out);
        }
        put_remarks(&t);
    }
    nytp_queries_free(&t.queries);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_sql = {
    .name = "sql",
    .title = "what requests ask of databases (DBI), and statements in a loop, in the terminal",
    .needs = NYTP_HAS_CALLS,
    .wants_statements = true,
    .write = write_sql,
    .no_diff = "it has no runs to compare; use --top",
    .takes = "as max-calls unit",
    .options = NYTP_OPTIONS(NYTP_OWN_OPTION("sql", ROWS, top, "[=N]",
                                            "the N requests and statements that take most "
                                            "of the database, default 20; 0 is all")),
};
