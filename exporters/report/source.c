/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The page of a source file or string eval: its subs, then each line with figures. See
 * report.h and README.md. The three levels differ only in the figures: those of a line, or
 * summed up at the first line of the block or sub.
 */
#include "report.h"

#include "exporters/base/disk_source.h"
#include "formats/base/strings.h"
#include "formats/model/profile.h"
#include "formats/model/svs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE NYTP_REPORT_NONE

#define LINES_IN_BODY     150 /* a body of the table ends after so many, or before a sub … */
#define MIN_LINES_IN_BODY 100 /* … once it has this many */

/* ---- the text of lines: recorded, or from this machine (disk_source.h) ---- */

/* A file of this machine, line by line. */
struct disk {
    FILE *stream;       /* NULL: no file, or no line left */
    const char *remark; /* where the source is from, or why there is none, as HTML; or NULL */
    char *line;
    size_t size;
    ssize_t len;
};

static void disk_open(const struct nytp_report *report, uint32_t f, struct disk *disk)
{
    static const char *const remarks[] = {
        [NYTP_DISK_SOURCE_READ] = "from this machine, as the recording kept none",
        [NYTP_DISK_SOURCE_REFUSED] =
            "the recording kept none; with <code>--source-files</code> "
            "it is read from this machine",
        [NYTP_DISK_SOURCE_CHANGED] =
            "the recording kept none, and the file here was changed since",
    };
    enum nytp_disk_source state;
    *disk = (struct disk){
        .stream = nytp_disk_source_open(report->profile, report->options, f, &state)};
    disk->remark = state == NYTP_DISK_SOURCE_NONE ? NULL : remarks[state];
}

static void disk_close(struct disk *disk)
{
    if (disk->stream != NULL)
        fclose(disk->stream);
    free(disk->line);
}

static bool disk_next(struct disk *disk)
{
    if (disk->stream == NULL)
        return false;
    disk->len = getline(&disk->line, &disk->size, disk->stream);
    if (disk->len >= 0)
        return true;
    fclose(disk->stream);
    disk->stream = NULL;
    return false;
}

static struct nytp_name without_newline(const char *text, uint32_t len)
{
    while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\r'))
        len--;
    return (struct nytp_name){text, len};
}

static struct nytp_name disk_line(const struct disk *disk)
{
    if (disk->stream == NULL || disk->len < 0)
        return (struct nytp_name){NULL, 0};
    return without_newline(disk->line, (uint32_t)disk->len);
}

static bool begins_with_word(struct nytp_name text, const char *word)
{
    const size_t len = strlen(word);
    return text.len >= len && memcmp(text.ptr, word, len) == 0;
}

/* Returns true for POD and comment lines. Call it line by line; *in_pod is first false. */
static bool is_comment(struct nytp_name text, bool *in_pod)
{
    if (text.len > 1 && text.ptr[0] == '=' &&
        ((text.ptr[1] | 32) >= 'a' && (text.ptr[1] | 32) <= 'z')) {
        *in_pod = !begins_with_word(text, "=cut");
        return true;
    }
    if (*in_pod)
        return true;
    uint32_t i = 0;
    while (i < text.len && (text.ptr[i] == ' ' || text.ptr[i] == '\t'))
        i++;
    return i < text.len && text.ptr[i] == '#';
}

/* ---- head of the page ---- */

static void put_level_links(struct nytp_report *report, uint32_t file, enum nytp_level level)
{
    struct nytp_out *out = report->out;
    if (!report->levels || nytp_report_is_eval(report, file))
        return;
    nytp_puts(out, "<nav class=\"levels\" aria-label=\"Level\">");
    for (enum nytp_level i = 0; i < NYTP_LEVELS; i++) {
        nytp_putc(out, ' ');
        if (i == level)
            nytp_printf(out, "<b aria-current=\"page\">%s</b>", nytp_report_level_words[i]);
        else
            nytp_report_put_level_link(report, file, i);
    }
    nytp_puts(out, "</nav>\n");
}

