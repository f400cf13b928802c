/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The hottest lines as editors read messages of compilers:
 *
 *   lib/A.pm:12:5: 31.4%, 1.20 s, 300 stmts: $sum += $_ for @list;
 *
 * A file below the current folder is named relative to it. The column is that of the first
 * byte that is no blank. An editor cannot open a string eval: its lines count at the line that
 * ran it. Time that has no line in any file is in the last row, as are lines that were not
 * asked for.
 */
#include "exporters/base/exporter.h"
#include "exporters/base/text.h"
#include "exporters/stacks/hot_lines.h"

#include "formats/model/profile.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST_NESTED 100 /* string evals in each other */

struct quickfix {
    const struct nytp_profile *profile;
    const struct nytp_export_options *options;
    struct nytp_out *out;
    char folder[PATH_MAX]; /* the current one, with a slash behind it; "" = not known */
    size_t folder_len;
};

static void find_folder(struct quickfix *q)
{
    if (getcwd(q->folder, sizeof q->folder - 1) == NULL)
        return;
    q->folder_len = strlen(q->folder);
    if (q->folder_len > 1)
        q->folder[q->folder_len++] = '/';
}

/* Returns the name that opens the file from the current folder. */
static struct nytp_name path_of(const struct quickfix *q, uint32_t file)
{
    struct nytp_name name = q->profile->files[file].name;
    if (q->folder_len > 0 && name.len > q->folder_len &&
        memcmp(name.ptr, q->folder, q->folder_len) == 0) {
        name.ptr += q->folder_len;
        name.len -= (uint32_t)q->folder_len;
    }
    return name;
}

/* Returns whether an editor can open the place: it is none of "-", "-e" and "(eval 1)". */
static bool is_place(const struct nytp_profile *profile, const struct nytp_line_row *row)
{
    const struct nytp_file *const file = &profile->files[row->file];
    return row->file != 0 && row->line != 0 && file->eval_file == 0 && file->name.len > 0 &&
           strchr("-(", file->name.ptr[0]) == NULL;
}

/* Moves a line of a string eval to the line that ran it, outwards. A chain of evals costs no
 * more than so many steps for each of its lines. */
static void leave_evals(const struct nytp_profile *profile, struct nytp_line_row *row)
{
    for (int i = 0; i < MOST_NESTED; i++) {
        const struct nytp_file *const file = &profile->files[row->file];
        if (file->eval_file == 0)
            return;
        row->file = file->eval_file;
        row->line = file->eval_line;
    }
}

/* Writes "share, time, hits". */
static void put_numbers(const struct quickfix *q, int64_t ticks, uint64_t hits)
{
    const int64_t total = q->profile->total.ticks;
    nytp_printf(q->out, "%.1f%%, ", total == 0 ? 0.0 : (double)ticks / (double)total * 100);
    nytp_text_time(q->out, ticks, q->profile->ticks_per_sec, q->options->unit, 0);
    nytp_printf(q->out, ", %llu %s", (unsigned long long)hits, nytp_text_stmts(q->profile));
}

static void put_row(const struct quickfix *q, const struct nytp_line_row *row)
{
    const struct nytp_source_line *const source =
        nytp_profile_source(q->profile, row->file, row->line);
    const uint32_t len = source != NULL ? source->len : 0;
    uint32_t blanks = 0;
    while (blanks < len && strchr(" \t\r\n", source->text[blanks]) != NULL)
        blanks++;
    nytp_text_put(q->out, path_of(q, row->file), 0);
    nytp_printf(q->out, ":%lu:%lu: ", (unsigned long)row->line,
                blanks < len ? (unsigned long)blanks + 1 : 1);
    put_numbers(q, row->self_ticks, row->statements);
    if (blanks < len) {
        nytp_puts(q->out, ": ");
        nytp_text_put_source(q->out, source, true, 0);
    }
    nytp_putc(q->out, '\n');
}

/* Returns the lines in files, the hottest first; NULL rows when memory is out. */
static struct nytp_line_rows hot_lines(const struct nytp_profile *profile)
{
    struct nytp_line_rows rows = nytp_lines_of_all(profile);
    if (rows.rows == NULL)
        return rows;
    for (uint32_t i = 0; i < rows.n; i++)
        leave_evals(profile, &rows.rows[i]);
    nytp_lines_sum(&rows);
    nytp_lines_sort(&rows, NYTP_N_WEIGHTS);
    return rows;
}

static bool write_quickfix(const struct nytp_profile *profile,
                           const struct nytp_export_options *options, struct nytp_out *out)
{
    struct quickfix q = {.profile = profile, .options = options, .out = out};
    struct nytp_line_rows rows = hot_lines(profile);
    if (rows.rows == NULL)
        return nytp_out_of_memory(&out->error);
    find_folder(&q);
    uint32_t left = nytp_wanted_rows(options), n_rest = 0;
    struct nytp_line_row rest = {0};
    for (const struct nytp_line_row *row = rows.rows; row < rows.rows + rows.n; row++) {
        if (left > 0 && is_place(profile, row)) {
            put_row(&q, row);
            left--;
        } else if (row->self_ticks != 0 || row->statements > 0) {
            rest.self_ticks += row->self_ticks;
            rest.statements += row->statements;
            n_rest++;
        }
    }
    if (n_rest > 0) {
        nytp_putc(out, '(');
        put_numbers(&q, rest.self_ticks, rest.statements);
        nytp_printf(out, " in %lu more lines)\n", (unsigned long)n_rest);
    }
    free(rows.rows);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_quickfix = {
    .name = "quickfix",
    .title = "the hottest lines, for vim's quickfix, emacs' compilation-mode, VS Code",
    .needs = NYTP_HAS_STATEMENTS | NYTP_HAS_SOURCE,
    .write = write_quickfix,
    .no_diff = "it has one time for each line; use --top --lines",
    .wants_sources = true,
    .takes = "no-source-files source-files unit",
    .options = NYTP_OPTIONS(
        NYTP_OWN_OPTION("quickfix", ROWS, top, "[=N]",
                        "the N hottest lines as file:line:column: ..., default 20; 0 is all")),
};
