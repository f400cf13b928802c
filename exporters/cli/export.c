/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The usual mode: what the command line names is loaded and compared (comparison.h), and one
 * exporter writes the profile or the comparison, in one file or one for each process. Then it
 * is told what became of the limits.
 */
#include "comparison.h"
#include "modes.h"
#include "outputs.h"
#include "unpack.h"
#include "viewer.h"

#include "exporters/gate/gate_answers.h"
#include "exporters/select/one_process.h"

#include "formats/model/profile.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct export
{
    const struct run *run;
    const struct nytp_profile *profile;
    const struct nytp_diff *diff; /* what is written instead of the profile, or NULL */
    const struct comparison *comparison;
    uint64_t n_negative; /* values that were written as 0 */
};

static void write_export(void *context, struct nytp_out *out)
{
    struct export *export = context;
    const struct nytp_cli *cli = &export->run->cli;
    if (cli->exporter->shows_limits && export->comparison->gate.n_rules > 0)
        nytp_gate_put_markdown(&export->comparison->gate, &export->comparison->result, out);
    if (export->diff != NULL)
        cli->exporter->write_diff(export->diff, &cli->export, out);
    else
        cli->exporter->write(export->profile, &cli->export, out);
    export->n_negative = out->n_negative;
}

static enum exit_status write_profile(const struct run *run,
                                      const struct comparison *comparison,
                                      const struct nytp_profile *profile, const char *path)
{
    struct export export = {
        .run = run,
        .profile = profile,
        .diff = run->cli.bases.n > 0 ? comparison->diff : NULL,
        .comparison = comparison,
    };
    const enum exit_status status = nytp_cli_write_output(path, write_export, &export);
    if (status == EXIT_DONE && export.n_negative > 0 && !run->cli.quiet)
        nytp_cli_say("%s: %llu negative values written as 0", nytp_cli_output_name(path),
                     (unsigned long long)export.n_negative);
    return status;
}

/* `n_before`: how many processes of this pid came before. */
static enum exit_status write_process(const struct run *run,
                                      const struct comparison *comparison,
                                      const struct nytp_arcs_before *calls, uint32_t process,
                                      uint32_t n_before)
{
    const struct nytp_profile *profile = comparison->profile;
    struct nytp_error error = {0};
    char *path = nytp_process_path(&run->cli, profile->processes[process].pid, n_before);
    struct nytp_profile *one = nytp_select_processes(profile, calls, process, 1, &error);
    enum exit_status status = EXIT_OUTPUT;
    if (path == NULL || one == NULL)
        nytp_cli_say("%s: %s", run->cli.output, one == NULL ? error.message : "out of memory");
    else if (nytp_cli_replaces_input(&run->cli, path))
        status = EXIT_USAGE;
    else
        status = write_profile(run, comparison, one, path);
    nytp_profile_free(one);
    free(path);
    return status;
}

/* Write an output for each process. Processes of the same pid, of several runs, are told apart
 * by a number. */
static enum exit_status write_processes(const struct run *run,
                                        const struct comparison *comparison)
{
    const struct nytp_profile *profile = comparison->profile;
    struct nytp_arcs_before calls;
    enum exit_status status = EXIT_DONE;
    if (!nytp_arcs_before_init(&calls, profile)) {
        nytp_cli_say("out of memory");
        return EXIT_OUTPUT;
    }
    for (uint32_t i = 0; i < profile->n_processes && status == EXIT_DONE; i++) {
        uint32_t n_before = 0;
        for (uint32_t k = 0; k < i; k++)
            n_before += profile->processes[k].pid == profile->processes[i].pid;
        status = write_process(run, comparison, &calls, i, n_before);
    }
    nytp_arcs_before_free(&calls);
    return status;
}

/* Write the output, to a temporary file if none is named, start the viewer on it and wait
 * until that ends. The file of a viewer that ends before it has read it is kept. */