static void put_file_fact(struct nytp_report *report, uint32_t f)
{
    const struct nytp_name *paths = report->options->report.source_paths;
    const struct nytp_name name = paths != NULL ? paths[f] : nytp_report_file_name(report, f);
    struct nytp_out *out = report->out;
    nytp_puts(out, "<dt>File<dd>");
    const bool is_path = name.len > 0 && name.ptr[0] == '/';
    if (is_path) {
        nytp_puts(out, "<a href=\"file://");
        nytp_html_url_path(out, name.ptr, name.len);
        nytp_puts(out, "\">");
    }
    nytp_html_text(out, name.ptr, name.len);
    nytp_puts(out, is_path ? "</a>\n" : "\n");
}

/* Links at most so many siblings before and after an eval: all of them on every page would be
 * the square of their number. The line that ran them lists the others. */
#define MAX_SIBLINGS 25

static void put_sibling(struct nytp_report *report, uint32_t eval, uint32_t number,
                        bool is_self)
{
    struct nytp_out *out = report->out;
    const bool linked = !is_self && report->files[eval].stem != NULL;
    if (linked)
        nytp_report_put_page_anchor(report, eval, NYTP_LEVEL_LINE);
    nytp_printf(out, is_self ? "<b aria-current=\"page\">%u</b>" : "%u", (unsigned)number);
    if (linked)
        nytp_puts(out, "</a>");
}

static void put_siblings(struct nytp_report *report, uint32_t f)
{
    const struct nytp_report_file *file = &report->files[f];
    const uint32_t n = file->siblings.n, self = file->sibling;
    if (n < 2)
        return;
    const uint32_t first = self > MAX_SIBLINGS ? self - MAX_SIBLINGS : 0;
    const uint32_t end = n - self > MAX_SIBLINGS + 1 ? self + MAX_SIBLINGS + 1 : n;
    nytp_puts(report->out, "<dt>Sibling evals<dd>");
    for (uint32_t i = first; i < end; i++) {
        nytp_puts(report->out, i > first ? ", " : first > 0 ? "\xe2\x80\xa6, " : "");
        put_sibling(report, report->siblings[file->siblings.first + i], i + 1, i == self);
    }
    if (end - first < n)
        nytp_printf(report->out, "%s of %u", end < n ? ", \xe2\x80\xa6" : "", (unsigned)n);
    nytp_putc(report->out, '\n');
}

static void put_eval_facts(struct nytp_report *report, uint32_t f)
{
    const struct nytp_file *file = &report->profile->files[f];
    const struct nytp_report_file *mine = &report->files[f];
    struct nytp_out *out = report->out;
    if (file->eval_file == 0)
        return;
    nytp_puts(out, "<dt>Eval invoked at<dd>");
    nytp_report_put_place(report, file->eval_file, file->eval_line);
    nytp_putc(out, '\n');
    put_siblings(report, f);
    if (mine->n_merged == 0)
        return;
    nytp_printf(out, "<dt>Merged<dd>%u string evals of this place are shown as one%s\n",
                (unsigned)mine->n_merged + 1,
                mine->src_varied ? "; their source differs, this is that of the first" : "");
}

static void put_facts(struct nytp_report *report, uint32_t f, const struct disk *disk)
{
    struct nytp_out *out = report->out;
    nytp_puts(out, "<dl class=\"about\">\n");
    put_file_fact(report, f);
    nytp_puts(out,
              report->profile->sampled ? "<dt>Samples<dd>" : "<dt>Statements<dd>executed ");
    nytp_report_plural(out, report->files[f].stmts,
                       report->profile->sampled ? "sample" : "statement",
                       report->profile->sampled ? "samples" : "statements");
    nytp_puts(out, " in ");
    nytp_report_put_time(report, out, report->files[f].ticks);
    nytp_putc(out, '\n');
    put_eval_facts(report, f);
    if (disk->remark != NULL)
        nytp_printf(out, "<dt>Source<dd>%s\n", disk->remark);
    nytp_puts(out, "</dl>\n");
}

static void put_subs(struct nytp_report *report, uint32_t f)
{
    const struct nytp_slice of = report->files[f].of[NYTP_REPORT_SUBS];
    if (of.n == 0)
        return;
    struct nytp_report_key *keys = nytp_report_keys(of.n);
    for (uint32_t i = 0; keys != NULL && i < of.n; i++) {
        const uint32_t sub = report->subs_by_file[of.first + i];
        keys[i] = (struct nytp_report_key){.time = report->subs[sub].excl_ticks, .index = sub};
    }
    uint32_t *subs = nytp_report_sorted(keys, of.n);
    if (subs != NULL)
        nytp_report_sub_table(report, "subs", "Subroutines of this file", subs, of.n);
    else
        nytp_out_of_memory(&report->out->error);
    free(subs);
}

