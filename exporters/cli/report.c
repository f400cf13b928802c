/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The mode for formats of several files, which is the HTML report. The input is read once,
 * into a summary and a model at the same time, and the output is a folder or a single file.
 */
#include "load.h"
#include "modes.h"
#include "outputs.h"
#include "exporters/select/child_waits.h"

#include "formats/build/build.h"
#include "formats/by_position/corrected_summary.h"
#include "formats/by_position/summary_evals.h"
#include "formats/model/merge_profiles.h"
#include "formats/model/profile.h"
#include "exporters/select/trim.h"
#include "inputs.h"
#include "report_input.h"
#include "unpack.h"
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
    struct nytp_profile **logs;   /* of Devel::DProf's logs among several inputs */
    uint32_t n_logs;
};

static void free_report(struct report *report)
{
    for (uint32_t i = 0; i < report->n_logs; i++)
        nytp_profile_free(report->logs[i]);
    free(report->logs);
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

/* How an input is read. */
struct reading {
    const char *path, *shown_path;
    bool whole;
    struct nytp_error read_error;
    bool may_leave_out; /* the model, where only what recording cost needs it */
};

/* A model is wanted for the flame graph, for what recording cost and for sources to unpack. */
static struct nytp_builder *new_builder(const struct run *run, const struct reading *reading,
                                        struct nytp_error *error)
{
    if (run->cli.export.no_flame && run->cli.as_recorded && run->cli.export.source_dir == NULL)
        return NULL;
    return nytp_builder_new(
        &(struct nytp_build_options){.as_recorded = true,
                                     .sources = run->cli.export.source_dir != NULL},
        reading->shown_path, error);
}

/* One reading of the input. False with *error set; *again when it has to be read once more. */
static bool read_stream(struct run *run, struct reading *reading, struct report *report,
                        bool *again, struct nytp_error *error)
{
    report->summary = nytp_summary_new();
    if (report->summary == NULL)
        return nytp_error_set(error, NYTP_ERR_MEMORY, "out of memory");
    report->summary->keep_rolls = !run->cli.as_recorded;
    struct nytp_builder *builder = new_builder(run, reading, error);
    if (error->status != NYTP_OK)
        return false;
    struct nytp_tee tee;
    nytp_tee_init(&tee, &report->summary->sink,
                  builder != NULL ? nytp_builder_sink(builder) : NULL);
    tee.only_for_costs = run->cli.export.no_flame && run->cli.export.source_dir == NULL &&
                         builder != NULL && reading->may_leave_out;
    struct nytp_trim trim;
    nytp_trim_init(&trim, run->cli.trim_paths.at, run->cli.trim_paths.n, &tee.sink);
    reading->whole =
        nytp_cli_read(run, reading->path, run->cli.trim_paths.n > 0 ? &trim.sink : &tee.sink,
                   &reading->read_error);
    nytp_trim_release(&trim);
    *again = tee.late_costs;
    if (tee.left_out) {
        nytp_builder_free(builder);
        return true;
    }
    if (builder == NULL)
        return true;
    report->profile =
        nytp_builder_finish(builder, reading->whole ? NULL : &reading->read_error, error);
    return report->profile != NULL;
}

/* Read a stream; once more with all of it where costs came after the model was given up. */
static bool read_report(struct run *run, struct reading *reading, struct report *report,
                        struct nytp_error *error)
{
    bool again = false;
    if (!read_stream(run, reading, report, &again, error))
        return false;
    if (!again)
        return true;
    nytp_summary_free(report->summary);
    reading->may_leave_out = false;
    return read_stream(run, reading, report, &again, error);
}

/* What a recording without sums of its own lacks (tmon.out) comes from the model. */
static bool complete_summary(struct report *report, struct nytp_error *error)
{
    if (report->profile == NULL || report->summary->n_files > 0 || report->profile->n_arcs == 0)
        return true;
    nytp_summary_free(report->summary);
    report->summary = nytp_summary_of_profile(report->profile);
    return report->summary != NULL || nytp_error_set(error, NYTP_ERR_MEMORY, "out of memory");
}

/* Resolve, correct and merge what was read. */
static bool finish_summary(struct run *run, struct report *report)
{
    struct nytp_summary *summary = report->summary;
    summary->error = (struct nytp_error){0};
    for (uint32_t i = 0; i < report->n_logs; i++)
        if (!nytp_summary_add_profile(summary, report->logs[i]))
            return false;
    if (!nytp_summary_finish(summary))
        return false;
    if (report->profile != NULL && !run->cli.as_recorded &&
        !nytp_take_off_both(report->profile, summary))
        return nytp_error_set(&summary->error, NYTP_ERR_MEMORY, "out of memory");
    if (report->profile != NULL &&
        !nytp_child_waits(report->profile, false, &run->cli.export.child_wait_ticks,
                          &summary->error))
        return false;
    return run->cli.export.no_merge_evals ||
           nytp_summary_merge_evals(summary, MAX_SIBLING_EVALS);
}

/* Read one stream into a summary and, as far as it is needed, a model. False after a message.
 */
static bool load_report(struct run *run, const char *path, const char *shown_path,
                        struct report *report)
{
    struct reading reading = {
        .path = path, .shown_path = shown_path, .may_leave_out = strcmp(path, "-") != 0};
    struct nytp_error error = {0};
    const bool ok =
        read_report(run, &reading, report, &error) && complete_summary(report, &error);
    const bool is_empty = report->summary == NULL ||
                          (report->summary->n_files == 0 && report->summary->n_subs == 0);
    if (!ok || (!reading.whole && is_empty)) {
        say_unusable(run, shown_path, reading.whole ? &error : &reading.read_error);
        return false;
    }
    if (report->profile != NULL)
        nytp_lacks_add(&run->lacks, run->cli.exporter, report->profile, shown_path);
    const struct nytp_error partial = why_partial(report, reading.whole, &reading.read_error);
    if (partial.status != NYTP_OK)
        note_partial(run, shown_path, &partial);
    if (!finish_summary(run, report)) {
        say_unusable(run, shown_path, &report->summary->error);
        return false;
    }
    return true;
}

/* ---- Devel::DProf's logs among the inputs ---- */

static bool is_log(const char *path)
{
    return strcmp(path, "-") != 0 && nytp_input_is(path, "dprof");
}

/* Those inputs cannot be merged into one stream: they have no files, and times that no line is
 * known of. Their models are kept apart. Of the others the paths are left, *n of them. False
 * after a message, when nothing is left at all. */
static bool load_logs(struct run *run, struct report *report, char **paths, int *n)
{
    report->logs = calloc((size_t)*n, sizeof *report->logs);
    int n_streams = 0;
    for (int i = 0; report->logs != NULL && i < *n; i++) {
        if (!is_log(paths[i])) {
            paths[n_streams++] = paths[i];
            continue;
        }
        struct nytp_profile *profile = nytp_cli_load_one(run, paths[i], NULL);
        if (profile != NULL)
            report->logs[report->n_logs++] = profile;
        else
            run->failed = true;
    }
    *n = n_streams;
    return report->logs != NULL && n_streams + (int)report->n_logs > 0;
}

/* One model of the streams' and the logs'. False after a message. */
static bool join_profiles(struct report *report)
{
    struct nytp_error error = {0};
    struct nytp_profile **all = calloc((size_t)report->n_logs + 1, sizeof *all);
    uint32_t n = 0;
    if (all != NULL && report->profile != NULL)
        all[n++] = report->profile;
    for (uint32_t i = 0; all != NULL && i < report->n_logs; i++)
        all[n++] = report->logs[i];
    report->profile = NULL;
    report->n_logs = 0;
    report->profile = all != NULL ? nytp_profiles_merge(all, n, &error) : NULL;
    free(all);
    if (report->profile == NULL)
        say("merging %u inputs: %s", (unsigned)n, error.message);
    return report->profile != NULL;
}

/* A report of logs alone. */
static bool summarize_logs(struct run *run, struct report *report)
{
    report->summary = nytp_summary_new();
    if (report->summary == NULL || !finish_summary(run, report)) {
        say("out of memory");
        return false;
    }
    return true;
}

/* Several streams are merged into one first. */
static bool load_streams(struct run *run, char **paths, int n, struct report *report)
{
    struct nytp_error error = {0};
    if (n == 1)
        return load_report(run, paths[0], paths[0], report);
    char *merged = nytp_merge_inputs(paths, n, note_bad_input, run, &error);
    if (merged == NULL) {
        say("merging %d inputs: %s", n, error.message);
        return false;
    }
    const bool ok = load_report(run, merged, paths[0], report);
    unlink(merged);
    free(merged);
    return ok;
}

static bool load_reports(struct run *run, struct report *report)
{
    const struct nytp_cli *cli = &run->cli;
    int n = cli->n_files;
    if (n == 1)
        return load_streams(run, cli->files, n, report);
    char **paths = malloc((size_t)n * sizeof *paths);
    if (paths == NULL)
        return false;
    memcpy(paths, cli->files, (size_t)n * sizeof *paths);
    const bool ok = load_logs(run, report, paths, &n) &&
                    (n > 0 ? load_streams(run, paths, n, report) : summarize_logs(run, report));
    free(paths);
    return ok && (report->n_logs == 0 || join_profiles(report));
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

struct single {
    const struct run *run;
    const struct report *report;
};

static void write_single(void *context, struct nytp_out *out)
{
    const struct single *single = context;
    const struct run *run = single->run;
    const struct report *report = single->report;
    struct nytp_outset *set = nytp_outset_single(out);
    if (set == NULL ||
        !run->cli.exporter->write_set(report->profile, report->summary, &run->cli.export, set))
        nytp_error_set(&out->error, NYTP_ERR_MEMORY, "out of memory");
    nytp_outset_free(set);
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

/* What Devel::NYTProf's reports look for in the environment. */
static void read_environment(struct run *run)
{
    const char *trim = getenv("NYTPROF_FNAME_TRIM"), *format = getenv("NYTPROF_FMT_TIME");
    const unsigned long longest = trim != NULL ? strtoul(trim, NULL, 10) : 0;
    run->cli.export.name_trim = longest < 100000 ? (uint32_t)longest : 100000;
    if (format == NULL || strchr(format, '%') == NULL)
        return;
    if (is_time_format(format) && strlen(format) < 100)
        run->cli.export.time_format = format;
    else if (!run->cli.quiet)
        say("NYTPROF_FMT_TIME is not the format of one number, such as %%.3f: not used");
}

/* For a difference the inputs are read a second time, and nothing is said of them twice. */
enum exit_status run_report(struct run *run, const struct nytp_diff *diff)
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
    read_environment(run);
    cli->export.diff = diff;
    const bool loaded = load_reports(run, &report);
    if (diff == NULL)
        say_of_inputs(run);
    run->n_partial = 0;
    if (loaded && !(cli->strict && run->failed)) {
        cli->export.partial = run->partial;
        if (!cli->quiet)
            cli->selection.on_miss = say_miss;
        if (report.profile != NULL) {
            if (!nytp_select(report.profile, &cli->selection, &error)) {
                say("selection: %s", error.message);
                free_report(&report);
                return EXIT_INPUT;
            }
        }
        if (cli->export.source_dir != NULL && report.profile != NULL &&
            !nytp_unpack_sources(report.profile, cli->export.source_dir, &error)) {
            free_report(&report);
            return output_failed(cli->export.source_dir, &error);
        }
        status = is_folder(path)
                     ? write_folder(run, &report, path)
                     : write_output(path, write_single, &(struct single){run, &report});
        if (status == EXIT_DONE && cli->open)
            status = open_report(run, path);
    }
    free_report(&report);
    return status != EXIT_DONE || diff != NULL ? status : done(run);
}
