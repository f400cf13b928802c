/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Messages about the inputs of a run; see run.h. One message reports all inputs that end early,
 * and the exit status is then 3.
 */
#include "run.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PARTIAL_OUTCOME "; going on with what came before"

void nytp_cli_say_unusable(struct run *run, const char *path, const struct nytp_error *error)
{
    const struct nytp_cli *cli = &run->cli;
    char hint[120] = "";
    const bool unopened = error->status == NYTP_ERR_IO;
    if (unopened && cli->default_file && strcmp(path, cli->files[0]) == 0)
        snprintf(hint, sizeof hint, " (no FILE was given, this is the default)");
    else if (unopened && cli->value_file != NULL && strcmp(path, cli->value_file) == 0)
        snprintf(hint, sizeof hint, " (did you mean --%s=%.60s?)", cli->value_option, path);
    run->failed = true;
    nytp_cli_say_error(nytp_cli_input_name(path), error, hint);
}

void nytp_cli_note_partial(struct run *run, const char *path, const struct nytp_error *error)
{
    if (error->status == NYTP_ERR_IO && !error->has_offset) { /* the file cannot be opened */
        nytp_cli_say_unusable(run, path, error);
        run->partial = !run->cli.strict;
        return;
    }
    if (run->cli.strict) {
        nytp_cli_say_unusable(run, path, error);
        return;
    }
    run->partial = true;
    if (run->cli.quiet)
        return;
    const bool one_by_one = run->cli.mode != NYTP_MODE_EXPORT;
    if (one_by_one)
        nytp_cli_say_error(nytp_cli_input_name(path), error, PARTIAL_OUTCOME);
    else if (run->n_partial++ == 0) {
        run->first_partial_path = path;
        run->first_partial = *error;
    }
}

void nytp_cli_note_failed(struct run *run, const char *path, const struct nytp_error *error)
{
    if (error->status == NYTP_ERR_TRUNCATED || error->has_offset)
        nytp_cli_note_partial(run, path, error);
    else
        nytp_cli_say_unusable(run, path, error);
}

void note_recording(struct run *run, const char *path, uint32_t pid)
{
    const struct nytp_error error = {.status = NYTP_ERR_TRUNCATED,
                                     .message = "it is still being recorded"};
    struct stat status;
    if (run->cli.strict) {
        nytp_cli_say_unusable(run, path, &error);
        return;
    }
    run->partial = true;
    if (run->cli.quiet || stat(path, &status) != 0)
        return;
    const double age = difftime(time(NULL), status.st_mtime);
    nytp_cli_say("%s: still being recorded by pid %lu (up to %.0f s ago)", path,
                 (unsigned long)pid, age > 0 ? age : 0);
}

/* One line about all inputs that end early, when they are read. */
void nytp_cli_say_partial(struct run *run)
{
    char outcome[120] = PARTIAL_OUTCOME;
    if (run->n_partial > 1)
        snprintf(outcome, sizeof outcome, " (%u of %u inputs end early, this is the first)%s",
                 run->n_partial, (uint32_t)run->cli.n_files + run->cli.bases.n,
                 PARTIAL_OUTCOME);
    if (run->n_partial > 0)
        nytp_cli_say_error(nytp_cli_input_name(run->first_partial_path), &run->first_partial,
                           outcome);
    run->n_partial = 0;
}

/* Reports the data that the exporter would use and the inputs lack. */
static void say_what_lacks(const struct run *run)
{
    char text[4096];
    for (size_t i = 0; i < NYTP_LACK_REASONS && !run->cli.quiet; i++)
        if (nytp_missing_data_message(&run->missing, i, text, sizeof text))
            nytp_cli_say("%s", text);
}

/* Somebody writes into standard input, and nothing reads it. */
static void say_unread_input(const struct run *run)
{
    struct stat status;
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    if (!run->cli.default_file || run->cli.quiet || fstat(STDIN_FILENO, &status) != 0 ||
        !S_ISFIFO(status.st_mode) || poll(&input, 1, 0) != 1 || (input.revents & POLLIN) == 0)
        return;
    nytp_cli_say("standard input is not read: nytprof.out is; for standard input say -");
}

void nytp_cli_say_of_inputs(struct run *run)
{
    nytp_cli_say_partial(run);
    say_unread_input(run);
    say_what_lacks(run);
}

enum exit_status nytp_cli_done(const struct run *run)
{
    return run->failed && !run->partial ? EXIT_INPUT : run->partial ? EXIT_PARTIAL : EXIT_DONE;
}