/* ---- lines ---- */

struct cursor { /* the position on a page */
    uint32_t file;
    enum nytp_level level;
    struct nytp_line_rows rows;
    uint32_t next[NYTP_REPORT_LISTS], end[NYTP_REPORT_LISTS]; /* rows for later lines */
    int64_t hottest_ticks;                                    /* of the page's cells */
    uint32_t in_body;
    bool in_pod;
    struct disk disk;
};

/* Returns the line of the list's next element; NONE at its end. */
static uint32_t line_of_next(const struct nytp_report *report, const struct cursor *cursor,
                             enum nytp_report_list list, uint32_t next)
{
    if (next == cursor->end[list])
        return NONE;
    return list == NYTP_REPORT_ROWS ? cursor->rows.rows[next].line
                                    : nytp_report_line_of(report, list, next);
}

/* Returns the index behind the elements up to a line. */
static uint32_t until(const struct nytp_report *report, const struct cursor *cursor,
                      enum nytp_report_list list, uint32_t line)
{
    uint32_t next = cursor->next[list];
    while (line_of_next(report, cursor, list, next) <= line)
        next++;
    return next;
}

static void begin_body(struct nytp_report *report, struct cursor *cursor, bool at_sub)
{
    if (cursor->in_body > 0 && cursor->in_body < LINES_IN_BODY &&
        !(at_sub && cursor->in_body >= MIN_LINES_IN_BODY)) {
        cursor->in_body++;
        return;
    }
    nytp_puts(report->out, "<tbody>\n");
    cursor->in_body = 1;
}

static void put_statement_cells(struct nytp_report *report, const struct nytp_line_row *row)
{
    struct nytp_out *out = report->out;
    if (row == NULL) {
        nytp_puts(out, "<td><td>");
        return;
    }
    nytp_puts(out, "<td>");
    if ((report->profile->has & NYTP_HAS_STATEMENTS) != 0)
        nytp_put_u64(out, row->statements);
    if (row->self_ticks == 0) {
        nytp_report_time_cell(report, 0, false, 0);
        return;
    }
    nytp_puts(out, "<td");
    nytp_report_put_exact(report, row->self_ticks);
    if (row->statements > 1 && nytp_report_line_heat(report, row->self_ticks) > 0) {
        nytp_puts(out, " title=\"avg ");
        nytp_report_put_average(report, row->self_ticks, row->statements);
        nytp_putc(out, '"');
    }
    nytp_putc(out, '>');
    nytp_report_put_time(report, out, row->self_ticks);
}

static void put_call_cells(struct nytp_report *report, uint32_t first, uint32_t end,
                           int64_t hottest_ticks)
{
    struct nytp_out *out = report->out;
    if (first == end) {
        nytp_puts(out, "<td><td>");
        return;
    }
    uint64_t count = 0;
    int64_t incl_ticks = 0;
    for (uint32_t i = first; i < end; i++) {
        count += report->calls[i].calls;
        incl_ticks = nytp_ticks_sum(incl_ticks, report->calls[i].incl_ticks);
    }
    nytp_puts(out, "<td>");
    nytp_put_u64(out, count);
    const int heat = nytp_report_line_heat(report, incl_ticks);
    nytp_puts(out, "<td");
    if (heat > 0)
        nytp_report_put_heat(out, heat, incl_ticks, hottest_ticks);
    nytp_report_put_exact(report, incl_ticks);
    nytp_putc(out, '>');
    nytp_report_put_time(report, out, incl_ticks);
}

static const struct nytp_line_row *row_at(const struct cursor *cursor, uint32_t line)
{
    const uint32_t next = cursor->next[NYTP_REPORT_ROWS];
    const struct nytp_line_row *row = &cursor->rows.rows[next];
    return next < cursor->rows.n && row->line == line ? row : NULL;
}

static bool has_changes(const struct nytp_report *report, const struct cursor *cursor)
{
    return report->changes != NULL && cursor->level == NYTP_LEVEL_LINE;
}

/* Returns true if there is a column for SVs or bytes, in place of the one for changes. */
static bool has_memory(const struct nytp_report *report, const struct cursor *cursor)
{
    return report->changes == NULL && cursor->level == NYTP_LEVEL_LINE &&
           nytp_report_memory(report) != NYTP_MEMORY_NONE;
}

