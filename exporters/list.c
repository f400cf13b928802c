/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Annotated source for the terminal, sub by sub: statements, exclusive and inclusive time
 * beside each line, the callers above the sub, the callees below the calling line. The source
 * comes from the recording; no file is opened.
 */
#include "exporters/stacks/calls.h"
#include "exporters/base/exporter.h"
#include "exporters/base/text.h"

#include "formats/model/profile.h"

#include <stdlib.h>

/* Without an expression: subs with at least this share of exclusive time, and no more subs. */
#define LEAST_PERCENT  1
#define MOST_SUBS      20
#define MOST_CALLS     5 /* callers of a sub, callees of a line */
#define CONTEXT        2 /* lines without numbers around those with numbers */
#define CALL_INDENT    37
#define MEMORY_COLUMNS 21

struct list {
    const struct nytp_profile *profile;
    const struct nytp_export_options *options;
    struct nytp_out *out;
    struct nytp_callers callers;
};

static void put_time(const struct list *list, int64_t ticks, int width)
{
    nytp_text_time(list->out, ticks, list->profile->ticks_per_sec, list->options->unit, width);
}

static void set_style(const struct list *list, enum nytp_style style)
{
    nytp_text_style(list->out, list->options->color, style);
}

static enum nytp_memory_columns memory_of(const struct list *list)
{
    return nytp_text_memory_columns(list->profile, NULL);
}

static void put_memory_of_calls(const struct list *list, const struct nytp_call_row *row)
{
    if (memory_of(list) == NYTP_MEMORY_SVS) {
        nytp_printf(list->out, " %lld SVs", (long long)row->svs);
    } else if (memory_of(list) != NYTP_MEMORY_NONE) {
        nytp_putc(list->out, ' ');
        nytp_text_bytes(list->out, row->inuse_bytes, 0);
        nytp_puts(list->out, " in use");
    }
}

static void put_memory(const struct list *list, const struct nytp_svs *memory)
{
    if (memory_of(list) == NYTP_MEMORY_SVS) {
        nytp_printf(list->out, "%9lld %9lld ", (long long)memory->net, (long long)memory->kept);
    } else if (memory_of(list) != NYTP_MEMORY_NONE) {
        nytp_text_bytes(list->out, memory->bytes.of[NYTP_ALLOC_SPACE], 9);
        nytp_text_bytes(list->out, memory->bytes.of[NYTP_INUSE_SPACE], 10);
        nytp_putc(list->out, ' ');
    }
}

static uint32_t text_column(const struct list *list)
{
    return CALL_INDENT + (memory_of(list) != NYTP_MEMORY_NONE ? MEMORY_COLUMNS : 0);
}

/* Calls stand below the source; a narrow terminal has no room for them beside the memory. */
static uint32_t call_column(const struct list *list)
{
    return nytp_text_is_narrow(list->options->columns) ? CALL_INDENT : text_column(list);
}

static uint32_t columns_left(const struct list *list, uint32_t used)
{
    return nytp_columns_left(list->options->columns, used, 1);
}

/* ---- calls ---- */

/* Samples show only some of the calls. */
static void put_count(const struct list *list, const char *arrow, uint64_t calls)
{
    nytp_printf(list->out, "%s %s%llux ", arrow, list->profile->sampled ? ">=" : "",
                (unsigned long long)calls);
}

static void put_call(const struct list *list, const char *arrow,
                     const struct nytp_call_row *row, bool with_place)
{
    struct nytp_out *out = list->out;
    const uint64_t before = out->n_bytes;
    put_count(list, arrow, row->calls);
    put_time(list, row->incl_ticks, 0);
    put_memory_of_calls(list, row);
    nytp_puts(out, "  ");
    uint32_t used = call_column(list) + (uint32_t)(out->n_bytes - before);
    used +=
        nytp_text_put_tail(out, list->profile->subs[row->sub].name, columns_left(list, used));
    char buffer[4096];
    const struct nytp_name place =
        nytp_text_place(list->profile, row->file, row->line, buffer, sizeof buffer);
    const bool fits = list->options->columns == 0 || list->options->columns >= used + 12;
    if (with_place && place.len > 0 && fits) {
        nytp_puts(out, "  ");
        nytp_text_put_tail(out, place, columns_left(list, used + 2));
    }
    nytp_putc(out, '\n');
}

