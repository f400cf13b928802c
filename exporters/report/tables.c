/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The report's tables of subs, files and packages. See report.h and README.md. A table has one
 * head and many bodies of some rows: browsers lay out only the bodies in view.
 */
#include "report.h"

#include "formats/base/arena.h"
#include "formats/base/strings.h"
#include "formats/base/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE NYTP_REPORT_NONE

#define ROWS_IN_BODY 200

static const struct nytp_report_column sub_columns[] = {
    {"calls", "Number of calls", "Calls", false},
    {"places", "Number of places the sub is called from", "P", false},
    {"files", "Number of files the sub is called from", "F", false},
    {"excl", "Time in the sub itself", "Exclusive time", false},
    {"", "Its share of the whole", "%", false},
    {"incl", "Time in the sub and all it called", "Inclusive time", false},
    {"svs", "Perl's values that it made itself, less those that it freed", "SVs", false},
    {"inuse", "Bytes that it allocated itself and that were in use at the end", "In use",
     false},
    {"sub", NULL, "Subroutine", true},
};

/* There is at most one column for memory. */
static bool is_shown(const struct nytp_report *report, const struct nytp_report_column *column)
{
    const enum nytp_memory_columns memory = nytp_report_memory(report);
    return strcmp(column->key, "svs") == 0     ? memory == NYTP_MEMORY_SVS
           : strcmp(column->key, "inuse") == 0 ? memory == NYTP_MEMORY_SPACE
                                               : true;
}

static const char *text_of_column(const struct nytp_report *report,
                                  const struct nytp_report_column *column)
{
    const bool of_subs = column == sub_columns && report->samples != NULL;
    const char *const of_calls = of_subs ? "Samples" : "Calls, at least";
    if (!nytp_report_is_sampled(report))
        return column->text;
    return strcmp(column->key, "stmts") == 0    ? "Samples"
           : strcmp(column->key, "dstmts") == 0 ? "\xce\x94 samples"
           : strcmp(column->key, "calls") == 0  ? of_calls
                                                : column->text;
}

void nytp_report_table_begin(struct nytp_report *report, const char *id, const char *caption,
                             const char *sum, const struct nytp_report_column *columns,
                             size_t n)
{
    struct nytp_out *out = report->out;
    nytp_puts(out, "<div class=\"rows\"");
    if (sum == NULL || sum[0] != '\0')
        nytp_printf(out, " data-sort=\"%s\"", sum != NULL ? sum : "sub");
    if (sum != NULL && sum[0] != '\0')
        nytp_printf(out, " data-sum=\"%s\"", sum);
    nytp_puts(out, ">\n<table class=\"list ");
    nytp_puts(out, id);
    if (columns == sub_columns && nytp_report_memory(report) != NYTP_MEMORY_NONE)
        nytp_puts(out, " wider");
    nytp_putc(out, '"');
    nytp_report_put_id(report, "");
    nytp_printf(out, "%.*s", (int)strcspn(id, " "), id);
    nytp_printf(out, ">\n<caption>%s</caption>\n<thead><tr>", caption);
    for (size_t i = 0; i < n; i++) {
        if (!is_shown(report, &columns[i]))
            continue;
        nytp_puts(out, "<th scope=col");
        if (columns[i].key[0] != '\0')
            nytp_printf(out, " data-key=%s", columns[i].key);
        if (columns[i].is_text)
            nytp_puts(out, " data-kind=text");
        const char *const text = text_of_column(report, &columns[i]);
        if (columns[i].title != NULL && report->explained && text == columns[i].text)
            nytp_printf(out, " title=\"%s\"", columns[i].title);
        nytp_printf(out, ">%s", text);
    }
    nytp_putc(out, '\n');
}

void nytp_report_row_begin(struct nytp_out *out, uint32_t row)
{
    nytp_puts(out, row % ROWS_IN_BODY == 0 ? "<tbody>\n<tr" : "<tr");
}

/* ---- subs ---- */

static void put_sub_link(struct nytp_report *report, uint32_t sub)
{
    const bool linked = nytp_report_put_sub_anchor(report, sub);
    const struct nytp_name name = nytp_report_sub_name(report, sub);
    const uint32_t package_len = nytp_package_len(name);
    if (package_len > 0) {
        nytp_puts(report->out, "<i>");
        nytp_html_text(report->out, name.ptr, package_len);
        nytp_puts(report->out, "</i>");
    }
    nytp_report_put_any_name(
        report, (struct nytp_name){name.ptr + package_len, name.len - package_len});
    if (linked)
        nytp_puts(report->out, "</a>");
}

