/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reads inputs and turns them into profiles; see run.h. An input that ends early is used as
 * far as it goes. That is told at the end, once for all inputs, and makes the exit status 3.
 */
#include "run.h"
#include "progress.h"

#include "exporters/select/trim.h"

#include "formats/build/build.h"
#include "formats/model/merge_profiles.h"
#include "formats/model/profile.h"
#include "formats/build/span_budget.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_MAX_CALLS 200000

#define PARTIAL_OUTCOME "; going on with what came before"

/* Read one input into a sink. False with *error set; what came before it was delivered. */
bool read_input(const struct run *run, const char *path, struct nytp_sink *sink,
                struct nytp_error *error)
{
    struct nytp_source *source = nytp_source_open(path, error);
    if (source == NULL)
        return false;
    struct progress progress;
    struct nytp_sink *shown = begin_progress(&progress, path, source, sink);
    const bool watch = !run->cli.quiet && isatty(STDERR_FILENO);
    const bool ok = nytp_read(source, &run->cli.read, watch ? shown : sink, error);
    end_progress(&progress);
    nytp_source_free(source);
    return ok;
}

void say_unusable(struct run *run, const char *path, const struct nytp_error *error)
{
    const struct nytp_cli *cli = &run->cli;
    char hint[120] = "";
    const bool unopened = error->status == NYTP_ERR_IO;
    if (unopened && cli->default_file)
        snprintf(hint, sizeof hint, " (no FILE was given, this is the default)");
    else if (unopened && cli->value_file != NULL && strcmp(path, cli->value_file) == 0)
        snprintf(hint, sizeof hint, " (did you mean --%s=%.60s?)", cli->value_option, path);
    run->failed = true;
    say_error(input_name(path), error, hint);
}

void note_partial(struct run *run, const char *path, const struct nytp_error *error)
{
    if (run->cli.strict) {
        say_unusable(run, path, error);
        return;
    }
    run->partial = true;
    if (run->cli.quiet)
        return;
    const bool one_by_one = run->cli.mode != NYTP_MODE_EXPORT;
    if (one_by_one)
        say_error(input_name(path), error, PARTIAL_OUTCOME);
    else if (run->n_partial++ == 0) {
        run->first_partial_path = path;
        run->first_partial = *error;
    }
}

/* One line about all inputs that end early, when they are read. */
void say_partial(struct run *run)
{
    char outcome[120] = PARTIAL_OUTCOME;
    if (run->n_partial > 1)
        snprintf(outcome, sizeof outcome, " (%u of %d inputs end early, this is the first)%s",
                 run->n_partial, run->cli.n_files, PARTIAL_OUTCOME);
    if (run->n_partial > 0)
        say_error(input_name(run->first_partial_path), &run->first_partial, outcome);
    run->n_partial = 0;
}

static struct nytp_build_options build_options(const struct nytp_cli *cli)
{
    const struct nytp_exporter *exporter = cli->exporter;
    const bool everything = cli->mode == NYTP_MODE_CHECK;
    const bool export = cli->mode == NYTP_MODE_EXPORT;
    const bool spans = export && exporter->wants_spans && !cli->export.aggregate;
    const uint32_t max_calls = cli->max_calls > 0 ? cli->max_calls : DEFAULT_MAX_CALLS;
    return (struct nytp_build_options){
        .sources = everything || cli->export.source_dir != NULL ||
                   (export && (exporter->wants_sources || cli->export.lines)),
        .max_spans = everything || spans ? max_calls : 0,
        .as_recorded = cli->as_recorded,
    };
}

static bool trim_paths(struct run *run, const char *path, struct nytp_profile *profile)
{
    const struct nytp_texts *prefixes = &run->cli.trim_paths;
    struct nytp_error error = {0};
    if (prefixes->n == 0 || nytp_trim_paths(profile, prefixes->at, prefixes->n, &error))
        return true;
    say_unusable(run, path, &error);
    return false;
}

struct nytp_profile *load(struct run *run, const char *path, struct nytp_count *count)
{
    const struct nytp_build_options options = build_options(&run->cli);
    struct nytp_error read_error = {0}, error = {0};
    struct nytp_builder *builder = nytp_builder_new(&options, path, &error);
    if (builder == NULL) {
        say_unusable(run, path, &error);
        return NULL;
    }
    struct nytp_sink *sink = nytp_builder_sink(builder);
    if (count != NULL) {
        nytp_count_init(count, sink);
        sink = &count->sink;
    }
    const bool whole = read_input(run, path, sink, &read_error);
    struct nytp_profile *profile =
        nytp_builder_finish(builder, whole ? NULL : &read_error, &error);
    if (profile == NULL) {
        say_unusable(run, path, &error);
        return NULL;
    }
    if (!trim_paths(run, path, profile)) {
        nytp_profile_free(profile);
        return NULL;
    }
    if (profile->partial)
        note_partial(run, path, &profile->parts[0].error);
    if (run->cli.mode == NYTP_MODE_EXPORT)
        nytp_lacks_add(&run->lacks, run->cli.exporter, profile, input_name(path));
    return profile;
}

