/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Formats of several files: one reading for a summary and a model, a folder or one file for the
 * output.
 */
#include "report_input.h"
#include "run.h"
#include "viewer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_SIBLING_EVALS 200 /* distinct string evals of one line that stay apart */

/* What such a format is made of. */
struct report {
    struct nytp_summary *summary;
    struct nytp_profile *profile; /* NULL without flame graph */
};

static void free_report(struct report *report)
{
    nytp_profile_free(report->profile);
    nytp_summary_free(report->summary);
}

static void note_bad_input(void *context, const char *path, const struct nytp_error *error)
{
    note_partial(context, path, error);
}

static struct nytp_error why_partial(const struct report *report, bool whole,
                                     const struct nytp_error *read_error)
{
    struct nytp_error error = {0};
    if (report->summary->error.status != NYTP_OK)
        return report->summary->error;
    if (!whole)
        return *read_error;
    if (report->profile != NULL && report->profile->partial)
        return report->profile->parts[0].error;
    if (report->summary->n_open > 0)
        nytp_error_set(&error, NYTP_ERR_TRUNCATED, "the end of a process is missing");
    return error;
}

/* Read one stream into a summary and, unless it is not wanted, a model. False after a message.
 */
static bool load_report(struct run *run, const char *path, const char *shown_path,
                        struct report *report)
{
    const struct nytp_export_options *options = &run->cli.export;
    struct nytp_error read_error = {0}, error = {0};
    struct nytp_builder *builder = NULL;
    report->summary = nytp_summary_new();
    if (report->summary == NULL)
        nytp_error_set(&error, NYTP_ERR_MEMORY, "out of memory");
    else if (!options->no_flame)
        /* as recorded: the tables beside it are, too */
        builder = nytp_builder_new(&(struct nytp_build_options){.as_recorded = true},
                                   shown_path, &error);
    if (error.status != NYTP_OK) {
        say_unusable(run, shown_path, &error);
        return false;
    }
    struct nytp_tee tee;
    nytp_tee_init(&tee, &report->summary->sink,
                  builder != NULL ? nytp_builder_sink(builder) : NULL);
    const bool whole = read_input(run, path, &tee.sink, &read_error);
    if (builder != NULL)
        report->profile = nytp_builder_finish(builder, whole ? NULL : &read_error, &error);
    if (report->profile != NULL && report->summary->n_files == 0 &&
        report->profile->n_arcs > 0) {
        nytp_summary_free(report->summary);
        report->summary = nytp_summary_of_profile(report->profile);
        if (report->summary == NULL) {
            nytp_error_set(&error, NYTP_ERR_MEMORY, "out of memory");
            say_unusable(run, shown_path, &error);
            return false;
        }
    }
    const bool is_empty = report->summary->n_files == 0 && report->summary->n_subs == 0;
    if ((builder != NULL && report->profile == NULL) || (!whole && is_empty)) {
        say_unusable(run, shown_path, whole ? &error : &read_error);
        return false;
    }
    if (report->profile != NULL)
        nytp_lacks_add(&run->lacks, run->cli.exporter, report->profile, shown_path);
    const struct nytp_error partial = why_partial(report, whole, &read_error);
    if (partial.status != NYTP_OK)
        note_partial(run, shown_path, &partial);
    report->summary->error = (struct nytp_error){0};
    if (nytp_summary_finish(report->summary) &&
        (options->no_merge_evals ||
         nytp_summary_merge_evals(report->summary, MAX_SIBLING_EVALS)))
        return true;
    say_unusable(run, shown_path, &report->summary->error);
    return false;
}

static bool load_reports(struct run *run, struct report *report)
{
    const struct nytp_cli *cli = &run->cli;
    if (cli->n_files == 1) {
        const bool ok = load_report(run, cli->files[0], cli->files[0], report);
        say_partial(run);
        return ok;
    }
    struct nytp_error error = {0};
    char *merged = nytp_merge_inputs(cli->files, cli->n_files, note_bad_input, run, &error);
    if (merged == NULL) {
        say("merging %d inputs: %s", cli->n_files, error.message);
        return false;
    }
    const bool ok = load_report(run, merged, cli->files[0], report);
    say_partial(run);
    unlink(merged);
    free(merged);
    return ok;
}