static enum exit_status write_and_open(const struct run *run,
                                       const struct comparison *comparison)
{
    struct nytp_error error = {0};
    size_t len;
    const char *command = nytp_viewer_find(run->cli.exporter->viewer, &len);
    if (command == NULL)
        return EXIT_OUTPUT;
    char *made = NULL, *kept = NULL;
    const char *path = run->cli.output;
    if (path == NULL)
        path = made = nytp_viewer_temp_path(run->cli.exporter, run->cli.files[0], &error);
    enum exit_status status = EXIT_OUTPUT;
    if (path == NULL)
        nytp_cli_say("--open: %s", error.message);
    else if (nytp_cli_replaces_input(&run->cli, path))
        status = EXIT_USAGE;
    else
        status = write_profile(run, comparison, comparison->profile, path);
    if (status == EXIT_DONE && made != NULL && run->cli.exporter->viewer_leaves) {
        path = kept = nytp_viewer_keep(run->cli.exporter, run->cli.files[0], made, &error);
        nytp_viewer_remove(made);
        made = NULL;
    }
    if (status == EXIT_DONE && (path == NULL || !nytp_viewer_run(command, len, path, &error))) {
        nytp_cli_say("--open: %s", error.message);
        status = EXIT_OUTPUT;
    }
    if (kept != NULL && status == EXIT_DONE && !run->cli.quiet)
        nytp_cli_say("--open: written to %s", kept);
    free(kept);
    nytp_viewer_remove(made);
    return status;
}

static enum exit_status write_all(struct run *run, const struct comparison *comparison)
{
    const struct nytp_cli *cli = &run->cli;
    const bool answers = nytp_cli_n_answers(cli) > 0;
    if (cli->exporter->write_set != NULL)
        return nytp_cli_export_set(run, comparison->profile,
                                   cli->bases.n > 0 ? comparison->diff : NULL);
    if (cli->open)
        return write_and_open(run, comparison);
    if (cli->per_process)
        return write_processes(run, comparison);
    if (answers && cli->output == NULL) /* the answers go to standard output instead */
        return EXIT_DONE;
    return write_profile(run, comparison, comparison->profile,
                         cli->output != NULL ? cli->output : "-");
}

/* Says which expressions of --list and --peek match no sub, and returns whether that is all of
 * them. */
static bool all_names_miss(const struct run *run, const struct nytp_profile *profile)
{
    char text[512];
    uint32_t n = 0;
    const struct nytp_patterns *names = &run->cli.export.names;
    for (uint32_t i = 0; i < names->n; i++) {
        if (!nytp_patterns_describe_miss(names, i, profile, text, sizeof text))
            continue;
        n++;
        if (!run->cli.quiet)
            nytp_cli_say_miss(text);
    }
    return n > 0 && n == names->n;
}

/* As grep does it: what was asked for is not there. */
static bool selects_nothing(const struct run *run, const struct nytp_profile *profile)
{
    const struct nytp_export_options *const options = &run->cli.export;
    return options->selected != NULL &&
           (options->unselected_ticks > 0 || run->unselected_ops > 0) &&
           profile->total.ticks == 0 && profile->total.calls == 0 &&
           profile->total.statements == 0;
}

static enum exit_status write_loaded(struct run *run, const struct comparison *comparison)
{
    struct nytp_error error = {0};
    const struct nytp_cli *cli = &run->cli;
    if (cli->source_dir != NULL && cli->exporter->write_set == NULL &&
        !nytp_unpack_sources(comparison->profile, cli->source_dir, &error))
        return nytp_cli_output_failed(cli->source_dir, &error);
    const bool nothing =
        all_names_miss(run, comparison->profile) || selects_nothing(run, comparison->profile);
    const enum exit_status status = write_all(run, comparison);
    return status == EXIT_DONE && nothing ? EXIT_INPUT : status;
}

enum exit_status nytp_cli_run_export(struct run *run)
{
    struct nytp_cli *cli = &run->cli;
    const bool to_stdout = !cli->open && (cli->output == NULL || strcmp(cli->output, "-") == 0);
    const bool to_terminal = to_stdout && isatty(STDOUT_FILENO);
    if (to_terminal)
        nytp_cli_fit_terminal(&cli->export);
    if (cli->exporter->binary && to_terminal) {
        nytp_cli_say("%s is binary and standard output a terminal: use -o FILE or a pipe",
                     cli->exporter->name);
        return EXIT_USAGE;
    }
    if (cli->exporter->write_set != NULL && to_terminal) {
        nytp_cli_say("standard output is a terminal: use -o DIR/ or -o FILE.html");
        return EXIT_USAGE;
    }
    struct comparison comparison = {0};
    enum exit_status status = nytp_compare_load(run, &comparison);
    nytp_cli_say_of_inputs(run);
    if (status == EXIT_DONE)
        status = write_loaded(run, &comparison);
    if (status == EXIT_DONE && comparison.gate.n_rules > 0)
        status = nytp_compare_judge(run, &comparison);
    nytp_compare_free(&comparison);
    return status != EXIT_DONE ? status : nytp_cli_done(run);
}
