/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The report's tables of subs, files and packages. See report.h and README.md. A table has one
 * head and many bodies of some rows: browsers lay out only the bodies in view.
 */
#include "report.h"

#include "formats/base/strings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE NYTP_REPORT_NONE

#define ROWS_IN_BODY 200

static const char *text_of_column(const struct nytp_report *report,
                                  const struct nytp_report_table *table,
                                  const struct nytp_report_column *column)
{
    if (!report->profile->sampled)
        return column->text;
    return strcmp(column->key, "stmts") == 0    ? "Samples"
           : strcmp(column->key, "dstmts") == 0 ? "\xce\x94 samples"
           : strcmp(column->key, "calls") != 0  ? column->text
           : table->calls_are_samples           ? "Samples"
                                                : "Calls, at least";
}

static void put_head(struct nytp_report *report, const struct nytp_report_table *table,
                     const struct nytp_report_column *column)
{
    struct nytp_out *out = report->out;
    const char *const text = text_of_column(report, table, column);
    if (column->memory != NYTP_MEMORY_NONE && column->memory != table->memory)
        return;
    nytp_puts(out, "<th scope=col");
    if (column->key[0] != '\0')
        nytp_printf(out, " data-key=%s", column->key);
    if (column->is_text)
        nytp_puts(out, " data-kind=text");
    if (column->title != NULL && report->explained && text == column->text)
        nytp_printf(out, " title=\"%s\"", column->title);
    nytp_printf(out, ">%s", text);
}

static void begin_table(struct nytp_report *report, const struct nytp_report_table *table)
{
    struct nytp_out *out = report->out;
    const char *const sum = table->sum;
    nytp_puts(out, "<div class=\"rows\"");
    if (sum == NULL || sum[0] != '\0')
        nytp_printf(out, " data-sort=\"%s\"", sum != NULL ? sum : "sub");
    if (sum != NULL && sum[0] != '\0')
        nytp_printf(out, " data-sum=\"%s\"", sum);
    nytp_printf(out, ">\n<table class=\"list %s%s\"", table->id,
                table->memory != NYTP_MEMORY_NONE ? " wider" : "");
    nytp_report_put_id(report, "");
    nytp_printf(out, "%.*s", (int)strcspn(table->id, " "), table->id);
    nytp_printf(out, ">\n<caption>%s</caption>\n<thead><tr>", table->caption);
    for (size_t i = 0; i < table->n_columns; i++)
        put_head(report, table, &table->columns[i]);
    nytp_putc(out, '\n');
}

static void put_table(struct nytp_report *report, const struct nytp_report_table *table,
                      uint32_t n, void *context)
{
    begin_table(report, table);
    for (uint32_t i = 0; i < n && (table->most == 0 || i < table->most); i++) {
        nytp_puts(report->out, i % ROWS_IN_BODY == 0 ? "<tbody>\n<tr" : "<tr");
        table->put_row(report, context, i);
    }
    if (table->put_foot != NULL)
        table->put_foot(report, context);
    nytp_puts(report->out, "</table></div>");
}

void nytp_report_put_table(struct nytp_report *report, const struct nytp_report_table *table,
                           uint32_t n_rows, void *context)
{
    put_table(report, table, n_rows, context);
    nytp_putc(report->out, '\n');
    if (table->more != NULL && n_rows > table->most)
        nytp_printf(report->out, "<p>%lu more: nytp export %s shows all.</p>\n",
                    (unsigned long)n_rows - table->most, table->more);
}

/* ---- subs ---- */

static const struct nytp_report_column sub_columns[] = {
    {"calls", "Number of calls", "Calls", .is_text = false},
    {"places", "Number of places the sub is called from", "P", .is_text = false},
    {"files", "Number of files the sub is called from", "F", .is_text = false},
    {"excl", "Time in the sub itself", "Exclusive time", .is_text = false},
    {"", "Its share of the whole", "%", .is_text = false},
    {"incl", "Time in the sub and all it called", "Inclusive time", .is_text = false},
    {"svs", "Perl's values that it made itself, less those that it freed", "SVs",
     .memory = NYTP_MEMORY_SVS},
    {"inuse", "Bytes that it allocated itself and that were in use at the end", "In use",
     .memory = NYTP_MEMORY_SPACE},
    {"sub", NULL, "Subroutine", .is_text = true},
};

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

/* Call sites and samples are unknown for a part. */
static void put_counts(struct nytp_report *report, uint32_t sub,
                       const struct nytp_report_sub *s)
{
    if (s != &report->subs[sub]) {
        nytp_puts(report->out, "<td>");
        if (report->samples == NULL)
            nytp_put_u64(report->out, s->calls);
        nytp_puts(report->out, "<td><td>");
        return;
    }
    nytp_report_count_cell(report, report->samples != NULL ? report->samples[sub] : s->calls);
    nytp_report_count_cell(report, s->places);
    nytp_report_count_cell(report, s->files);
}

