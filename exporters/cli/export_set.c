/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Formats of several files, which is the HTML report: the output is a folder or a single file.
 */
#include "load.h"
#include "modes.h"
#include "outputs.h"
#include "unpack.h"
#include "viewer.h"

#include "exporters/compare/diff.h"
#include "exporters/select/one_process.h"
#include "exporters/select/sandbox.h"
#include "formats/model/label_sums.h"
#include "formats/model/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Returns whether the output is a folder: its name says so, or it is one. */
static bool is_folder(const char *path)
{
    struct stat st;
    const size_t len = strlen(path);
    return (len > 0 && path[len - 1] == '/') || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

static enum exit_status write_folder(const struct run *run, const struct nytp_profile *profile,
                                     const char *path)
{
    struct nytp_error error = {0};
    struct nytp_output_set *set = nytp_output_set_folder(path, &error);
    if (set == NULL)
        return nytp_cli_output_failed(path, &error);
    if (run->cli.export.report.replace)
        nytp_output_set_replace(set);
    bool ok = run->cli.exporter->write_set(profile, &run->cli.export, set);
    if (!ok)
        nytp_out_of_memory(&error);
    uint32_t n_kept = 0;
    ok = ok && nytp_output_set_finish(set, &error, &n_kept);
    nytp_output_set_free(set);
    if (!ok)
        return nytp_cli_output_failed(path, &error);
    if (n_kept > 0 && !run->cli.quiet)
        nytp_cli_say("%s: left %u files that are not of a report", path, (unsigned)n_kept);
    return EXIT_DONE;
}

struct single {
    const struct run *run;
    const struct nytp_profile *profile;
};

static void write_single(void *context, struct nytp_out *out)
{
    const struct single *single = context;
    const struct nytp_cli *cli = &single->run->cli;
    struct nytp_output_set *set = nytp_output_set_single(out);
    if (set == NULL || !cli->exporter->write_set(single->profile, &cli->export, set))
        nytp_out_of_memory(&out->error);
    nytp_output_set_free(set);
}

/* The report's first page in a browser. */
static enum exit_status open_report(const struct run *run, const char *path)
{
    struct nytp_error error = {0};
    size_t len;
    const char *command = nytp_viewer_find(run->cli.exporter->viewer, &len);
    if (command == NULL)
        return EXIT_OUTPUT;
    const size_t path_len = strlen(path);
    char *page = malloc(path_len + sizeof "/index.html");
    if (page == NULL) {
        nytp_cli_say("--open: out of memory");
        return EXIT_OUTPUT;
    }
    const bool slash = path_len > 0 && path[path_len - 1] == '/';
    snprintf(page, path_len + sizeof "/index.html", "%s%s%s", path,
             is_folder(path) && !slash ? "/" : "", is_folder(path) ? "index.html" : "");
    const bool ok = nytp_viewer_run(command, len, page, &error);
    free(page);
    if (!ok)
        nytp_cli_say("--open: %s", error.message);
    return ok ? EXIT_DONE : EXIT_OUTPUT;
}

/* Text, %% and one conversion of a floating point number: what printf can be given. */
static bool is_time_format(const char *format)
{
    int n = 0;
    for (const char *at = format; *at != '\0'; at++) {
        if (*at != '%')
            continue;
        if (*++at == '%')
            continue;
        at += strspn(at, "-+ 0#");
        const size_t width = strspn(at, "0123456789");
        at += width + (at[width] == '.');
        const size_t digits = strspn(at, "0123456789");
        at += digits;
        if (width > 2 || digits > 2 || *at == '\0' || strchr("fFeEgG", *at) == NULL || ++n > 1)
            return false;
    }
    return n == 1;
}

/* Reads the variables that Devel::NYTProf's reports read. */
static void read_environment(struct run *run)
{
    const char *trim = getenv("NYTPROF_FNAME_TRIM"), *format = getenv("NYTPROF_FMT_TIME");
    const unsigned long longest = trim != NULL ? strtoul(trim, NULL, 10) : 0;
    run->cli.export.report.name_trim = longest < 100000 ? (uint32_t)longest : 100000;
    if (format == NULL || strchr(format, '%') == NULL)
        return;
    if (is_time_format(format) && strlen(format) < 100)
        run->cli.export.report.time_format = format;
    else
        nytp_cli_say(
            "NYTPROF_FMT_TIME is not the format of one number, such as %%.3f: not used");
}

/* Returns the reported side of a comparison's profile, whose processes come first, or without a
 * comparison the profile itself. Returns NULL with *error set. */
static struct nytp_profile *shown_side(struct nytp_profile *profile,
                                       const struct nytp_diff *diff, struct nytp_error *error)
{
    uint32_t n = 0;
    while (diff != NULL && n < profile->n_processes &&
           diff->side_of_recording[profile->processes[n].recording] == NYTP_DIFF_NEW)
        n++;
    return diff != NULL ? nytp_select_processes_once(profile, 0, n, error) : profile;
}

/* With --source-dir: files go on to be called as they were recorded, and *paths tells where the
 * source of each is now, by index. False with *error set. */
static bool unpack(struct nytp_profile *profile, const char *dir, struct nytp_name **paths,
                   struct nytp_error *error)
{
    *paths = malloc(profile->n_files * sizeof **paths);
    if (*paths == NULL)
        return nytp_out_of_memory(error);
    for (uint32_t f = 0; f < profile->n_files; f++)
        (*paths)[f] = profile->files[f].name;
    if (!nytp_unpack_sources(profile, dir, error))
        return false;
    for (uint32_t f = 0; f < profile->n_files; f++) {
        const struct nytp_name recorded = (*paths)[f];
        (*paths)[f] = profile->files[f].name;
        profile->files[f].name = recorded;
    }
    return true;
}

static bool has_labels(const struct nytp_profile *profile)
{
    for (uint32_t i = 0; i < profile->n_recordings; i++)
        if (profile->recordings[i].has_labels)
            return true;
    for (uint32_t i = 0; i < profile->n_processes; i++)
        if (profile->processes[i].labels.len > 0)
            return true;
    return false;
}

/* The inputs are read once more for their labels, if they have any and nothing was selected.
 * What there is to say of the inputs has been said. NULL: there is nothing to show. */
static struct nytp_label_sums *sum_labels(struct run *run, const struct nytp_profile *profile,
                                          struct nytp_label_row **rows)
{
    struct nytp_cli *const cli = &run->cli;
    if (cli->export.selected != NULL || !has_labels(profile))
        return NULL;
    struct nytp_label_sums *const sums = nytp_label_sums_new(cli->as_recorded);
    for (int i = 0; i < cli->n_files && sums != NULL; i++) {
        struct nytp_error error = {0};
        struct stat st;
        if (stat(cli->files[i], &st) != 0 || !S_ISREG(st.st_mode))
            continue; /* a pipe is read once */
        nytp_cli_read(run, cli->files[i], true, nytp_label_sums_sink(sums), &error);
        nytp_label_sums_end_input(sums);
    }
    if (sums != NULL)
        *rows = nytp_label_rows_named(sums, &cli->export.report.n_label_rows);
    if (sums == NULL || *rows == NULL)
        cli->export.report.n_label_rows = 0;
    cli->export.report.label_rows = *rows;
    return sums;
}

/* ---- what ran under each label ---- */

/* The row after those of most time that were chosen, among those of statements or the others.
 * n_rows: there is none. */
static uint32_t longest_row(const struct nytp_report_options *options, const bool *seen,
                            bool of_statements)
{
    uint32_t best = options->n_label_rows;
    for (uint32_t i = 0; i < options->n_label_rows; i++) {
        const struct nytp_label_row *const rows = options->label_rows;
        const bool is_sql = strcmp(rows[i].key.ptr, "sql") == 0;
        if (!seen[i] && is_sql == of_statements &&
            (best == options->n_label_rows || rows[i].total_s > rows[best].total_s))
            best = i;
    }
    return best;
}

/* The inputs as far as they were under a label; NULL when that cannot be told. */
static struct nytp_profile *load_label(const struct run *run, const struct nytp_label_row *row)
{
    struct run again = *run;
    struct nytp_error error = {0};
    struct nytp_profile *profile = NULL;
    const size_t size = (size_t)row->key.len + row->value.len + 2;
    char *const text = malloc(size);
    if (text == NULL)
        return NULL;
    snprintf(text, size, "%s=%s", row->key.ptr, row->value.ptr);
    again.cli.where = (struct nytp_label_where){.n = 0};
    again.cli.quiet = again.is_again = true;
    if (nytp_label_where_add(&again.cli.where, text, &error))
        nytp_cli_load(&again, (const char *const *)run->cli.files, run->cli.n_files, &profile);
    nytp_label_where_free(&again.cli.where);
    free(text);
    return profile;
}

/* By row of the labels' table, for the longest of them. Each is another two readings of the
 * inputs, which therefore have to be small, and whole. NULL: of none. */
static struct nytp_profile **load_labels(const struct run *run)
{
    const struct nytp_report_options *const options = &run->cli.export.report;
    const uint32_t n = options->n_label_rows;
    struct stat st;
    int64_t size = 0;
    for (int i = 0; i < run->cli.n_files; i++)
        size +=
            stat(run->cli.files[i], &st) == 0 && S_ISREG(st.st_mode) ? st.st_size : INT32_MAX;
    if (n == 0 || options->no_flame || run->failed || run->partial ||
        size > NYTP_LABEL_PARTS_BYTES)
        return NULL;
    struct nytp_profile **const parts = calloc(n, sizeof *parts);
    bool *const seen = calloc(n, sizeof *seen);
    for (uint32_t i = 0;
         parts != NULL && seen != NULL && i < NYTP_LABEL_PARTS + NYTP_STATEMENT_PARTS; i++) {
        const uint32_t row = longest_row(options, seen, i >= NYTP_LABEL_PARTS);
        if (row == n)
            continue;
        seen[row] = true;
        parts[row] = load_label(run, &options->label_rows[row]);
    }
    free(seen);
    return parts;
}

static void free_parts(struct nytp_profile **parts, uint32_t n)
{
    for (uint32_t i = 0; parts != NULL && i < n; i++)
        nytp_profile_free(parts[i]);
    free(parts);
}

enum exit_status nytp_cli_export_set(struct run *run, struct nytp_profile *profile,
                                     const struct nytp_diff *diff)
{
    struct nytp_cli *cli = &run->cli;
    struct nytp_error error = {0};
    const char *path = cli->output != NULL ? cli->output : cli->open ? "nytprof/" : "-";
    struct nytp_name *paths = NULL;
    if (nytp_cli_replaces_input(cli, path))
        return EXIT_USAGE;
    if (cli->source_dir != NULL && !unpack(profile, cli->source_dir, &paths, &error)) {
        free(paths);
        return nytp_cli_output_failed(cli->source_dir, &error);
    }
    struct nytp_profile *shown = shown_side(profile, diff, &error);
    if (shown == NULL) {
        nytp_cli_say("%s", error.message);
        return EXIT_OUTPUT;
    }
    cli->export.report.source_paths = paths;
    struct nytp_label_row *rows = NULL;
    struct nytp_label_sums *const labels = sum_labels(run, shown, &rows);
    struct nytp_profile **const parts = diff == NULL ? load_labels(run) : NULL;
    cli->export.report.label_parts = parts;
    read_environment(run);
    cli->export.report.diff = diff;
    cli->export.report.partial = run->partial;
    enum exit_status status =
        is_folder(path)
            ? write_folder(run, shown, path)
            : nytp_cli_write_output(path, write_single, &(struct single){run, shown});
    if (shown != profile)
        nytp_profile_free(shown);
    cli->export.report.source_paths = NULL;
    free(paths);
    free_parts(parts, cli->export.report.n_label_rows);
    free(rows);
    nytp_label_sums_free(labels);
    if (status == EXIT_DONE && cli->open)
        status = open_report(run, path);
    return status;
}