/* Writes at most MOST_CALLS rows, and one for the rest. */
static void put_calls(const struct list *list, const char *arrow,
                      const struct nytp_call_row *rows, uint32_t n, bool with_place)
{
    struct nytp_call_row rest = {0};
    set_style(list, NYTP_STYLE_DIM);
    for (uint32_t i = 0; i < n; i++) {
        if (i >= MOST_CALLS && n > MOST_CALLS + 1) {
            rest.calls += rows[i].calls;
            rest.incl_ticks += rows[i].incl_ticks;
            rest.svs += rows[i].svs;
            rest.inuse_bytes += rows[i].inuse_bytes;
            continue;
        }
        nytp_text_pad(list->out, call_column(list));
        put_call(list, arrow, &rows[i], with_place);
    }
    if (n > MOST_CALLS + 1) {
        nytp_text_pad(list->out, call_column(list));
        put_count(list, arrow, rest.calls);
        put_time(list, rest.incl_ticks, 0);
        put_memory_of_calls(list, &rest);
        nytp_printf(list->out, "  (%lu more)\n", (unsigned long)n - MOST_CALLS);
    }
    set_style(list, NYTP_STYLE_PLAIN);
}

/* ---- lines ---- */

static enum nytp_style style_of(const struct list *list, int64_t ticks)
{
    const int64_t total = list->profile->total.ticks;
    if (ticks > total / 10)
        return NYTP_STYLE_HOT;
    return ticks > total / 100 ? NYTP_STYLE_WARM : NYTP_STYLE_PLAIN;
}

static void put_source(const struct list *list, uint32_t file, uint32_t line)
{
    const struct nytp_source_line *source = nytp_profile_source(list->profile, file, line);
    nytp_printf(list->out, " %6lu  ", (unsigned long)line);
    if (source != NULL)
        nytp_text_put_source(list->out, source, false,
                             columns_left(list, text_column(list) + 1));
    nytp_putc(list->out, '\n');
}

static void put_context(const struct list *list, uint32_t file, uint32_t line)
{
    if (nytp_profile_source(list->profile, file, line) == NULL)
        return;
    set_style(list, NYTP_STYLE_DIM);
    nytp_text_pad(list->out, text_column(list) - 9);
    put_source(list, file, line);
    set_style(list, NYTP_STYLE_PLAIN);
}

static void put_line(const struct list *list, const struct nytp_line_row *row,
                     const struct nytp_call_row *calls, uint32_t n_calls)
{
    int64_t incl = row->self_ticks;
    for (uint32_t i = 0; i < n_calls; i++)
        incl += calls[i].incl_ticks;
    set_style(list, style_of(list, row->self_ticks));
    nytp_printf(list->out, "%9llu", (unsigned long long)row->statements);
    nytp_putc(list->out, ' ');
    put_time(list, row->self_ticks, 9);
    nytp_putc(list->out, ' ');
    put_time(list, incl, 8);
    if (memory_of(list) != NYTP_MEMORY_NONE)
        nytp_putc(list->out, ' ');
    put_memory(list, &row->memory);
    put_source(list, row->file, row->line);
    set_style(list, NYTP_STYLE_PLAIN);
    put_calls(list, "->", calls, n_calls, false);
}

/* The lines written so far: everything of `file` up to `line`. */
struct written {
    uint32_t file, line;
};

static bool in_sub(const struct nytp_sub *sub, uint32_t file, uint32_t line)
{
    return file == sub->file && line >= sub->first_line && line <= sub->last_line;
}

static void put_lines_after(const struct list *list, const struct nytp_sub *sub,
                            struct written *written, uint32_t last)
{
    for (uint32_t line = written->line + 1; line <= last; line++) {
        if (!in_sub(sub, written->file, line))
            break;
        put_context(list, written->file, line);
        written->line = line;
    }
}

