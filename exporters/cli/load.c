/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * From inputs to the profile that is shown, compared and judged; see load.h. An input that ends
 * early is used as far as it goes.
 */
#include "load.h"
#include "inputs.h"
#include "progress.h"

#include "exporters/base/sql_text.h"
#include "exporters/base/disk_source.h"
#include "exporters/base/helper_thread.h"
#include "exporters/select/select.h"
#include "exporters/select/rename.h"
#include "exporters/select/sandbox.h"

#include "formats/build/build.h"
#include "formats/build/gather/label_selection.h"
#include "formats/build/gather/span_budget.h"
#include "formats/model/merge_profiles.h"
#include "formats/model/profile.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_MAX_CALLS  200000
#define DEFAULT_MAX_SPREAD 2000000 /* no viewer has to show them */

/* ---- one input ---- */

/* A thread inflates an input of this size or more while we work on what it has inflated. That
 * costs a thread's start and a window; smaller inputs are read in no time. */
#define READ_AHEAD_FROM (UINT64_C(512) << 10)

struct opened {
    struct nytp_source *source; /* NULL: it cannot be opened */
    struct nytp_helper_thread thread;
};

static void open_input(struct opened *opened, const char *path, struct nytp_error *error)
{
    nytp_helper_thread_init(&opened->thread);
    opened->source = nytp_source_open(path, error);
    if (opened->source != NULL && nytp_source_raw_size(opened->source) >= READ_AHEAD_FROM)
        nytp_source_read_ahead(opened->source, &opened->thread.helper);
}

static void close_input(struct opened *opened)
{
    nytp_source_free(opened->source);
    nytp_helper_thread_end(&opened->thread);
}

static bool read_recording(const struct run *run, const char *path, struct nytp_source *source,
                           bool one_of_several, struct nytp_sink *sink,
                           struct nytp_error *error)
{
    struct progress progress;
    struct nytp_sink *shown = nytp_cli_begin_progress(&progress, path, source, sink);
    const bool watch = !run->cli.quiet && isatty(STDERR_FILENO);
    const char clock = run->cli.clock != NULL ? *run->cli.clock : '\0';
    const struct nytp_read_options options = {clock, run->cli.as_recorded, one_of_several};
    const bool ok = nytp_read(source, &options, watch ? shown : sink, error);
    nytp_cli_end_progress(&progress);
    return ok;
}

bool nytp_cli_read(const struct run *run, const char *path, bool several, struct nytp_sink *sink,
                   struct nytp_error *error)
{
    struct opened opened;
    open_input(&opened, path, error);
    bool ok = opened.source != NULL;
    do
        ok = ok && read_recording(run, path, opened.source, several, sink, error);
    while (ok && several && nytp_read_another(opened.source));
    close_input(&opened);
    return ok;
}

static bool wants_spans(const struct nytp_cli *cli)
{
    return cli->export.spread ||
           (cli->exporter->wants_spans && !cli->export.aggregate && cli->bases.n == 0);
}

static bool wants_statements(const struct nytp_cli *cli)
{
    return cli->exporter->wants_statements || cli->gate.statements || cli->bases.n > 0;
}

/* Returns how many calls the time line of the output may have. */
static uint32_t shown_calls(const struct nytp_cli *cli)
{
    const bool counts =
        cli->mode == NYTP_MODE_EXPORT && (cli->export.spread || !wants_spans(cli));
    const uint32_t usual = counts ? DEFAULT_MAX_SPREAD : DEFAULT_MAX_CALLS;
    return cli->max_calls > 0 ? cli->max_calls : usual;
}

