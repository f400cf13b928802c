/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * nytp-export: the only place with a main, an exit status and standard error.
 *
 * Exit status: 0 done, 1 unusable input, 2 usage, 3 partial input exported, 4 output failed,
 * 10 a limit exceeded.
 * SIGPIPE is ignored: a reader that goes away is seen as EPIPE and ends the program without
 * a word, with status 4 and without leaving a temporary file behind. So is SIGXFSZ: a file
 * beyond the size limit is an error of write() like any other.
 */
#include "run.h"
#include "inputs.h"
#include "outputs.h"
#include "unpack.h"
#include "../selection/rename.h"
#include "../selection/trim.h"
#include "../core/version.h"
#include "viewer.h"

#include "../selection/child_waits.h"

#include "../../formats/core/span_budget.h"
#include "../../formats/core/table.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_MAX_CALLS 200000

/* One line in one write, whatever else goes to the same terminal. */
void say(const char *format, ...)
{
    char line[4096 + 512];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(line, sizeof line - 1, format, args);
    va_end(args);
    if (n < 0)
        return;
    const size_t len = (size_t)n < sizeof line - 1 ? (size_t)n : sizeof line - 2;
    for (size_t i = 0; i < len; i++) { /* names of files can hold control characters */
        const unsigned char c = (unsigned char)line[i];
        const bool c1 = c == 0xc2 && i + 1 < len && (unsigned char)line[i + 1] < 0xa0;
        if (c < 0x20 || c == 0x7f || c1)
            line[i] = '?';
        if (c1)
            line[i + 1] = '?';
    }
    line[len] = '\n';
    fprintf(stderr, "nytp-export: %.*s", (int)len + 1, line);
}

void say_error(const char *path, const struct nytp_error *error, const char *outcome)
{
    char place[64] = "";
    if (error->has_offset)
        snprintf(place, sizeof place, "byte %llu%s: ", (unsigned long long)error->offset,
                 error->inflated ? " (inflated)" : "");
    say("%s: %s%s%s", path, place, error->message, outcome);
}

static const char *output_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard output" : path;
}

const char *input_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

enum exit_status output_failed(const char *path, const struct nytp_error *error)
{
    if (error->status != NYTP_ERR_STOPPED)
        say_error(output_name(path), error, "");
    return EXIT_OUTPUT;
}

/* ---- a signal removes the unfinished output ---- */

/* A copy, which outlives the output; "" = none. */
static char unfinished_path[4096];