/* Fills the gap between the last line and the next row with a few lines, or dots. */
static void put_gap(const struct list *list, const struct nytp_sub *sub,
                    struct written *written, const struct nytp_line_row *next)
{
    if (written->file != next->file) {
        if (written->file != UINT32_MAX)
            put_lines_after(list, sub, written, written->line + CONTEXT);
        if (next->file != sub->file || written->file != UINT32_MAX) {
            char buffer[4096];
            const struct nytp_name place =
                nytp_text_place(list->profile, next->file, 0, buffer, sizeof buffer);
            nytp_text_pad(list->out, text_column(list));
            nytp_puts(list->out, "in ");
            nytp_text_put_tail(list->out, place, columns_left(list, text_column(list) + 3));
            nytp_putc(list->out, '\n');
        }
        const bool inside = in_sub(sub, next->file, next->line);
        *written = (struct written){next->file, inside ? sub->first_line - 1 : next->line - 1};
    }
    if (next->line > written->line + 2 * CONTEXT + 1) {
        if (in_sub(sub, next->file, written->line))
            put_lines_after(list, sub, written, written->line + CONTEXT);
        nytp_text_pad(list->out, text_column(list));
        nytp_puts(list->out, "...\n");
        written->line = next->line - 1 - (next->line > CONTEXT ? CONTEXT : 0);
    }
    if (next->line > 0)
        put_lines_after(list, sub, written, next->line - 1);
}

/* Returns rows for all lines, also those with calls but no statements; none without memory. */
static struct nytp_line_rows rows_of_sub(const struct nytp_profile *profile, uint32_t sub,
                                         const struct nytp_call_rows *calls)
{
    struct nytp_line_rows rows = nytp_lines_of(profile, sub);
    struct nytp_line_row *const all =
        rows.rows != NULL
            ? realloc(rows.rows, ((size_t)rows.n + calls->n + 1) * sizeof *rows.rows)
            : NULL;
    if (all == NULL) {
        free(rows.rows);
        return (struct nytp_line_rows){NULL, 0};
    }
    rows.rows = all;
    for (uint32_t i = 0; i < calls->n; i++)
        all[rows.n++] =
            (struct nytp_line_row){.file = calls->rows[i].file, .line = calls->rows[i].line};
    nytp_lines_sum(&rows);
    return rows;
}

static bool put_lines(const struct list *list, uint32_t sub)
{
    const struct nytp_profile *profile = list->profile;
    struct nytp_call_rows calls = nytp_calls_by_line(profile, &list->callers, sub);
    struct nytp_line_rows rows = {NULL, 0};
    if (calls.rows != NULL)
        rows = rows_of_sub(profile, sub, &calls);
    struct written written = {UINT32_MAX, 0};
    for (uint32_t i = 0, c = 0; rows.rows != NULL && i < rows.n; i++) {
        const struct nytp_line_row *row = &rows.rows[i];
        uint32_t n = 0;
        while (c + n < calls.n && calls.rows[c + n].file == row->file &&
               calls.rows[c + n].line == row->line)
            n++;
        put_gap(list, &profile->subs[sub], &written, row);
        put_line(list, row, &calls.rows[c], n);
        written.line = row->line;
        c += n;
    }
    if (written.file != UINT32_MAX)
        put_lines_after(list, &profile->subs[sub], &written, written.line + CONTEXT);
    const bool ok = rows.rows != NULL;
    free(calls.rows);
    free(rows.rows);
    return ok;
}

/* ---- subs ---- */

static void put_share(const struct list *list, int64_t ticks)
{
    const int64_t total = list->profile->total.ticks;
    if (total != 0)
        nytp_printf(list->out, " (%.1f%%)",
                    ticks == 0 ? 0.0 : (double)ticks / (double)total * 100);
}

static void put_title(const struct list *list, const struct nytp_sub *sub)
{
    const struct nytp_profile *profile = list->profile;
    struct nytp_out *out = list->out;
    set_style(list, NYTP_STYLE_BOLD);
    const uint32_t width = nytp_text_put_tail(out, sub->name, columns_left(list, 0));
    set_style(list, NYTP_STYLE_PLAIN);
    char buffer[4096];
    const struct nytp_name place =
        nytp_text_place(profile, sub->file, sub->first_line, buffer, sizeof buffer);
    const bool fits = list->options->columns == 0 || list->options->columns >= width + 26;
    if (place.len > 0 && fits) {
        nytp_puts(out, "  ");
        nytp_text_put_tail(out, place, columns_left(list, width + 14));
        if (sub->last_line > sub->first_line)
            nytp_printf(out, "-%lu", (unsigned long)sub->last_line);
    }
    nytp_puts(out, "\n   self ");
    put_time(list, sub->excl_ticks, 0);
    put_share(list, sub->excl_ticks);
    nytp_puts(out, "  incl ");
    put_time(list, sub->incl_ticks, 0);
    put_share(list, sub->incl_ticks);
    nytp_printf(out, "  %s%llu %s\n", list->profile->sampled ? "at least " : "",
                (unsigned long long)sub->calls, sub->calls == 1 ? "call" : "calls");
}