static struct nytp_build_options build_options(const struct nytp_cli *cli)
{
    const struct nytp_exporter *exporter = cli->exporter;
    const bool everything = cli->mode == NYTP_MODE_CHECK;
    const bool export = cli->mode == NYTP_MODE_EXPORT;
    const bool spans = export && wants_spans(cli);
    const bool statements = export && !spans && wants_statements(cli);
    const uint32_t most = shown_calls(cli);
    const bool judges = cli->gate.statements && cli->max_calls == 0;
    const uint32_t max_calls = judges && most < DEFAULT_MAX_SPREAD ? DEFAULT_MAX_SPREAD : most;
    return (struct nytp_build_options){
        .sources = everything || cli->source_dir != NULL ||
                   (export && (exporter->wants_sources || cli->export.lines)),
        .blocks = export && exporter->wants_blocks && !cli->export.report.minimal,
        .max_spans = everything || spans || statements ? max_calls : 0,
        .spans_of = statements ? nytp_is_of_database : NULL,
        .as_recorded = cli->as_recorded,
    };
}

/* Trims paths, and names what ran in sandboxes. False after a message. */
static bool rename_files(struct run *run, const char *path, struct nytp_profile *profile)
{
    const struct nytp_texts *prefixes = &run->cli.trim_paths;
    struct nytp_error error = {0};
    if ((prefixes->n == 0 || nytp_trim_paths(profile, prefixes, &error)) &&
        (run->cli.mode == NYTP_MODE_CHECK || nytp_name_sandboxes(profile, &error)))
        return true;
    nytp_cli_say_unusable(run, path, &error);
    return false;
}

/* One input while it is read. */
struct input {
    const char *path;
    struct nytp_source *source;
    struct nytp_count *count;               /* or NULL */
    struct nytp_label_selection *selection; /* NULL: everything is wanted */
};

/* The next recording of an input, NULL after a message. *whole: it was read to its end. */
static struct nytp_profile *load_recording(struct run *run, const struct input *input,
                                           bool *whole)
{
    const char *const path = input->path;
    struct nytp_count *const count = input->count;
    const struct nytp_build_options options = build_options(&run->cli);
    struct nytp_error read_error = {0}, error = {0};
    struct nytp_builder *builder = nytp_builder_new(&options, path, &error);
    if (builder == NULL) {
        nytp_cli_say_unusable(run, path, &error);
        return NULL;
    }
    struct nytp_sink *sink = nytp_builder_sink(builder);
    if (input->selection != NULL)
        sink = nytp_label_selection_sink(input->selection, sink);
    if (count != NULL) {
        count->next = sink;
        sink = &count->sink;
    }
    *whole = read_recording(run, path, input->source, true, sink, &read_error);
    struct nytp_profile *profile =
        nytp_builder_finish(builder, *whole ? NULL : &read_error, &error);
    if (profile == NULL) {
        nytp_cli_say_unusable(run, path, &error);
        return NULL;
    }
    if (!rename_files(run, path, profile)) {
        nytp_profile_free(profile);
        return NULL;
    }
    if (input->selection != NULL && nytp_label_selection_takes_parts(input->selection))
        nytp_profile_lose_time(profile);
    if (profile->partial && nytp_is_being_recorded(path, profile))
        note_recording(run, path, profile->processes[0].pid);
    else if (profile->partial)
        nytp_cli_note_partial(run, path, &profile->recordings[0].error);
    if (run->cli.mode == NYTP_MODE_EXPORT)
        nytp_missing_data_add(&run->missing, run->cli.exporter, profile,
                              nytp_cli_input_name(path));
    return profile;
}

/* ---- several become one ---- */

/* The time lines of all inputs together keep within the budget of one, already while more are
 * read. */
static bool limit_spans(const struct run *run, struct nytp_profile **profiles, uint32_t n)
{
    const uint32_t most = build_options(&run->cli).max_spans;
    if (most == 0 || n < 2 || nytp_profiles_limit_spans(profiles, n, most))
        return true;
    nytp_cli_no_memory();
    return false;
}

/* The one profile of n, or NULL after a message; the inputs are used up. */
static struct nytp_profile *merge_loaded(struct nytp_profile **profiles, uint32_t n)
{
    struct nytp_error error = {0};
    if (n < 2)
        return n == 1 ? profiles[0] : NULL;
    struct nytp_profile *profile =
        nytp_profiles_merge(profiles, n, NYTP_MERGE_INTO_ONE, &error);
    if (profile == NULL)
        nytp_cli_say("merging %lu inputs: %s", (unsigned long)n, error.message);
    return profile;
}