static void put_times(struct nytp_report *report, const struct nytp_report_sub *s,
                      int64_t total)
{
    const double percent = total > 0 ? 100 * (double)s->excl_ticks / (double)total : 0;
    nytp_report_time_cell(report, s->excl_ticks, true, total);
    nytp_printf(report->out, percent >= 0.05 ? "<td>%.1f%%" : "<td>", percent);
    nytp_report_time_cell(report, s->incl_ticks, true, total);
}

/* So is its memory. */
static void put_memory(struct nytp_report *report, uint32_t sub,
                       const struct nytp_report_sub *s)
{
    const enum nytp_memory_columns memory = nytp_report_memory(report);
    if (memory != NYTP_MEMORY_NONE && s != &report->subs[sub])
        nytp_puts(report->out, "<td>");
    else if (memory == NYTP_MEMORY_SPACE)
        nytp_report_bytes_cell(report, s->inuse_bytes);
    else if (memory == NYTP_MEMORY_SVS)
        nytp_printf(report->out, "<td>%lld", (long long)s->svs);
}

static void put_sub_row(struct nytp_report *report, void *context, uint32_t row)
{
    const struct nytp_report_part *const part = context;
    const uint32_t sub = part->subs[row];
    const struct nytp_report_sub *const s = &part->sums[sub];
    nytp_puts(report->out, report->waits[sub] ? " class=waits>" : ">");
    put_counts(report, sub, s);
    put_times(report, s, part->total);
    put_memory(report, sub, s);
    nytp_puts(report->out, "<td>");
    nytp_report_put_linked_name(report, sub, nytp_report_sub_name(report, sub));
    put_sub_remarks(report, sub, s);
    nytp_putc(report->out, '\n');
}

void nytp_report_part_table(struct nytp_report *report, const char *id, const char *caption,
                            struct nytp_report_part part)
{
    const struct nytp_report_table table = {id,
                                            caption,
                                            "excl",
                                            NYTP_REPORT_COLUMNS(sub_columns),
                                            .put_row = put_sub_row,
                                            .memory = nytp_report_memory(report),
                                            .calls_are_samples = report->samples != NULL};
    put_table(report, &table, part.n, &part);
}

void nytp_report_sub_table(struct nytp_report *report, const char *id, const char *caption,
                           const uint32_t *subs, uint32_t n)
{
    nytp_report_part_table(
        report, id, caption,
        (struct nytp_report_part){report->subs, report->profile->total.ticks, subs, n});
    nytp_putc(report->out, '\n');
}

static const struct nytp_report_column never_columns[] = {
    {"sub", NULL, "Subroutine", .is_text = true},
    {"file", NULL, "File", .is_text = true},
};

static bool is_never_called(const struct nytp_report *report, uint32_t sub)
{
    return !nytp_report_sub_ran(report, sub) && nytp_report_has_sub(report, sub) &&
           report->subs[sub].file != NONE && report->profile->subs[sub].kind < NYTP_SUB_RUNTIME;
}

static void put_never(struct nytp_report *report, void *context, uint32_t row)
{
    const uint32_t sub = ((const uint32_t *)context)[row];
    nytp_puts(report->out, "><td>");
    nytp_report_put_linked_name(report, sub, nytp_report_sub_name(report, sub));
    nytp_puts(report->out, "<td>");
    nytp_report_put_file(report, report->subs[sub].file);
    nytp_putc(report->out, '\n');
}

void nytp_report_never_table(struct nytp_report *report)
{
    static const struct nytp_report_table table = {"never", "Subs that were never called", NULL,
                                                   NYTP_REPORT_COLUMNS(never_columns),
                                                   .put_row = put_never};
    struct nytp_out *out = report->out;
    uint32_t n = 0, *subs = malloc(((size_t)report->profile->n_subs + 1) * sizeof *subs);
    for (uint32_t s = 0; subs != NULL && s < report->profile->n_subs; s++)
        if (is_never_called(report, s))
            subs[n++] = s;
    if (subs == NULL)
        nytp_out_of_memory(&out->error);
    if (n > 0) {
        nytp_puts(out, "<details class=\"never\"><summary>");
        nytp_report_plural(out, n, "sub that was never called", "subs that were never called");
        nytp_puts(out, "</summary>\n");
        put_table(report, &table, n, subs);
        nytp_puts(out, "</details>\n");
    }
    free(subs);
}

/* ---- files ---- */

static const struct nytp_report_column file_columns[] = {
    {"stmts", "Number of statements executed, string evals included", "Statements",
     .is_text = false},
    {"excl", "Time of these statements, without what the Perl subs took that they called",
     "Exclusive time", .is_text = false},
    {"", NULL, "Reports", .is_text = false},
    {"file", NULL, "Source file", .is_text = true},
};

static void put_levels(struct nytp_report *report, uint32_t file)
{
    if (report->files[file].stem == NULL)
        return;
    for (enum nytp_level level = 0; level < (report->levels ? NYTP_LEVELS : 1); level++) {
        nytp_puts(report->out, level > 0 ? " " : "");
        nytp_report_put_level_link(report, file, level);
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
        nytp_printf(out, "<li data-n=%lld>", (long long)nytp_report_ns(report, ticks));
        nytp_report_put_line_anchor(report, eval, 0);
        nytp_report_put_file(report, eval);
        nytp_puts(out, "</a> ");
        nytp_report_put_time(report, out, ticks);
    }
    if (evals.n > MAX_LISTED_EVALS)
        nytp_printf(out, "<li>and %u more", (unsigned)(evals.n - MAX_LISTED_EVALS));
    nytp_puts(out, "</ul></details>");
}