static void remove_unfinished(int signal_number)
{
    if (unfinished_path[0] != '\0')
        unlink(unfinished_path);
    nytp_outset_remove_unfinished();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void set_signals(void)
{
    static const int fatal[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
        struct sigaction old;
        const struct sigaction action = {.sa_handler = remove_unfinished};
        if (sigaction(fatal[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(fatal[i], &action, NULL);
    }
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL);
}

/* No signal may find a temporary file whose name is not known yet. */
struct nytp_out *open_output(const char *path, struct nytp_error *error)
{
    sigset_t fatal, old;
    sigemptyset(&fatal);
    sigaddset(&fatal, SIGINT);
    sigaddset(&fatal, SIGTERM);
    sigaddset(&fatal, SIGHUP);
    sigprocmask(SIG_BLOCK, &fatal, &old);
    struct nytp_out *out = nytp_out_open(path, error);
    const char *temp = out != NULL ? nytp_out_temp_path(out) : NULL;
    if (temp != NULL && strlen(temp) < sizeof unfinished_path)
        strcpy(unfinished_path, temp);
    sigprocmask(SIG_SETMASK, &old, NULL);
    return out;
}

bool close_output(struct nytp_out *out, struct nytp_error *error)
{
    const bool ok = nytp_out_close(out, error);
    unfinished_path[0] = '\0';
    return ok;
}

/* ---- progress ---- */

#define PROGRESS_EVERY 65536 /* records between two looks at the clock */

/* Stands in front of the real sink when standard error is a terminal; after a second of
 * reading it writes one line, over and over. */
struct progress {
    struct nytp_sink sink;
    struct nytp_sink *next;
    const struct nytp_source *source;
    const char *path;
    uint32_t countdown;
    int64_t start_ms, shown_ms; /* shown_ms 0 = nothing written yet */
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void show_progress(struct progress *progress)
{
    const int64_t now = now_ms();
    const int64_t since =
        progress->shown_ms > 0 ? now - progress->shown_ms : now - progress->start_ms;
    if (since < (progress->shown_ms > 0 ? 200 : 1000))
        return;
    progress->shown_ms = now;
    const uint64_t done = nytp_source_raw_bytes(progress->source);
    const uint64_t size = nytp_source_raw_size(progress->source);
    if (size > 0 && done <= size)
        fprintf(stderr, "\rreading %.40s: %3d %%", progress->path,
                (int)((double)done / (double)size * 100));
    else
        fprintf(stderr, "\rreading %.40s: %.1f MB", progress->path, (double)done / 1e6);
}

static bool progress_event(struct nytp_sink *sink, const struct nytp_event *event)
{
    struct progress *progress = (struct progress *)sink;
    if (--progress->countdown == 0) {
        progress->countdown = PROGRESS_EVERY;
        show_progress(progress);
    }
    return progress->next->event(progress->next, event);
}

static void end_progress(const struct progress *progress)
{
    if (progress->shown_ms > 0)
        fputs("\r\033[K", stderr);
}

/* ---- reading ---- */

#define PARTIAL_OUTCOME "; going on with what came before"

/* Read one input into a sink. False with *error set; what came before it was delivered. */
bool read_input(const struct run *run, const char *path, struct nytp_sink *sink,
                       struct nytp_error *error)
{
    struct nytp_source *source = nytp_source_open(path, error);
    if (source == NULL)
        return false;
    struct progress progress = {
        .sink = {progress_event},
        .next = sink,
        .source = source,
        .path = path,
        .countdown = PROGRESS_EVERY,
        .start_ms = now_ms(),
    };
    const bool watch = !run->cli.quiet && isatty(STDERR_FILENO);
    const bool ok = nytp_read(source, &run->cli.read, watch ? &progress.sink : sink, error);
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
        /* a report's tables are the recording's own sums, and its pages tell one story */
        .as_recorded = cli->as_recorded || (export && exporter->write_set != NULL),
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
        say_unusable(run, path,
                     whole || error.status == NYTP_ERR_MEMORY ? &error : &read_error);
        return NULL;
    }
    if (!trim_paths(run, path, profile)) {
        nytp_profile_free(profile);
        return NULL;
    }
    if (profile->partial)
        note_partial(run, path, whole ? &profile->parts[0].error : &read_error);
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

/* Many inputs are merged in two steps: this many at a time, then the results. So the names of subs
 * and files, which are the same in most of them, are in memory that often and not once for each. */
#define MERGED_AT_ONCE 24

/* The inputs from n_groups on become one when there are `least` of them; false after a message.
 * String evals are merged here, where the tree that is rewritten for it is small. */
static bool merge_group(const struct run *run, struct nytp_profile **profiles, uint32_t *n_groups,
                        uint32_t *n, uint32_t least)
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
static struct nytp_profile *load_all(struct run *run)
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
        fits = limit_spans(run, profiles, ++n) && merge_group(run, profiles, &n_groups, &n, MERGED_AT_ONCE);
    }
    if (fits && n_groups > 0)
        fits = merge_group(run, profiles, &n_groups, &n, 1);
    struct nytp_profile *profile = NULL;
    struct nytp_error error = {0};
    if (!fits)
        say("out of memory");
    if (n == 0 || !fits || (cli->strict && run->failed)) {
        for (uint32_t i = 0; i < n; i++)
            nytp_profile_free(profiles[i]);
    } else if (n == 1) {
        profile = profiles[0];
    } else {
        profile = nytp_profiles_merge(profiles, n, &error);
        if (profile == NULL)
            say("merging %lu inputs: %s", (unsigned long)n, error.message);
    }
    free(profiles);
    say_partial(run);
    say_unread_input(run);
    if (profile != NULL)
        say_what_lacks(run);
    if (profile != NULL && run->failed)
        run->partial = true;
    return profile;
}

/* ---- writing ---- */

static enum exit_status write_profile(const struct run *run, const struct nytp_profile *profile,
                                      const char *path)
{
    struct nytp_error error = {0};
    struct nytp_out *out = open_output(path, &error);
    if (out == NULL)
        return output_failed(path, &error);
    const size_t len = strlen(path);
    if (run->cli.exporter->gzips && len > 3 && strcmp(path + len - 3, ".gz") == 0)
        nytp_out_gzip(out);
    run->cli.exporter->write(profile, &run->cli.export, out);
    const uint64_t n_negative = out->n_negative;
    const bool ok = close_output(out, &error);
    if (!ok)
        return output_failed(path, &error);
    if (n_negative > 0 && !run->cli.quiet)
        say("%s: %llu negative values written as 0", output_name(path),
            (unsigned long long)n_negative);
    return EXIT_DONE;
}

/* Said, and true, if writing there would replace an input. */
static bool replaces_input(const struct run *run, const char *path)
{
    const char *input = nytp_input_replaced(&run->cli, path);
    if (input != NULL)
        say("%s is the input %s: it is not replaced", path, input);
    return input != NULL;
}

/* `twin`: how many processes of this pid came before. */
static enum exit_status write_process(const struct run *run, const struct nytp_profile *profile,
                                      uint32_t process, uint32_t twin)
{
    struct nytp_error error = {0};
    char *path = nytp_process_path(&run->cli, profile->processes[process].pid, twin);
    struct nytp_profile *one = nytp_select_process(profile, process, &error);
    enum exit_status status = EXIT_OUTPUT;
    if (path == NULL || one == NULL)
        say("%s: %s", run->cli.output, one == NULL ? error.message : "out of memory");
    else if (replaces_input(run, path))
        status = EXIT_USAGE;
    else
        status = write_profile(run, one, path);
    nytp_profile_free(one);
    free(path);
    return status;
}

static enum exit_status write_processes(const struct run *run,
                                        const struct nytp_profile *profile)
{
    struct nytp_table seen = {0}; /* pid -> how many there were */
    enum exit_status status = EXIT_DONE;
    for (uint32_t i = 0; i < profile->n_processes && status == EXIT_DONE; i++) {
        const struct nytp_key pid = {.a = profile->processes[i].pid};
        uint32_t twin = nytp_table_get(&seen, pid);
        if (twin == NYTP_TABLE_NONE)
            twin = 0;
        if (nytp_table_put(&seen, pid, twin + 1)) {
            status = write_process(run, profile, i, twin);
        } else {
            say("out of memory");
            status = EXIT_OUTPUT;
        }
    }
    nytp_table_free(&seen);
    return status;
}

static enum exit_status write_and_open(const struct run *run,
                                       const struct nytp_profile *profile)
{
    struct nytp_error error = {0};
    size_t len;
    const char *command = nytp_viewer_find(run->cli.exporter->viewer, &len);
    if (command == NULL) {
        say("--open: not installed: %s", run->cli.exporter->viewer);
        return EXIT_OUTPUT;
    }
    char *temp = NULL;
    const char *path = run->cli.output;
    if (path == NULL)
        path = temp = nytp_viewer_temp_path(run->cli.exporter, run->cli.files[0], &error);
    enum exit_status status = EXIT_OUTPUT;
    if (path == NULL)
        say("--open: %s", error.message);
    else
        status = write_profile(run, profile, path);
    if (status == EXIT_DONE && !nytp_viewer_run(command, len, path, &error)) {
        say("--open: %s", error.message);
        status = EXIT_OUTPUT;
    }
    nytp_viewer_remove(temp);
    return status;
}

static enum exit_status write_all(const struct run *run, const struct nytp_profile *profile)
{
    if (run->cli.open)
        return write_and_open(run, profile);
    if (!run->cli.per_process)
        return write_profile(run, profile, run->cli.output != NULL ? run->cli.output : "-");
    return write_processes(run, profile);
}

/* ---- the modes ---- */

enum exit_status done(const struct run *run)
{
    return run->failed && !run->partial ? EXIT_INPUT : run->partial ? EXIT_PARTIAL : EXIT_DONE;
}

/* Standard output is a terminal: how wide it is, and whether it takes colours. */
static void fit_terminal(struct nytp_export_options *options)
{
    struct winsize size;
    const char *term = getenv("TERM");
    const char *no_color = getenv("NO_COLOR");
    options->columns = 80;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        options->columns = size.ws_col;
    options->color = term != NULL && strcmp(term, "dumb") != 0 && *term != '\0' &&
                     (no_color == NULL || *no_color == '\0');
}

void say_miss(const char *text)
{
    say("%s", text);
}

/* Which expressions of --list and --peek match no sub. */
static void say_missing_names(const struct run *run, const struct nytp_profile *profile)
{
    char text[512];
    const struct nytp_patterns *names = &run->cli.export.names;
    for (uint32_t i = 0; !run->cli.quiet && i < names->n; i++)
        if (nytp_patterns_describe_miss(names, i, profile, text, sizeof text))
            say_miss(text);
}

static enum exit_status run_export(struct run *run)
{
    struct nytp_cli *cli = &run->cli;
    if (cli->exporter->write_set != NULL)
        return run_report(run);
    const bool to_stdout = !cli->open && (cli->output == NULL || strcmp(cli->output, "-") == 0);
    const bool to_terminal = to_stdout && isatty(STDOUT_FILENO);
    if (to_terminal)
        fit_terminal(&cli->export);
    if (cli->exporter->binary && to_terminal) {
        say("%s is binary and standard output a terminal: use -o FILE or a pipe",
            cli->exporter->name);
        return EXIT_USAGE;
    }
    if (cli->bases.n > 0 || cli->gate_files.n > 0)
        return run_comparison(run);
    struct nytp_profile *profile = load_all(run);
    if (profile == NULL)
        return EXIT_INPUT;
    /* the same eval has another number in each process */
    cli->selection.merge_evals |= profile->n_processes > 1 && !cli->export.no_merge_evals;
    struct nytp_error error = {0};
    if (!cli->quiet)
        cli->selection.on_miss = say_miss;
    enum exit_status status;
    const bool once = cli->exporter->adds_processes && !cli->per_process;
    if ((once &&
         !nytp_count_child_waits_once(profile, &cli->export.child_wait_ticks, &error)) ||
        !nytp_select(profile, &cli->selection, &error) ||
        (cli->exporter->stable_names && !nytp_rename_stably(profile, &error))) {
        say("selection: %s", error.message);
        status = error.status == NYTP_ERR_LIMIT ? EXIT_USAGE : EXIT_INPUT;
    } else if (cli->export.source_dir != NULL &&
               !nytp_unpack_sources(profile, cli->export.source_dir, &error)) {
        status = output_failed(cli->export.source_dir, &error);
    } else {
        say_missing_names(run, profile);
        status = write_all(run, profile);
    }
    nytp_profile_free(profile);
    return status != EXIT_DONE ? status : done(run);
}

static enum exit_status finish_output(const struct run *run, struct nytp_out *out,
                                      const char *path)
{
    struct nytp_error error = {0};
    if (!close_output(out, &error))
        return output_failed(path, &error);
    return done(run);
}

static void stats_of(struct run *run, const char *path, struct nytp_out *out, bool first)
{
    struct nytp_count count;
    struct nytp_profile *profile = load(run, path, &count);
    if (profile == NULL)
        return;
    if (!first)
        nytp_putc(out, '\n');
    nytp_put_stats(out, profile, &count);
    nytp_profile_free(profile);
}

/* With --per-process each process by itself. */
static bool check_profile(const struct nytp_cli *cli, struct nytp_profile *profile,
                          struct nytp_error *error)
{
    bool ok =
        nytp_select(profile, &cli->selection, error) && nytp_profile_check(profile, error);
    for (uint32_t i = 0; ok && cli->per_process && i < profile->n_processes; i++) {
        struct nytp_profile *one = nytp_select_process(profile, i, error);
        ok = one != NULL && nytp_profile_check(one, error);
        nytp_profile_free(one);
    }
    return ok;
}

static void check_of(struct run *run, const char *path, struct nytp_out *out)
{
    struct nytp_profile *profile = load(run, path, NULL);
    if (profile == NULL)
        return;
    struct nytp_error error = {0};
    if (check_profile(&run->cli, profile, &error))
        nytp_printf(out, "%s: %s\n", path, profile->partial ? "adds up, but partial" : "ok");
    else
        say_unusable(run, path, &error);
    nytp_profile_free(profile);
}

static void dump_of(struct run *run, const char *path, struct nytp_out *out)
{
    struct nytp_dump dump;
    struct nytp_error error = {0};
    nytp_dump_init(&dump, out);
    const uint64_t n_before = out->n_bytes;
    const bool is_read = read_input(run, path, &dump.sink, &error);
    if (out->error.status != NYTP_OK || (is_read && nytp_dump_is_whole(&dump, &error)))
        return;
    if (out->n_bytes == n_before)
        say_unusable(run, path, &error);
    else
        note_partial(run, path, &error);
}

/* --stats, --check and --dump look at each input by itself. */
static enum exit_status run_inspection(struct run *run)
{
    const struct nytp_cli *cli = &run->cli;
    const char *output = cli->output != NULL ? cli->output : "-";
    struct nytp_error error = {0};
    struct nytp_out *out = open_output(output, &error);
    if (out == NULL)
        return output_failed(output, &error);
    for (int i = 0; i < cli->n_files && out->error.status == NYTP_OK; i++) {
        if (cli->mode == NYTP_MODE_STATS)
            stats_of(run, cli->files[i], out, i == 0);
        else if (cli->mode == NYTP_MODE_CHECK)
            check_of(run, cli->files[i], out);
        else
            dump_of(run, cli->files[i], out);
    }
    const enum exit_status status = finish_output(run, out, output);
    return status == EXIT_PARTIAL && run->failed ? EXIT_INPUT : status;
}

static void put_version(struct nytp_out *out)
{
#ifdef NYTP_HAVE_ISAL
    const char *inflate = "ISA-L";
#else
    const char *inflate = "zlib";
#endif
    nytp_printf(out, "nytp-export %s (compatible with Devel::NYTProf %s, inflate by %s)\n",
                NYTP_VERSION, NYTP_COMPATIBLE_VERSION, inflate);
}

static enum exit_status run_about(const struct run *run)
{
    struct nytp_error error = {0};
    struct nytp_out *out = nytp_out_open("-", &error);
    if (out == NULL)
        return output_failed("-", &error);
    if (run->cli.mode == NYTP_MODE_HELP)
        nytp_cli_put_help(out);
    else if (run->cli.mode == NYTP_MODE_VERSION)
        put_version(out);
    else
        nytp_cli_put_formats(out);
    return finish_output(run, out, "-");
}

int main(int argc, char **argv)
{
    struct run run = {0};
    struct nytp_error error = {0};
    const char *folder = NULL;
    enum exit_status status = EXIT_USAGE;
    set_signals();
    if (!nytp_cli_parse(&run.cli, argc, argv, &error))
        say("%s (--help lists the options)", error.message);
    else if (!nytp_expand_inputs(&run.cli, &folder, &error)) {
        say_error(folder, &error, "");
        status = EXIT_INPUT;
    } else if (run.cli.output != NULL && replaces_input(&run, run.cli.output))
        status = EXIT_USAGE;
    else if (run.cli.mode == NYTP_MODE_EXPORT)
        status = run_export(&run);
    else if (run.cli.mode == NYTP_MODE_STATS || run.cli.mode == NYTP_MODE_CHECK ||
             run.cli.mode == NYTP_MODE_DUMP)
        status = run_inspection(&run);
    else
        status = run_about(&run);
    say_partial(&run);
    nytp_cli_free(&run.cli);
    return status;
}