static void put_sub_remarks(struct nytp_report *report, uint32_t sub,
                            const struct nytp_report_sub *s)
{
    const enum nytp_sub_kind kind = report->profile->subs[sub].kind;
    if (kind == NYTP_SUB_OPCODE)
        nytp_puts(report->out, " <small>opcode</small>");
    else if (kind == NYTP_SUB_XSUB)
        nytp_puts(report->out, " <small>xsub</small>");
    if (report->waits[sub])
        nytp_puts(report->out, " <small>waiting</small>");
    if (s->rec_depth > 0) {
        nytp_printf(report->out, " <small>recurses: max depth %u, inclusive time ",
                    (unsigned)s->rec_depth);
        nytp_report_put_time(report, report->out, s->reci_ticks);
        nytp_puts(report->out, "</small>");
    }
}

static void put_counts(struct nytp_report *report, uint32_t sub)
{
    const struct nytp_report_sub *s = &report->subs[sub];
    const uint64_t count = report->samples != NULL ? report->samples[sub] : s->calls;
    nytp_printf(report->out, "<td>%llu<td>%u<td>%u", (unsigned long long)count,
                (unsigned)s->places, (unsigned)s->files);
}

static void put_times(struct nytp_report *report, const struct nytp_report_sub *s,
                      int64_t total)
{
    const double percent = total > 0 ? 100 * (double)s->excl_ticks / (double)total : 0;
    nytp_report_time_cell(report, s->excl_ticks, true, total);
    nytp_printf(report->out, percent >= 0.05 ? "<td>%.1f%%" : "<td>", percent);
    nytp_report_time_cell(report, s->incl_ticks, true, total);
}

static void put_sub_cell(struct nytp_report *report, uint32_t sub,
                         const struct nytp_report_sub *s)
{
    nytp_puts(report->out, "<td>");
    put_sub_link(report, sub);
    put_sub_remarks(report, sub, s);
    nytp_putc(report->out, '\n');
}

static void put_sub_row(struct nytp_report *report, uint32_t sub)
{
    const struct nytp_report_sub *s = &report->subs[sub];
    nytp_puts(report->out, report->waits[sub] ? " class=waits>" : ">");
    put_counts(report, sub);
    put_times(report, s, report->profile->total_ticks);
    if (nytp_report_memory(report) == NYTP_MEMORY_SPACE)
        nytp_report_bytes_cell(report, s->inuse_bytes);
    else if (nytp_report_memory(report) == NYTP_MEMORY_SVS)
        nytp_printf(report->out, "<td>%lld", (long long)s->svs);
    put_sub_cell(report, sub, s);
}

void nytp_report_sub_table(struct nytp_report *report, const char *id, const char *caption,
                           const uint32_t *subs, uint32_t n)
{
    nytp_report_table_begin(report, id, caption, "excl", sub_columns,
                            sizeof sub_columns / sizeof *sub_columns);
    for (uint32_t i = 0; i < n; i++) {
        nytp_report_row_begin(report->out, i);
        put_sub_row(report, subs[i]);
    }
    nytp_puts(report->out, "</table></div>\n");
}

/* Call sites, samples and memory are unknown for a part. */
static void put_part_row(struct nytp_report *report, uint32_t sub,
                         const struct nytp_report_sub *s, int64_t total)
{
    nytp_puts(report->out, report->waits[sub] ? " class=waits><td>" : "><td>");
    if (report->samples == NULL)
        nytp_put_u64(report->out, s->calls);
    nytp_puts(report->out, "<td><td>");
    put_times(report, s, total);
    if (nytp_report_memory(report) != NYTP_MEMORY_NONE)
        nytp_puts(report->out, "<td>");
    put_sub_cell(report, sub, s);
}

void nytp_report_part_table(struct nytp_report *report, const char *id, const char *caption,
                            struct nytp_report_part part)
{
    nytp_report_table_begin(report, id, caption, "excl", sub_columns,
                            sizeof sub_columns / sizeof *sub_columns);
    for (uint32_t i = 0; i < part.n; i++) {
        nytp_report_row_begin(report->out, i);
        put_part_row(report, part.subs[i], &part.sums[part.subs[i]], part.total);
    }
    nytp_puts(report->out, "</table></div>");
}

static const struct nytp_report_column never_columns[] = {
    {"sub", NULL, "Subroutine", true},
    {"file", NULL, "File", true},
};