/* Add the next recording of the input; false when that was the last, or memory is out. One in
 * which nothing was under the labels asked for is left out. */
static bool add_recording(struct run *run, const struct input *input,
                          struct nytp_profile ***all, uint32_t *n)
{
    bool whole = false;
    struct nytp_profile *profile = load_recording(run, input, &whole);
    struct nytp_profile **grown = realloc(*all, (*n + 1) * sizeof **all);
    if (profile == NULL || grown == NULL) {
        nytp_profile_free(profile);
        *all = grown != NULL ? grown : *all;
        return false;
    }
    *all = grown;
    if (input->selection != NULL && !nytp_label_selection_has_passed(input->selection))
        nytp_profile_free(profile);
    else
        grown[(*n)++] = profile;
    return limit_spans(run, grown, *n) && whole && nytp_read_another(input->source);
}

static bool count_event(struct nytp_sink *sink, const struct nytp_event *event)
{
    struct nytp_count *count = (struct nytp_count *)sink;
    count->n[event->tag]++;
    if (event->tag == NYTP_TAG_VERSION) {
        count->major = event->u.version.major;
        count->minor = event->u.version.minor;
    }
    return count->next->event(count->next, event);
}

static struct nytp_profile *load_all_of(struct run *run, struct input *input)
{
    struct nytp_error error = {0};
    struct opened opened;
    open_input(&opened, input->path, &error);
    input->source = opened.source;
    if (input->source == NULL) {
        close_input(&opened);
        nytp_cli_say_unusable(run, input->path, &error);
        return NULL;
    }
    if (input->count != NULL)
        *input->count = (struct nytp_count){.sink.event = count_event};
    struct nytp_profile **all = NULL;
    uint32_t n = 0;
    while (add_recording(run, input, &all, &n))
        continue;
    close_input(&opened);
    struct nytp_profile *profile = merge_loaded(all, n);
    free(all);
    return profile;
}

/* Reads the input a first time: whether anything in it is under the labels asked for. What is
 * wrong with it is said when it is read again, or here when it is not. */
static bool is_wanted(struct run *run, const char *path, struct nytp_label_selection *selection)
{
    struct nytp_error error = {0};
    struct stat st;
    if (strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode))) {
        nytp_error_set(&error, NYTP_ERR_IO,
                       "--where reads an input twice: it has to be a file");
        nytp_cli_say_unusable(run, path, &error);
        return false;
    }
    nytp_cli_read(run, path, true, nytp_label_selection_scan(selection), &error);
    const bool is_met = nytp_label_selection_is_met(selection);
    if (error.status != NYTP_OK && !is_met)
        nytp_cli_note_failed(run, path, &error);
    return is_met;
}

struct nytp_profile *nytp_cli_load_one(struct run *run, const char *path,
                                       struct nytp_count *count)
{
    struct input input = {.path = path, .count = count};
    if (run->cli.where.n == 0)
        return load_all_of(run, &input);
    input.selection =
        nytp_label_selection_new(run->cli.where.n, nytp_label_where_match, &run->cli.where);
    if (input.selection == NULL)
        nytp_cli_no_memory();
    struct nytp_profile *const profile =
        input.selection != NULL && is_wanted(run, path, input.selection)
            ? load_all_of(run, &input)
            : NULL;
    nytp_label_selection_free(input.selection);
    return profile;
}

/* Many inputs are merged in two steps: this many at a time, then the results. So the names of
 * subs and files, which are the same in most of them, are in memory that often and not once for
 * each. */
#define MERGED_AT_ONCE 24

/* The first `count` inputs behind n_groups become one; false after a message. String evals are
 * merged here, where the tree that is rewritten for it is small. */