/* SVs freed elsewhere in the same call, as most are, do not count as kept. */
static void put_memory_cell(struct nytp_report *report, const struct nytp_line_row *row)
{
    const bool are_bytes = nytp_report_memory(report) == NYTP_MEMORY_SPACE;
    if (row == NULL || (are_bytes ? nytp_bytes_are_none(row->memory.bytes)
                                  : row->memory.net == 0 && row->memory.kept == 0)) {
        nytp_puts(report->out, "<td>");
    } else if (are_bytes) {
        nytp_puts(report->out, "<td title=\"allocated: ");
        nytp_text_bytes(report->out, row->memory.bytes.of[NYTP_ALLOC_SPACE], 0);
        nytp_puts(report->out, "\">");
        nytp_text_bytes(report->out, row->memory.bytes.of[NYTP_INUSE_SPACE], 0);
    } else {
        nytp_printf(report->out, "<td title=\"made less freed: %lld\">%lld",
                    (long long)row->memory.net, (long long)row->memory.kept);
    }
}

/* Begins the cell of a line's code, which spans all columns from the second on. A leading 0 in
 * the number marks comments for the style sheet: a quarter of all lines, at one byte each. */
static void put_wide_cell(struct nytp_report *report, const struct cursor *cursor,
                          bool is_comment)
{
    nytp_puts(report->out, is_comment ? "<td colspan=0" : "<td colspan=");
    const bool has_more = has_changes(report, cursor) || has_memory(report, cursor);
    nytp_puts(report->out, has_more ? "6>" : "5>");
}

/* The information about a line. */
struct line {
    uint32_t number;
    const struct nytp_line_row *row; /* NULL: it did not run */
    struct nytp_report_change change;
    uint32_t end[NYTP_REPORT_LISTS]; /* where the cursor's rows for this line end */
};

static struct line line_at(const struct nytp_report *report, const struct cursor *cursor,
                           uint32_t number)
{
    struct line line = {
        .number = number,
        .row = row_at(cursor, number),
    };
    for (enum nytp_report_list list = NYTP_REPORT_CALLS; list < NYTP_REPORT_LISTS; list++)
        line.end[list] = until(report, cursor, list, number);
    if (has_changes(report, cursor))
        line.change = nytp_report_change_at(report, cursor->file, number);
    return line;
}

static void put_cells(struct nytp_report *report, struct cursor *cursor,
                      const struct line *line, bool ran, struct nytp_name text)
{
    bool noted = false;
    for (enum nytp_report_list list = NYTP_REPORT_CALLS; list < NYTP_REPORT_LISTS; list++)
        noted |= line->end[list] > cursor->next[list];
    const bool comment = is_comment(text, &cursor->in_pod);
    if (ran || nytp_report_more_statements(&line->change) != 0) {
        put_statement_cells(report, line->row);
        put_call_cells(report, cursor->next[NYTP_REPORT_CALLS], line->end[NYTP_REPORT_CALLS],
                       cursor->hottest_ticks);
        if (has_changes(report, cursor))
            nytp_report_put_change(report, &line->change);
        else if (has_memory(report, cursor))
            put_memory_cell(report, line->row);
        nytp_puts(report->out, "<td>");
    } else if (text.len > 0 || noted) {
        put_wide_cell(report, cursor, comment);
    }
    nytp_html_text(report->out, text.ptr != NULL ? text.ptr : "", text.len);
}

/* Returns the line's text, from the recording or the disk; ptr is NULL if there is none. */
static struct nytp_name text_at(const struct nytp_report *report, struct cursor *cursor,
                                uint32_t line)
{
    const uint32_t next = cursor->next[NYTP_REPORT_TEXTS];
    if (line_of_next(report, cursor, NYTP_REPORT_TEXTS, next) != line)
        return disk_line(&cursor->disk);
    cursor->next[NYTP_REPORT_TEXTS]++;
    const struct nytp_source_line *const kept = &report->profile->sources[next];
    return without_newline(kept->text, kept->len);
}