static bool is_never_called(const struct nytp_report *report, uint32_t sub)
{
    return !nytp_report_sub_ran(report, sub) && nytp_report_has_sub(report, sub) &&
           report->subs[sub].file != NONE && report->profile->subs[sub].kind < NYTP_SUB_RUNTIME;
}

void nytp_report_never_table(struct nytp_report *report)
{
    struct nytp_out *out = report->out;
    uint32_t n = 0;
    for (uint32_t s = 0; s < report->profile->n_subs; s++)
        n += is_never_called(report, s);
    if (n == 0)
        return;
    nytp_puts(out, "<details class=\"never\"><summary>");
    nytp_report_plural(out, n, "sub that was never called", "subs that were never called");
    nytp_puts(out, "</summary>\n");
    nytp_report_table_begin(report, "never", "Subs that were never called", NULL, never_columns,
                            2);
    n = 0;
    for (uint32_t sub = 0; sub < report->profile->n_subs; sub++) {
        if (!is_never_called(report, sub))
            continue;
        nytp_report_row_begin(out, n++);
        nytp_puts(out, "><td>");
        put_sub_link(report, sub);
        nytp_puts(out, "<td>");
        nytp_report_put_file(report, report->subs[sub].file);
        nytp_putc(out, '\n');
    }
    nytp_puts(out, "</table></div></details>\n");
}

/* ---- files ---- */

static const struct nytp_report_column file_columns[] = {
    {"stmts", "Number of statements executed, string evals included", "Statements", false},
    {"excl", "Time of these statements, without what the Perl subs took that they called",
     "Exclusive time", false},
    {"", NULL, "Reports", false},
    {"file", NULL, "Source file", true},
};

static void put_levels(struct nytp_report *report, uint32_t file)
{
    static const char *const words[] = {"line", "block", "sub"};
    if (report->files[file].stem == NULL)
        return;
    for (int level = 0; level < (report->levels ? 3 : 1); level++) {
        char name[NYTP_REPORT_NAME];
        nytp_report_page_name(report, file, (enum nytp_level)level, name);
        nytp_puts(report->out, level > 0 ? " <a href=" : "<a href=");
        nytp_report_put_url(report, name, "");
        nytp_printf(report->out, ">%s</a>", words[level]);
    }
}

/* More string evals are listed only on the page of their file. */
#define MAX_LISTED_EVALS 100

static void put_file_evals(struct nytp_report *report, uint32_t f)
{
    const struct nytp_report_file *file = &report->files[f];
    struct nytp_out *out = report->out;
    if (file->n_direct + file->n_nested == 0)
        return;
    nytp_puts(out, " <details class=evals><summary>");
    nytp_report_plural(out, file->n_direct + file->n_nested, "string eval", "string evals");
    if (file->n_nested > 0)
        nytp_printf(out, ": %u direct, %u nested", (unsigned)file->n_direct,
                    (unsigned)file->n_nested);
    nytp_puts(out, "</summary><ul>");
    const struct nytp_slice evals = file->of[NYTP_REPORT_EVALS];
    for (uint32_t i = 0; i < evals.n && i < MAX_LISTED_EVALS; i++) {
        const uint32_t eval = report->evals_by_place[evals.first + i];
        const int64_t ticks = report->files[eval].all_ticks;
        nytp_printf(out, "<li data-n=%lld><a href=", (long long)nytp_report_ns(report, ticks));
        nytp_report_put_line_url(report, eval, 0);
        nytp_putc(out, '>');
        nytp_report_put_file(report, eval);
        nytp_puts(out, "</a> ");
        nytp_report_put_time(report, out, ticks);
    }
    if (evals.n > MAX_LISTED_EVALS)
        nytp_printf(out, "<li>and %u more", (unsigned)(evals.n - MAX_LISTED_EVALS));
    nytp_puts(out, "</ul></details>");
}