static bool merge_group(const struct run *run, struct nytp_profile **profiles,
                        uint32_t *n_groups, uint32_t *n, uint32_t count)
{
    struct nytp_error error = {0};
    struct nytp_profile **const group = profiles + *n_groups, *merged;
    const uint32_t n_rest = *n - *n_groups - count;
    merged = nytp_profiles_merge(group, count, NYTP_MERGE_OF_PARTS, &error);
    const struct nytp_selection evals = {.merge_evals = !run->cli.export.report.no_merge_evals};
    if (merged != NULL && !nytp_select(merged, &evals, &error)) {
        nytp_profile_free(merged);
        merged = NULL;
    }
    if (merged == NULL)
        nytp_cli_say("merging %lu inputs: %s", (unsigned long)count, error.message);
    else
        profiles[(*n_groups)++] = merged;
    memmove(profiles + *n_groups, group + count, n_rest * sizeof *profiles);
    *n = *n_groups + n_rest;
    return merged != NULL;
}

/* A gate that passes because its base, or half of its inputs, is gone is worse than none. */
static bool needs_all_inputs(const struct nytp_cli *cli)
{
    return cli->strict || cli->bases.n + cli->gate.files.n > 0;
}

/* All inputs as one profile, or NULL after a message. */
static struct nytp_profile *load_merged(struct run *run, const char *const *paths, int n_paths)
{
    struct nytp_profile **profiles = calloc((size_t)n_paths, sizeof(struct nytp_profile *));
    uint32_t n = 0, n_groups = 0;
    bool fits = profiles != NULL;
    if (!fits)
        nytp_cli_no_memory();
    for (int i = 0; i < n_paths && fits; i++) {
        profiles[n] = nytp_cli_load_one(run, paths[i], NULL);
        if (profiles[n] == NULL)
            continue;
        fits = limit_spans(run, profiles, ++n);
        if (fits && n - n_groups > MERGED_AT_ONCE && !wants_spans(&run->cli))
            fits = merge_group(run, profiles, &n_groups, &n, MERGED_AT_ONCE);
    }
    if (fits && n_groups > 0)
        fits = merge_group(run, profiles, &n_groups, &n, n - n_groups);
    if (n == 0 && run->cli.where.n > 0 && !run->failed)
        nytp_cli_say("nothing in %s is under the label %s (--by=label tells which there are)",
                     run->cli.bases.n > 0 ? nytp_cli_input_name(paths[0]) : "the input",
                     run->cli.where.conditions[0].text);
    struct nytp_profile *profile = NULL;
    if (n == 0 || !fits || (run->failed && needs_all_inputs(&run->cli)))
        for (uint32_t i = 0; i < n; i++)
            nytp_profile_free(profiles[i]);
    else
        profile = merge_loaded(profiles, n);
    free(profiles);
    if (profile != NULL && !run->cli.quiet && run->cli.bases.n == 0)
        nytp_say_files_beside(paths, n_paths, profile);
    if (profile != NULL && run->failed)
        run->partial = true;
    return profile;
}

/* ---- what is shown of it ---- */

/* Returns true if the profile has these data; both sides of a comparison must. */
static bool has(const struct nytp_cli *cli, const struct nytp_profile *profile,
                enum nytp_has what)
{
    bool all = true;
    for (uint32_t i = 0; i < profile->n_recordings; i++)
        all = all && (profile->recordings[i].has & what) != 0;
    return cli->bases.n > 0 ? all : (profile->has & what) != 0;
}