static void put_line(struct nytp_report *report, struct cursor *cursor, uint32_t number)
{
    struct nytp_out *out = report->out;
    const struct line line = line_at(report, cursor, number);
    const uint32_t *const next = cursor->next, *const end = line.end;
    const bool ran = line.row != NULL || end[NYTP_REPORT_CALLS] > next[NYTP_REPORT_CALLS];
    const int64_t self_ticks = line.row != NULL ? line.row->self_ticks : 0;
    begin_body(report, cursor, end[NYTP_REPORT_SUBS] > next[NYTP_REPORT_SUBS]);
    nytp_puts(out, "<tr");
    nytp_report_put_id(report, "");
    nytp_put_u64(out, number);
    if (ran)
        nytp_report_put_heat(out, nytp_report_line_heat(report, self_ticks), self_ticks,
                             cursor->hottest_ticks);
    nytp_puts(out, "><th>");
    nytp_put_u64(out, number);
    put_cells(report, cursor, &line, ran, text_at(report, cursor, number));
    bool noted = false;
    for (uint32_t i = next[NYTP_REPORT_SUBS]; i < end[NYTP_REPORT_SUBS]; i++)
        noted |= nytp_report_put_callers(report, report->subs_by_file[i], cursor->file);
    noted |= nytp_report_put_callees(report, next[NYTP_REPORT_CALLS], end[NYTP_REPORT_CALLS]);
    noted |= nytp_report_put_evals(report, next[NYTP_REPORT_EVALS], end[NYTP_REPORT_EVALS]);
    if (!noted) /* below notes it would show as an empty line of code */
        nytp_putc(out, '\n');
    cursor->next[NYTP_REPORT_ROWS] += line.row != NULL;
    for (enum nytp_report_list list = NYTP_REPORT_CALLS; list < NYTP_REPORT_LISTS; list++)
        cursor->next[list] = end[list];
}

/* Writes the sub's id unless an earlier sub of the page has the same, as different names may. */
static void put_new_id(struct nytp_report *report, struct nytp_strings *ids, uint32_t sub)
{
    const struct nytp_name name = nytp_report_sub_name(report, sub);
    const uint32_t before = ids != NULL ? nytp_strings_count(ids) : 0;
    char *id = nytp_report_foreign_id(name);
    if (id != NULL && ids != NULL && nytp_strings_intern(ids, id, name.len) >= before)
        nytp_report_put_id(report, id);
    free(id);
}

/* Writes subs without a line: xsubs and opcodes of the file's packages. */
static void put_foreign_subs(struct nytp_report *report, struct cursor *cursor)
{
    struct nytp_out *out = report->out;
    struct nytp_strings *ids = nytp_strings_new();
    bool any = false;
    for (uint32_t i = cursor->next[NYTP_REPORT_SUBS]; i < cursor->end[NYTP_REPORT_SUBS]; i++) {
        const uint32_t sub = report->subs_by_file[i];
        if (!nytp_report_sub_ran(report, sub) ||
            report->profile->subs[sub].kind >= NYTP_SUB_RUNTIME)
            continue;
        nytp_puts(out, any ? "<tr" : "<tbody class=foreign>\n<tr");
        any = true;
        put_new_id(report, ids, sub);
        nytp_puts(out, "><td>");
        put_wide_cell(report, cursor, false);
        nytp_puts(out, "sub ");
        nytp_report_put_sub(report, sub);
        nytp_puts(out, report->profile->subs[sub].kind == NYTP_SUB_OPCODE ? "; # opcode"
                                                                          : "; # xsub");
        nytp_report_put_callers(report, sub, cursor->file);
    }
    nytp_strings_free(ids);
}

/* Returns the next line to write, from `line` on: one with text or any information. Without
 * source there may be millions between two of them. */
static uint32_t next_line(const struct nytp_report *report, const struct cursor *cursor,
                          uint32_t line)
{
    uint32_t next = report->files[cursor->file].n_lines;
    if (cursor->disk.stream != NULL)
        return line;
    for (enum nytp_report_list list = 0; list < NYTP_REPORT_LISTS; list++) {
        const uint32_t at = line_of_next(report, cursor, list, cursor->next[list]);
        next = at < next ? at : next;
    }
    return next > line ? next : line;
}

static void put_lines(struct nytp_report *report, struct cursor *cursor)
{
    const uint32_t n = report->files[cursor->file].n_lines;
    if (report->files[cursor->file].has_line_0)
        put_line(report, cursor, 0);
    for (uint32_t line = 1; line < n || cursor->disk.stream != NULL; line++) {
        disk_next(&cursor->disk);
        line = next_line(report, cursor, line);
        if (line >= n && cursor->disk.stream == NULL)
            break;
        put_line(report, cursor, line);
    }
}