static void put_file_row(struct nytp_report *report, uint32_t f, int64_t all_ticks,
                         uint64_t all)
{
    const struct nytp_report_file *file = &report->files[f];
    struct nytp_out *out = report->out;
    char id[16];
    snprintf(id, sizeof id, "f%u", (unsigned)report->files[f].id);
    nytp_report_put_id(report, id);
    nytp_puts(out, "><td");
    if (all > 0)
        nytp_printf(out, " title=\"%.1f%%\"", 100 * (double)file->all_stmts / (double)all);
    nytp_printf(out, ">%llu", (unsigned long long)file->all_stmts);
    nytp_report_time_cell(report, file->all_ticks, true, all_ticks);
    nytp_puts(out, "<td>");
    put_levels(report, f);
    const struct nytp_name name = nytp_report_file_name(report, f);
    nytp_puts(out, "<td title=\"");
    nytp_html_attribute(out, name.ptr, name.len);
    nytp_puts(out, "\">");
    if (file->stem != NULL) {
        nytp_puts(out, "<a href=");
        char page[NYTP_REPORT_NAME];
        nytp_report_page_name(report, f, nytp_report_link_level(report, f), page);
        nytp_report_put_url(report, page, "");
        nytp_putc(out, '>');
    }
    nytp_report_put_file(report, f);
    if (file->stem != NULL)
        nytp_puts(out, "</a>");
    put_file_evals(report, f);
    nytp_putc(out, '\n');
}