static bool weight_is_known(const struct nytp_cli *cli, const struct nytp_profile *profile)
{
    const char *const sort = cli->export.sort, *const name =
                                                   sort != NULL ? "--sort" : "--weight";
    const enum nytp_weight weight =
        sort != NULL ? nytp_measure_named(sort, strlen(sort)) : cli->export.weight;
    const bool is_memory = weight < NYTP_N_WEIGHTS && nytp_weight_is_memory(weight);
    if (is_memory && !has(cli, profile, nytp_measures[weight].has))
        nytp_cli_say(weight == NYTP_WEIGHT_SVS
                         ? "%s svs: SVs are known of recordings with NYTPROF=memory=1 only"
                         : "%s of bytes: they are known of recordings with NYTPROF=memory=512k "
                           "and libnytp-malloc.so only (nytp run --memory)",
                     name);
    else if (weight == NYTP_WEIGHT_OPS && profile->sampled)
        nytp_cli_say(
            "%s ops: it was sampled, and how many samples and calls were seen is chance", name);
    else if (weight == NYTP_WEIGHT_CPU && !profile->sampled)
        nytp_cli_say("--weight cpu: processor time is known of sampled recordings only "
                     "(NYTPROF=sample=HZ)");
    else
        return true;
    return false;
}

/* Returns the option that asks for times, or NULL. */
static const char *option_of_times(const struct nytp_cli *cli)
{
    const char *const sort = cli->export.sort;
    return !cli->exporter->shows_counts         ? cli->exporter->name
           : cli->export.spread                 ? "spread"
           : cli->selection.min_percent > 0     ? "min-percent"
           : sort != NULL && (strcmp(sort, "self") == 0 || strcmp(sort, "incl") == 0 ||
                              strcmp(sort, "percall") == 0)
               ? "sort"
           : cli->export.weight_given && nytp_weight_is_time(cli->export.weight) ? "weight"
                                                                                 : NULL;
}

/* Recordings with counts only (counts=1) are shown by their counts, apart from others. Returns
 * false, with a message, if times are asked for. */
static bool times_are_known(struct nytp_cli *cli, const struct nytp_profile *profile)
{
    const struct nytp_recording *without = NULL;
    for (uint32_t i = 0; i < profile->n_recordings; i++)
        if ((profile->recordings[i].has & NYTP_HAS_TIMES) == 0)
            without = &profile->recordings[i];
    if (without == NULL || cli->mode != NYTP_MODE_EXPORT)
        return true;
    const char *const option = option_of_times(cli);
    if (option != NULL)
        nytp_cli_say("--%s is about times, and %s has counts only (NYTPROF=counts=1): %s",
                     option, without->path.ptr,
                     cli->exporter->shows_counts
                         ? "--sort=calls, ops or name, --weight=statements, calls or ops"
                         : "use --top, --csv, --json, --markdown, --rows, --callgrind, --pprof, "
                           "--collapsed, --flamegraph, --processes or --gate");
    else if (cli->bases.n == 0 && (profile->has & NYTP_HAS_TIMES) != 0)
        nytp_cli_say("%s has counts only (NYTPROF=counts=1), other recordings have times: "
                     "export them apart",
                     without->path.ptr);
    if (!cli->export.weight_given)
        cli->export.weight = NYTP_WEIGHT_STATEMENTS;
    if (option == NULL && !cli->quiet && !cli->export.weight_given &&
        cli->exporter->takes != NULL && strstr(cli->exporter->takes, "weight") != NULL)
        nytp_cli_say("%s has counts only (NYTPROF=counts=1): weights are statements",
                     without->path.ptr);
    return option == NULL && (cli->bases.n > 0 || (profile->has & NYTP_HAS_TIMES) == 0);
}

/* Returns whether a label has the key that requests are to be told by; else a message. */
static bool request_key_is_known(const struct run *run, const struct nytp_profile *profile)
{
    const struct nytp_name key = run->cli.export.request_key;
    for (uint32_t i = 0; i < profile->n_stretches; i++)
        if (nytp_compare_names(profile->stretches[i].key, key) == 0)
            return true;
    if (key.len > 0)
        nytp_cli_say("no label %.*s in the input (--by=label tells which there are)",
                     (int)key.len, key.ptr);
    return key.len == 0;
}