static bool put_sub(const struct list *list, uint32_t sub)
{
    struct nytp_call_rows callers = nytp_calls_to(list->profile, &list->callers, sub);
    put_title(list, &list->profile->subs[sub]);
    if (callers.rows != NULL)
        put_calls(list, "<-", callers.rows, callers.n, true);
    set_style(list, NYTP_STYLE_BOLD);
    nytp_printf(list->out, "%9s      self     incl%s", nytp_text_stmts(list->profile),
                memory_of(list) != NYTP_MEMORY_NONE ? " " : "");
    if (memory_of(list) != NYTP_MEMORY_NONE)
        nytp_puts(list->out, memory_of(list) == NYTP_MEMORY_SVS ? "      SVs      kept "
                                                                : "    alloc    in use ");
    nytp_puts(list->out, "   line  source\n");
    set_style(list, NYTP_STYLE_PLAIN);
    const bool ok = callers.rows != NULL && put_lines(list, sub);
    free(callers.rows);
    return ok;
}

/* Subs are sorted by name: their address breaks ties. */
static int by_self(const void *x, const void *y)
{
    const struct nytp_sub *a = *(const struct nytp_sub *const *)x;
    const struct nytp_sub *b = *(const struct nytp_sub *const *)y;
    NYTP_RETURN_ORDER(b->excl_ticks, a->excl_ticks);
    return (a > b) - (a < b);
}

/* Chooses all subs that match the expression and ran, or the hottest with lines of Perl. */
static uint32_t choose_subs(const struct list *list, const bool *matches,
                            const struct nytp_sub **chosen)
{
    const struct nytp_profile *profile = list->profile;
    const bool all = list->options->names.n > 0;
    const double percent =
        list->options->min_percent >= 0 ? list->options->min_percent : LEAST_PERCENT;
    const double least = (double)profile->total.ticks * percent / 100;
    uint32_t n = 0;
    for (uint32_t i = 0; i < profile->n_subs; i++) {
        const struct nytp_sub *sub = &profile->subs[i];
        const bool ran = sub->calls > 0 || sub->excl_ticks != 0 || sub->incl_ticks != 0 ||
                         sub->statements > 0 || sub->n_arcs > 0;
        const bool hot = sub->statements > 0 && (double)sub->excl_ticks >= least;
        if (ran && (all ? matches[i] : hot))
            chosen[n++] = sub;
    }
    qsort(chosen, n, sizeof *chosen, by_self);
    return all || n < MOST_SUBS ? n : MOST_SUBS;
}

static bool put_subs(const struct list *list, const bool *matches)
{
    const struct nytp_profile *profile = list->profile;
    const struct nytp_sub **chosen = malloc(((size_t)profile->n_subs + 1) * sizeof *chosen);
    bool ok = chosen != NULL;
    const uint32_t n = ok ? choose_subs(list, matches, chosen) : 0;
    for (uint32_t i = 0; i < n && ok && list->out->error.status == NYTP_OK; i++) {
        if (i > 0)
            nytp_putc(list->out, '\n');
        ok = put_sub(list, (uint32_t)(chosen[i] - profile->subs));
    }
    free(chosen);
    return ok;
}

static bool list_write(const struct nytp_profile *profile,
                       const struct nytp_export_options *options, struct nytp_out *out)
{
    struct list list = {.profile = profile, .options = options, .out = out};
    bool *matches = nytp_patterns_match_subs(&options->names, profile, true, &out->error);
    const bool ok = nytp_callers_init(&list.callers, profile);
    if (ok && matches != NULL) {
        nytp_text_headline(out, profile, options);
        if (!put_subs(&list, matches))
            nytp_out_of_memory(&out->error);
    } else {
        nytp_out_of_memory(&out->error);
    }
    nytp_callers_free(&list.callers);
    free(matches);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_list = {
    .name = "list",
    .title = "annotated source of subs, for the terminal",
    .adds_processes = true,
    .needs = NYTP_HAS_STATEMENTS | NYTP_HAS_ARCS | NYTP_HAS_SOURCE,
    .wants_sources = true,
    .write = list_write,
    .takes = "no-source-files source-files unit wait",
    .options = NYTP_OPTIONS(
        NYTP_OWN_OPTION("list", SUBS, names, "[=REGEX]",
                        "annotated source of matching subs; without REGEX the hottest")),
};