/* What the inputs lack of what the exporter would use. */
void say_what_lacks(const struct run *run)
{
    char text[4096];
    for (size_t i = 0; i < NYTP_LACK_REASONS && !run->cli.quiet; i++)
        if (nytp_lacks_message(&run->lacks, i, text, sizeof text))
            say("%s", text);
}

/* The time lines of all inputs together keep within the budget of one, already while more are
 * read. */
static bool limit_spans(const struct run *run, struct nytp_profile **profiles, uint32_t n)
{
    const uint32_t most = build_options(&run->cli).max_spans;
    return most == 0 || n < 2 || nytp_profiles_limit_spans(profiles, n, most);
}

/* Somebody writes into standard input, and nothing reads it. */
static void say_unread_input(const struct run *run)
{
    struct stat status;
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    if (!run->cli.default_file || run->cli.quiet || fstat(STDIN_FILENO, &status) != 0 ||
        !S_ISFIFO(status.st_mode) || poll(&input, 1, 0) != 1 || (input.revents & POLLIN) == 0)
        return;
    say("standard input is not read: nytprof.out is; for standard input say -");
}

/* Many inputs are merged in two steps: this many at a time, then the results. So the names of
 * subs and files, which are the same in most of them, are in memory that often and not once for
 * each. */
#define MERGED_AT_ONCE 24

/* The inputs from n_groups on become one when there are `least` of them; false after a message.
 * String evals are merged here, where the tree that is rewritten for it is small. */
static bool merge_group(const struct run *run, struct nytp_profile **profiles,
                        uint32_t *n_groups, uint32_t *n, uint32_t least)
{
    const struct nytp_cli *cli = &run->cli;
    struct nytp_error error = {0};
    const bool has_spans = cli->exporter->wants_spans && !cli->export.aggregate;
    if (*n - *n_groups < least || has_spans)
        return true;
    struct nytp_profile *merged =
        nytp_profiles_merge(profiles + *n_groups, *n - *n_groups, &error);
    const struct nytp_selection evals = {.merge_evals = !cli->export.no_merge_evals};
    *n = *n_groups;
    if (merged != NULL && !nytp_select(merged, &evals, &error)) {
        nytp_profile_free(merged);
        merged = NULL;
    }
    if (merged == NULL) {
        say("merging %d inputs: %s", MERGED_AT_ONCE, error.message);
        return false;
    }
    profiles[(*n)++] = merged;
    (*n_groups)++;
    return true;
}

/* All inputs as one profile. One that is unusable does not keep the others from being
 * exported, unless --strict. NULL after a message. */
/* The one profile of n, or NULL after a message; the inputs are used up. */
static struct nytp_profile *merge_loaded(struct nytp_profile **profiles, uint32_t n)
{
    struct nytp_error error = {0};
    if (n == 1)
        return profiles[0];
    struct nytp_profile *profile = nytp_profiles_merge(profiles, n, &error);
    if (profile == NULL)
        say("merging %lu inputs: %s", (unsigned long)n, error.message);
    return profile;
}

struct nytp_profile *load_all(struct run *run)
{
    const struct nytp_cli *cli = &run->cli;
    struct nytp_profile **profiles =
        calloc((size_t)cli->n_files, sizeof(struct nytp_profile *));
    if (profiles == NULL) {
        say("out of memory");
        return NULL;
    }
    uint32_t n = 0, n_groups = 0;
    bool fits = true;
    for (int i = 0; i < cli->n_files && fits; i++) {
        profiles[n] = load(run, cli->files[i], NULL);
        if (profiles[n] == NULL)
            continue;
        fits = limit_spans(run, profiles, ++n) &&
               merge_group(run, profiles, &n_groups, &n, MERGED_AT_ONCE);
    }
    if (fits && n_groups > 0)
        fits = merge_group(run, profiles, &n_groups, &n, 1);
    if (!fits)
        say("out of memory");
    struct nytp_profile *profile = NULL;
    if (n == 0 || !fits || (cli->strict && run->failed))
        for (uint32_t i = 0; i < n; i++)
            nytp_profile_free(profiles[i]);
    else
        profile = merge_loaded(profiles, n);
    free(profiles);
    say_partial(run);
    say_unread_input(run);
    if (profile != NULL)
        say_what_lacks(run);
    if (profile != NULL && run->failed)
        run->partial = true;
    return profile;
}

bool weight_is_known(const struct run *run, const struct nytp_profile *profile)
{
    if (run->cli.export.weight != NYTP_WEIGHT_CPU || profile->sampled)
        return true;
    say("--weight cpu: processor time is known of sampled recordings only (NYTPROF=sample=HZ)");
    return false;
}

enum exit_status done(const struct run *run)
{
    return run->failed && !run->partial ? EXIT_INPUT : run->partial ? EXIT_PARTIAL : EXIT_DONE;
}