static int64_t hottest_of(const struct nytp_report *report, const struct cursor *cursor)
{
    int64_t most = 0, sum = 0;
    for (uint32_t i = 0; cursor->rows.rows != NULL && i < cursor->rows.n; i++)
        most = cursor->rows.rows[i].self_ticks > most ? cursor->rows.rows[i].self_ticks : most;
    for (uint32_t i = cursor->next[NYTP_REPORT_CALLS]; i < cursor->end[NYTP_REPORT_CALLS];
         i++) {
        const struct nytp_report_call *const call = &report->calls[i];
        const bool is_next = i > cursor->next[NYTP_REPORT_CALLS] && call->line == call[-1].line;
        sum = nytp_ticks_sum(is_next ? sum : 0, call->incl_ticks);
        most = sum > most ? sum : most;
    }
    return most;
}

static void put_table(struct nytp_report *report, uint32_t f, enum nytp_level level,
                      const struct disk *disk)
{
    struct cursor cursor = {
        .file = f,
        .level = level,
        .disk = *disk,
        .rows = nytp_report_rows(report, f, level),
    };
    for (enum nytp_report_list list = 0; list < NYTP_REPORT_LISTS; list++) {
        const struct nytp_slice of = report->files[f].of[list];
        const bool are_rows = list == NYTP_REPORT_ROWS;
        cursor.next[list] = are_rows ? 0 : of.first;
        cursor.end[list] = are_rows ? cursor.rows.n : of.first + of.n;
    }
    cursor.hottest_ticks = hottest_of(report, &cursor);
    /* a damaged profile may have text for line 0 */
    cursor.next[NYTP_REPORT_TEXTS] = until(report, &cursor, NYTP_REPORT_TEXTS, 0);
    const bool sampled = report->profile->sampled, changes = has_changes(report, &cursor);
    static const char *const memory_heads[] = {
        [NYTP_MEMORY_SVS] =
            "<th scope=col title=\"Perl's values that were made here and kept\">SVs kept",
        [NYTP_MEMORY_SPACE] =
            "<th scope=col title=\"Bytes allocated here that were in use at the end\">In use"};
    const bool memory = has_memory(report, &cursor);
    nytp_printf(report->out,
                "<div class=\"source\">\n<table class=\"src%s\">\n<thead><tr><th scope=col>Line"
                "<th scope=col title=\"%s\">%s"
                "<th scope=col title=\"Without the time in the Perl subs called\">Time on line"
                "<th scope=col title=\"Number of calls made%s\">Calls%s"
                "<th scope=col title=\"Time in the subs called\">Time in subs"
                "%s<th scope=col>Code\n",
                changes || memory ? " wider" : "",
                sampled ? "Number of samples that hit it" : "Number of statements executed",
                sampled ? "Samples" : "Statements", sampled ? ": at least so many" : "",
                sampled ? ", at least" : "",
                memory     ? memory_heads[nytp_report_memory(report)]
                : !changes ? ""
                : sampled  ? "<th scope=col title=\"Change of samples since the base\">\xce\x94"
                           : "<th scope=col title=\"Change of statements since the base\">"
                             "\xce\x94");
    if (cursor.rows.rows == NULL)
        nytp_out_of_memory(&report->out->error);
    put_lines(report, &cursor);
    disk_close(&cursor.disk);
    put_foreign_subs(report, &cursor);
    nytp_puts(report->out, "</table></div>\n");
    if (level != NYTP_LEVEL_LINE)
        free(cursor.rows.rows);
}

void nytp_report_source(struct nytp_report *report, uint32_t file, enum nytp_level level)
{
    char name[NYTP_REPORT_NAME];
    nytp_report_page_name(report, file, level, name);
    const struct nytp_report_page page = {
        .kind = "source", .name = name, .title = "", .file = file, .level = level};
    report->explained = false;
    nytp_report_page_begin(report, &page);
    put_level_links(report, file, level);
    struct disk disk;
    disk_open(report, file, &disk);
    put_facts(report, file, &disk);
    put_subs(report, file);
    if (report->flame)
        nytp_report_flame_section(report, file);
    put_table(report, file, level, &disk);
    nytp_report_page_end(report);
}