/* All files, and the time and statements of all. */
struct file_rows {
    int64_t ticks;
    uint64_t stmts;
};

/* The last row is that of builtins without a place. */
static void put_file_row(struct nytp_report *report, void *context, uint32_t row)
{
    const struct file_rows *const rows = context;
    const uint32_t f = row < report->n_ranked ? report->files_by_time[row] : 0;
    const struct nytp_report_file *file = &report->files[f];
    struct nytp_out *out = report->out;
    char id[16];
    snprintf(id, sizeof id, "f%u", (unsigned)report->files[f].id);
    nytp_report_put_id(report, id);
    nytp_puts(out, "><td");
    if (rows->stmts > 0)
        nytp_printf(out, " title=\"%.1f%%\"",
                    100 * (double)file->all_stmts / (double)rows->stmts);
    nytp_printf(out, ">%llu", (unsigned long long)file->all_stmts);
    nytp_report_time_cell(report, file->all_ticks, true, rows->ticks);
    nytp_puts(out, "<td>");
    put_levels(report, f);
    const struct nytp_name name = nytp_report_file_name(report, f);
    nytp_puts(out, "<td title=\"");
    nytp_html_attribute(out, name.ptr, name.len);
    nytp_puts(out, "\">");
    if (file->stem != NULL)
        nytp_report_put_file_link(report, f);
    else
        nytp_report_put_file(report, f);
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
    nytp_puts(report->out, "<tr><td>");
    put_time_row(report, median, "Median");
    for (uint32_t i = 0; i < n; i++)
        ticks[i] = distance(ticks[i], median);
    nytp_puts(report->out, "<tr><td>");
    put_time_row(report, upper_median(ticks, n), "Deviation from the median");
    free(ticks);
}

static void put_file_foot(struct nytp_report *report, void *context)
{
    const struct file_rows *const all = context;
    const uint32_t n = report->n_ranked > 0 ? report->n_ranked : 1;
    nytp_puts(report->out, "<tfoot><tr>");
    nytp_report_count_cell(report, all->stmts);
    put_time_row(report, all->ticks, "Total");
    nytp_puts(report->out, "<tr>");
    nytp_report_count_cell(report, all->stmts / n);
    put_time_row(report, all->ticks / n, "Average");
    put_deviation(report);
}

void nytp_report_file_table(struct nytp_report *report)
{
    static const struct nytp_report_table table = {"files",
                                                   "Source files",
                                                   "excl",
                                                   NYTP_REPORT_COLUMNS(file_columns),
                                                   .put_row = put_file_row,
                                                   .put_foot = put_file_foot};
    struct file_rows all = {report->files[0].all_ticks, report->files[0].all_stmts};
    for (uint32_t i = 0; i < report->n_ranked; i++) {
        all.ticks += report->files[report->files_by_time[i]].all_ticks;
        all.stmts += report->files[report->files_by_time[i]].all_stmts;
    }
    const bool has_row_0 = report->files[0].of[NYTP_REPORT_ROWS].n > 0;
    nytp_report_put_table(report, &table, report->n_ranked + has_row_0, &all);
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
        nytp_puts(out, "<li>");
        nytp_report_put_file_link(report, files[i]);
        nytp_putc(out, '\n');
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
    {"subs", "Number of subs that were called", "Subs", .is_text = false},
    {"calls", "Number of calls of these subs", "Calls", .is_text = false},
    {"excl", "Time in these subs themselves", "Exclusive time", .is_text = false},
    {"package", NULL, "Package", .is_text = true},
};

static void put_package(struct nytp_report *report, void *context, uint32_t row)
{
    const struct package *const package = (const struct package *)context + row;
    struct nytp_out *out = report->out;
    const uint32_t len = package->name.len;
    const struct nytp_name name = {package->name.ptr, len >= 2 ? len - 2 : len};
    if (report->flame && name.len > 0) {
        nytp_puts(out, " data-part=\"");
        nytp_html_attribute(out, name.ptr, name.len);
        nytp_putc(out, '"');
    }
    nytp_putc(out, '>');
    nytp_report_count_cell(report, package->subs);
    nytp_report_count_cell(report, package->calls);
    nytp_report_time_cell(report, package->excl_ticks, true, report->profile->total.ticks);
    nytp_puts(out, "<td>");
    nytp_html_text(out, name.ptr, name.len);
    nytp_putc(out, '\n');
}

static void put_packages(struct nytp_report *report, struct package *packages, uint32_t n)
{
    static const struct nytp_report_table table = {"packages", "Packages", "excl",
                                                   NYTP_REPORT_COLUMNS(package_columns),
                                                   .put_row = put_package};
    if (n > 0)
        qsort(packages, n, sizeof *packages, compare_packages);
    nytp_report_put_table(report, &table, n, packages);
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