static int compare_ticks(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* In a damaged profile times may be too far apart for a number. */
static int64_t distance(int64_t a, int64_t b)
{
    const uint64_t ticks = a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
    return ticks > INT64_MAX ? INT64_MAX : (int64_t)ticks;
}

static int64_t upper_median(int64_t *ticks, uint32_t n)
{
    if (n == 0)
        return 0;
    qsort(ticks, n, sizeof *ticks, compare_ticks);
    return ticks[n / 2];
}

static void put_time_row(struct nytp_report *report, int64_t ticks, const char *words)
{
    nytp_puts(report->out, "<tr><td>");
    nytp_report_time_cell(report, ticks, false, 0);
    nytp_printf(report->out, "<td colspan=2>%s\n", words);
}

/* Writes the median of the files' times and the median of their distances from it. Files
 * without time are ignored, as in Devel::NYTProf. */
static void put_deviation(struct nytp_report *report)
{
    int64_t *ticks = malloc(((size_t)report->n_ranked + 1) * sizeof *ticks);
    if (ticks == NULL) {
        nytp_out_of_memory(&report->out->error);
        return;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < report->n_ranked; i++) {
        ticks[n] = report->files[report->files_by_time[i]].all_ticks;
        n += ticks[n] != 0;
    }
    const int64_t median = upper_median(ticks, n);
    put_time_row(report, median, "Median");
    for (uint32_t i = 0; i < n; i++)
        ticks[i] = distance(ticks[i], median);
    put_time_row(report, upper_median(ticks, n), "Deviation from the median");
    free(ticks);
}

void nytp_report_file_table(struct nytp_report *report)
{
    struct nytp_out *out = report->out;
    int64_t ticks = report->files[0].all_ticks;
    uint64_t stmts = report->files[0].all_stmts;
    for (uint32_t i = 0; i < report->n_ranked; i++) {
        ticks += report->files[report->files_by_time[i]].all_ticks;
        stmts += report->files[report->files_by_time[i]].all_stmts;
    }
    nytp_report_table_begin(report, "files", "Source files", "excl", file_columns,
                            sizeof file_columns / sizeof *file_columns);
    for (uint32_t i = 0; i < report->n_ranked; i++) {
        nytp_report_row_begin(out, i);
        put_file_row(report, report->files_by_time[i], ticks, stmts);
    }
    if (report->files[0].of[NYTP_REPORT_ROWS].n > 0) {
        nytp_report_row_begin(out, report->n_ranked);
        put_file_row(report, 0, ticks, stmts);
    }
    const uint32_t n = report->n_ranked > 0 ? report->n_ranked : 1;
    nytp_puts(out, "<tfoot>");
    nytp_printf(out, "<tr><td>%llu", (unsigned long long)stmts);
    nytp_report_time_cell(report, ticks, false, 0);
    nytp_printf(out, "<td colspan=2>Total\n<tr><td>%llu", (unsigned long long)(stmts / n));
    nytp_report_time_cell(report, ticks / n, false, 0);
    nytp_puts(out, "<td colspan=2>Average\n");
    put_deviation(report);
    nytp_puts(out, "</table></div>\n");
}

/* ---- a list to jump to files ---- */

static uint32_t *files_by_name(const struct nytp_report *report)
{
    struct nytp_report_key *keys = nytp_report_keys(report->n_ranked);
    for (uint32_t i = 0; keys != NULL && i < report->n_ranked; i++) {
        const uint32_t f = report->files_by_time[i];
        const struct nytp_name name = {report->files[f].shown, report->files[f].shown_len};
        keys[i] = (struct nytp_report_key){.name = name, .index = f};
    }
    return nytp_report_sorted(keys, report->n_ranked);
}

/* With fewer files the table is enough. */
#define MIN_JUMP_FILES 10

/* A list in a <details>: a <select> would need a script. */
void nytp_report_jump_list(struct nytp_report *report)
{
    struct nytp_out *out = report->out;
    if (report->n_ranked < MIN_JUMP_FILES)
        return;
    uint32_t *files = files_by_name(report);
    if (files == NULL) {
        nytp_out_of_memory(&report->out->error);
        return;
    }
    nytp_printf(out,
                "<nav aria-label=\"Source files\"><details class=\"folders\"><summary>Jump to "
                "one of %u source files</summary><ul>\n",
                (unsigned)report->n_ranked);
    for (uint32_t i = 0; i < report->n_ranked; i++) {
        const uint32_t f = files[i];
        char name[NYTP_REPORT_NAME];
        nytp_report_page_name(report, f, nytp_report_link_level(report, f), name);
        nytp_puts(out, "<li><a href=");
        nytp_report_put_url(report, name, "");
        nytp_putc(out, '>');
        nytp_report_put_file(report, f);
        nytp_puts(out, "</a>\n");
    }
    nytp_puts(out, "</ul></details></nav>\n");
    free(files);
}

/* ---- packages ---- */

struct package {
    struct nytp_name name; /* with its "::" */
    uint32_t subs;
    uint64_t calls;
    int64_t excl_ticks;
};

static int compare_packages(const void *left, const void *right)
{
    const struct package *a = left, *b = right;
    NYTP_RETURN_ORDER(b->excl_ticks, a->excl_ticks);
    return nytp_compare_names(a->name, b->name);
}

static const struct nytp_report_column package_columns[] = {
    {"subs", "Number of subs that were called", "Subs", false},
    {"calls", "Number of calls of these subs", "Calls", false},
    {"excl", "Time in these subs themselves", "Exclusive time", false},
    {"package", NULL, "Package", true},
};

static void put_packages(struct nytp_report *report, struct package *packages, uint32_t n)
{
    struct nytp_out *out = report->out;
    if (n > 0)
        qsort(packages, n, sizeof *packages, compare_packages);
    nytp_report_table_begin(report, "packages", "Packages", "excl", package_columns,
                            sizeof package_columns / sizeof *package_columns);
    for (uint32_t i = 0; i < n; i++) {
        nytp_report_row_begin(out, i);
        const uint32_t len = packages[i].name.len;
        const struct nytp_name name = {packages[i].name.ptr, len >= 2 ? len - 2 : len};
        if (report->flame && name.len > 0) {
            nytp_puts(out, " data-part=\"");
            nytp_html_attribute(out, name.ptr, name.len);
            nytp_putc(out, '"');
        }
        nytp_printf(out, "><td>%u<td>%llu", (unsigned)packages[i].subs,
                    (unsigned long long)packages[i].calls);
        nytp_report_time_cell(report, packages[i].excl_ticks, true,
                              report->profile->total_ticks);
        nytp_puts(out, "<td>");
        nytp_html_text(out, name.ptr, name.len);
        nytp_putc(out, '\n');
    }
    nytp_puts(out, "</table></div>\n");
}

void nytp_report_package_table(struct nytp_report *report)
{
    struct nytp_strings *strings = nytp_strings_new();
    struct package *packages = calloc((size_t)report->n_called + 1, sizeof *packages);
    uint32_t n = 1; /* a package stands at its name's id */
    bool ok = strings != NULL && packages != NULL;
    for (uint32_t i = 0; ok && i < report->n_called; i++) {
        const uint32_t sub = report->subs_by_time[i];
        const struct nytp_name name = nytp_report_sub_name(report, sub);
        const uint32_t len = nytp_package_len(name);
        const uint32_t id = nytp_strings_intern(strings, name.ptr, len);
        if (!(ok = id != UINT32_MAX))
            break;
        packages[id].name = (struct nytp_name){name.ptr, len};
        packages[id].subs++;
        packages[id].calls += report->subs[sub].calls;
        packages[id].excl_ticks += report->subs[sub].excl_ticks;
        if (id == n)
            n++;
    }
    if (ok && packages[0].subs == 0) /* no sub without a package */
        put_packages(report, packages + 1, n - 1);
    else if (ok)
        put_packages(report, packages, n);
    else
        nytp_out_of_memory(&report->out->error);
    free(packages);
    nytp_strings_free(strings);
}