/* --group: requests whose values become equal are one. Returns false if memory is out. */
static bool group_requests(const struct run *run, struct nytp_profile *profile)
{
    const struct nytp_name key = run->cli.export.request_key;
    for (uint32_t i = 0; run->cli.group != NULL && i < profile->n_stretches; i++) {
        struct nytp_stretch *const stretch = &profile->stretches[i];
        if (key.len > 0 ? nytp_compare_names(stretch->key, key) != 0
                        : nytp_compare_names(stretch->key, nytp_name_of_text("sql")) == 0)
            continue;
        const struct nytp_str text =
            nytp_substitute_apply(run->cli.group, (struct nytp_str){.ptr = stretch->value.ptr,
                                                                    .len = stretch->value.len});
        const uint32_t id = nytp_strings_intern_mixed(profile->strings, text.ptr, text.len);
        if (id == UINT32_MAX)
            return false;
        stretch->value = nytp_strings_get(profile->strings, id);
    }
    return true;
}

/* The profile as its format shows it. Expressions of the selection are about the names that the
 * recording has, so other names come after it. */
static bool select_shown(struct nytp_cli *cli, struct nytp_profile *profile,
                         struct nytp_error *error)
{
    const bool once = cli->exporter->adds_processes && !cli->per_process;
    const bool stable_names = cli->bases.n == 0 && cli->exporter->stable_names;
    struct nytp_selection selection = cli->selection;
    selection.on_miss = cli->quiet ? NULL : nytp_cli_say_miss;
    /* the same eval has another number in each process */
    selection.merge_evals |= profile->n_processes > 1 && !cli->export.report.no_merge_evals;
    if (!nytp_child_waits(&profile, 1, once, &cli->export.child_wait_ticks, error))
        return false;
    if (cli->gate.statements && !nytp_profiles_limit_spans(&profile, 1, shown_calls(cli)))
        return nytp_out_of_memory(error);
    cli->export.unselected_ticks = profile->total.ticks;
    return nytp_select(profile, &selection, error) &&
           (!stable_names || nytp_rename_stably(profile, true, error));
}

static void say_sources(const struct nytp_profile *profile,
                        const struct nytp_disk_sources *count)
{
    const uint32_t n_changed = count->n[NYTP_DISK_SOURCE_CHANGED];
    if (count->n[NYTP_DISK_SOURCE_READ] > 0)
        nytp_cli_say("source that the recording did not keep is read from this machine");
    if (n_changed > 0)
        nytp_cli_say("%s%s changed since: source that the recording did not keep is not shown",
                     profile->files[count->changed].name.ptr,
                     n_changed > 1 ? " and other files were" : " was");
}

/* Source that was not kept, for the tables that show it; pages read it file by file. */
static bool add_sources(struct run *run, struct nytp_profile *profile)
{
    const struct nytp_exporter *const exporter = run->cli.exporter;
    const bool of_lines = run->cli.export.lines && strcmp(exporter->name, "top") == 0;
    struct nytp_disk_sources count = {.changed = 0};
    if (run->cli.mode != NYTP_MODE_EXPORT ||
        !(of_lines || (exporter->wants_sources && exporter->write_set == NULL)))
        return true;
    const bool ok = nytp_disk_sources_add(profile, &run->cli.export, &count);
    if (count.n[NYTP_DISK_SOURCE_READ] + count.n[NYTP_DISK_SOURCE_CHANGED] > 0)
        nytp_missing_data_forget_sources(&run->missing);
    if (!run->cli.quiet)
        say_sources(profile, &count);
    return ok;
}

/* Says that a selection left out what the format shows, also with -q, as it was asked for;
 * false where that is all of it. */