/* Whether the output is a folder: its name says so, or it is one. */
static bool is_folder(const char *path)
{
    struct stat st;
    const size_t len = strlen(path);
    return (len > 0 && path[len - 1] == '/') || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

static enum exit_status write_folder(const struct run *run, const struct report *report,
                                     const char *path)
{
    struct nytp_error error = {0};
    struct nytp_outset *set = nytp_outset_folder(path, &error);
    if (set == NULL)
        return output_failed(path, &error);
    if (run->cli.export.replace)
        nytp_outset_replace(set);
    bool ok =
        run->cli.exporter->write_set(report->profile, report->summary, &run->cli.export, set);
    if (!ok)
        nytp_error_set(&error, NYTP_ERR_MEMORY, "out of memory");
    uint32_t n_left = 0;
    ok = ok && nytp_outset_finish(set, &error, &n_left);
    nytp_outset_free(set);
    if (!ok)
        return output_failed(path, &error);
    if (n_left > 0 && !run->cli.quiet)
        say("%s: left %u files that are not of a report", path, (unsigned)n_left);
    return EXIT_DONE;
}

static enum exit_status write_single(const struct run *run, const struct report *report,
                                     const char *path)
{
    struct nytp_error error = {0};
    struct nytp_out *out = open_output(path, &error);
    if (out == NULL)
        return output_failed(path, &error);
    struct nytp_outset *set = nytp_outset_single(out);
    if (set == NULL ||
        !run->cli.exporter->write_set(report->profile, report->summary, &run->cli.export, set))
        nytp_error_set(&out->error, NYTP_ERR_MEMORY, "out of memory");
    nytp_outset_free(set);
    return close_output(out, &error) ? EXIT_DONE : output_failed(path, &error);
}

/* The report's first page in a browser. */
static enum exit_status open_report(const struct run *run, const char *path)
{
    struct nytp_error error = {0};
    size_t len;
    const char *command = nytp_viewer_find(run->cli.exporter->viewer, &len);
    if (command == NULL) {
        say("--open: not installed: %s", run->cli.exporter->viewer);
        return EXIT_OUTPUT;
    }
    const size_t path_len = strlen(path);
    char *page = malloc(path_len + sizeof "/index.html");
    if (page == NULL) {
        say("--open: out of memory");
        return EXIT_OUTPUT;
    }
    const bool slash = path_len > 0 && path[path_len - 1] == '/';
    snprintf(page, path_len + sizeof "/index.html", "%s%s%s", path,
             is_folder(path) && !slash ? "/" : "", is_folder(path) ? "index.html" : "");
    const bool ok = nytp_viewer_run(command, len, page, &error);
    free(page);
    if (!ok)
        say("--open: %s", error.message);
    return ok ? EXIT_DONE : EXIT_OUTPUT;
}

enum exit_status run_report(struct run *run)
{
    struct nytp_cli *cli = &run->cli;
    struct report report = {0};
    struct nytp_error error = {0};
    const char *path = cli->output != NULL ? cli->output : cli->open ? "nytprof/" : "-";
    enum exit_status status = EXIT_INPUT;
    if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO)) {
        say("standard output is a terminal: use -o DIR/ or -o FILE.html");
        return EXIT_USAGE;
    }
    const bool loaded = load_reports(run, &report);
    say_partial(run);
    if (loaded && !(cli->strict && run->failed)) {
        cli->export.partial = run->partial;
        if (!cli->quiet)
            cli->selection.on_miss = say_miss;
        if (report.profile != NULL) {
            say_what_lacks(run);
            if (!nytp_select(report.profile, &cli->selection, &error)) {
                say("selection: %s", error.message);
                free_report(&report);
                return EXIT_INPUT;
            }
        }
        status = is_folder(path) ? write_folder(run, &report, path)
                                 : write_single(run, &report, path);
        if (status == EXIT_DONE && cli->open)
            status = open_report(run, path);
    }
    free_report(&report);
    return status != EXIT_DONE ? status : done(run);
}