static bool say_lost(const struct run *run, const struct nytp_profile *profile)
{
    const struct nytp_cli *const cli = &run->cli;
    static const char *const shows_them[] = {"patterns", "waits", "brief", "html", "json"};
    const size_t n = sizeof shows_them / sizeof *shows_them;
    size_t i = 0;
    while (i < n && strcmp(cli->exporter->name, shows_them[i]) != 0)
        i++;
    const bool is_all = i < 2, shows = i < n && !run->is_again;
    if ((profile->lost & NYTP_LOST_PLACES) != 0 && shows)
        nytp_cli_say("%s: regular expressions and reasons of waiting are known of the whole "
                     "recording only: a selection is without them",
                     cli->exporter->name);
    if ((profile->lost & NYTP_LOST_CALLS) != 0 && shows && !is_all)
        nytp_cli_say("%s: the selection leaves out calls of databases, and with them the "
                     "statements of requests",
                     cli->exporter->name);
    return !is_all || (profile->lost & NYTP_LOST_PLACES) == 0;
}

static enum exit_status selection_failed(const struct nytp_error *error)
{
    nytp_cli_say("selection: %s", error->message);
    return error->status == NYTP_ERR_LIMIT ? EXIT_USAGE : EXIT_INPUT;
}

enum exit_status nytp_cli_load_whole(struct run *run, const char *const *paths, int n,
                                     struct nytp_profile **profile)
{
    *profile = load_merged(run, paths, n);
    if (*profile == NULL)
        return EXIT_INPUT;
    enum exit_status status = EXIT_DONE;
    if (!times_are_known(&run->cli, *profile) || !weight_is_known(&run->cli, *profile))
        status = EXIT_USAGE;
    else if (!request_key_is_known(run, *profile))
        status = EXIT_INPUT;
    else if (!group_requests(run, *profile))
        status = nytp_cli_no_memory();
    if (status != EXIT_DONE) {
        nytp_profile_free(*profile);
        *profile = NULL;
    }
    return status;
}

enum exit_status nytp_cli_select_shown(struct run *run, struct nytp_profile *profile)
{
    struct nytp_error error = {0};
    run->unselected_ops = profile->total.statements + profile->total.calls;
    if (!select_shown(&run->cli, profile, &error))
        return selection_failed(&error);
    if (!say_lost(run, profile))
        return EXIT_USAGE;
    return add_sources(run, profile) ? EXIT_DONE : nytp_cli_no_memory();
}

enum exit_status nytp_cli_select_judged(struct run *run, struct nytp_profile *const *profiles,
                                        uint32_t n)
{
    struct nytp_cli *const cli = &run->cli;
    const bool shown = cli->bases.n > 0;
    struct nytp_error error = {0};
    struct nytp_selection selection = cli->selection;
    struct nytp_selection pruned = {.min_percent = cli->export.min_percent};
    int64_t ticks = 0;
    selection.on_miss = shown && !cli->quiet ? nytp_cli_say_miss : NULL;
    selection.merge_evals = true;
    selection.min_percent = -1;
    if (!nytp_child_waits(profiles, n, true, &ticks, &error))
        return selection_failed(&error);
    cli->export.unselected_ticks = 0;
    run->unselected_ops = 0;
    for (uint32_t i = 0; i < n; i++) {
        cli->export.unselected_ticks += profiles[i]->total.ticks;
        run->unselected_ops += profiles[i]->total.statements + profiles[i]->total.calls;
        if (!nytp_select(profiles[i], &selection, &error))
            return selection_failed(&error);
        pruned.of_s += (double)profiles[i]->total.ticks / (double)profiles[i]->ticks_per_sec;
        if (shown && !add_sources(run, profiles[i]))
            return nytp_cli_no_memory();
    }
    /* a part of the sum of all, as where they are one profile */
    for (uint32_t i = 0; i < n; i++)
        if (!nytp_select(profiles[i], &pruned, &error))
            return selection_failed(&error);
    return EXIT_DONE;
}

enum exit_status nytp_cli_load(struct run *run, const char *const *paths, int n,
                               struct nytp_profile **profile)
{
    enum exit_status status = nytp_cli_load_whole(run, paths, n, profile);
    if (status == EXIT_DONE)
        status = nytp_cli_select_shown(run, *profile);
    if (status != EXIT_DONE) {
        nytp_profile_free(*profile);
        *profile = NULL;
    }
    return status;
}
