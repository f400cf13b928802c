/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * nytp spy record: samples of processes as a profile. Each thread has a stream; they are merged
 * at the end.
 */
#define _GNU_SOURCE
#include "cli.h"

#include "command.h"
#include "followed.h"

#include "spy/record/parts.h"
#include "spy/record/sampled_stream.h"
#include "spy/target/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    NOTABLY_LATE = 5, /* percent */
    NO_FORMAT = 2,    /* nytp-export's status for an unknown name or format */
    NOT_THERE = 127,
};

#define EXPORT "nytp-export"

enum written_as {
    AS_STREAM,
    AS_FORMAT, /* by nytp-export */
    AS_NOTHING /* it cannot be written, which was reported */
};

struct recorder {
    const struct nytp_spy *spy;
    struct nytp_followed followed;
    struct nytp_parts parts;
    uint32_t n_threads, n_lost; /* threads that are recorded, and those that are not */
    bool has_folded_evals;      /* a process ran more than NYTP_MOST_EVALS */
    struct nytp_command command;
    struct nytp_pace pace;
    int64_t began_ns, ended_ns;
    bool is_terminal; /* show progress */
};

/* ---- streams ---- */

struct stream {             /* of a thread */
    struct nytp_part *part; /* NULL: the thread is not recorded, although others are */
    struct nytp_sampled_stream *stream;
};

struct opened { /* of a process while it is open */
    char cwd[4096], host[256], script[4096];
    struct nytp_stream_facts facts; /* all but `thread` */
};

static bool opened(struct nytp_followed_process *process)
{
    const struct nytp_spy *const spy = process->followed->spy;
    const pid_t pid = process->pid;
    struct opened *const opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return false;
    process->of_command = opened;
    nytp_process_script(pid, opened->script, sizeof opened->script);
    gethostname(opened->host, sizeof opened->host - 1);
    const bool has_cwd = nytp_process_folder(pid, opened->cwd, sizeof opened->cwd);
    opened->facts = (struct nytp_stream_facts){.application = opened->script,
                                               .host = opened->host,
                                               .cwd = has_cwd ? opened->cwd : NULL,
                                               .no_source = spy->no_source,
                                               .pid = pid,
                                               .parent = nytp_process_status(pid).parent,
                                               .program_s = nytp_program_start(pid),
                                               .rate = spy->rate};
    return true;
}

static void closed(struct nytp_followed_process *process)
{
    struct recorder *const recorder = process->followed->command;
    recorder->has_folded_evals |= process->session->names.folded_evals != 0;
    free(process->of_command);
    process->of_command = NULL;
}

static struct stream *begin_stream(struct nytp_followed_process *process,
                                   const struct nytp_spied_thread *thread)
{
    struct recorder *const recorder = process->followed->command;
    struct nytp_stream_facts facts = ((const struct opened *)process->of_command)->facts;
    struct nytp_error error = {0};
    struct stream *const stream = calloc(1, sizeof *stream);
    if (stream == NULL || (stream->part = nytp_part_new(&recorder->parts, &error)) == NULL) {
        if (recorder->n_lost++ == 0)
            nytp_spy_say("threads that come now are not recorded: %s", error.message);
        return stream;
    }
    facts.thread = thread->walker.look.of.tid;
    stream->stream =
        nytp_sampled_stream_new(&process->session->names, &facts, nytp_part_put, stream->part);
    if (stream->stream == NULL)
        nytp_out_of_memory(&stream->part->error);
    recorder->n_threads++;
    return stream;
}

static void end_stream(struct recorder *recorder, const struct nytp_spied_thread *thread)
{
    struct stream *const stream = thread->of_user;
    if (stream == NULL || stream->part == NULL) {
        free(stream);
        return;
    }
    const bool is_whole =
        stream->stream != NULL &&
        nytp_sampled_stream_end(stream->stream, thread->n_looks, thread->n_torn);
    if (stream->part->error.status != NYTP_OK)
        nytp_spy_say("%s; the samples of a thread end here", stream->part->error.message);
    nytp_part_end(&recorder->parts, stream->part, is_whole);
    free(stream);
}

static void take_sample(void *context, struct nytp_spied_thread *thread, int64_t ticks,
                        int64_t cpu_ticks)
{
    struct nytp_followed_process *const process = context;
    struct recorder *const recorder = process->followed->command;
    if (ticks < 0) {
        end_stream(recorder, thread);
        return;
    }
    if (!recorder->spy->idle && thread->is_waiting)
        return;
    if (thread->of_user == NULL)
        thread->of_user = begin_stream(process, thread);
    const struct stream *const stream = thread->of_user;
    if (stream != NULL && stream->stream != NULL && stream->part->error.status == NYTP_OK &&
        !nytp_sampled_stream_add(stream->stream, &thread->stack, ticks, cpu_ticks) &&
        stream->part->error.status == NYTP_OK)
        nytp_out_of_memory(&stream->part->error);
}

/* ---- the loop ---- */

static volatile sig_atomic_t was_stopped; /* by SIGSTOP or Ctrl-Z, and then continued */

static void note_stop(int signal)
{
    (void)signal;
    was_stopped = 1;
}

static bool is_over(const struct recorder *recorder)
{
    const double duration_s = recorder->spy->duration_s;
    const int64_t since = nytp_spy_now_ns() - recorder->began_ns;
    return nytp_spy_stop || (duration_s > 0 && (double)since >= duration_s * 1e9) ||
           nytp_followed_is_over(&recorder->followed);
}

static void show_progress(const struct recorder *recorder, int64_t *shown_s)
{
    const int64_t seconds = (nytp_spy_now_ns() - recorder->began_ns) / 1000000000;
    if (!recorder->is_terminal || seconds == *shown_s)
        return;
    *shown_s = seconds;
    fprintf(stderr, "\r%" PRId64 " s, %" PRIu64 " samples; Ctrl-C ends the %s ", seconds,
            recorder->followed.counts.n_looks,
            recorder->command.pid > 0 ? "program, twice the recording" : "recording");
}

/* Time while nytp-spy was stopped is charged to no stack. */
static void take_up(struct recorder *recorder)
{
    was_stopped = 0;
    nytp_followed_resume(&recorder->followed);
    nytp_pace_resume(&recorder->pace);
}

static void record(struct recorder *recorder)
{
    struct nytp_followed *const followed = &recorder->followed;
    struct nytp_pace *const pace = &recorder->pace;
    int64_t shown_s = 0;
    recorder->is_terminal = isatty(STDERR_FILENO);
    sigaction(SIGCONT, &(struct sigaction){.sa_handler = note_stop, .sa_flags = SA_RESTART},
              NULL);
    *pace = nytp_pace_begin(recorder->spy->rate, !recorder->spy->no_realtime);
    recorder->began_ns = pace->next_ns;
    nytp_aside_begin(&followed->aside);
    while (!is_over(recorder)) {
        if (was_stopped)
            take_up(recorder);
        nytp_pace_look(pace);
        nytp_followed_look(followed);
        nytp_followed_find(followed, pace->next_ns);
        nytp_command_poll(&recorder->command);
        show_progress(recorder, &shown_s);
        nytp_pace_next(pace);
        nytp_followed_wait(followed, pace->next_ns, -1);
    }
    recorder->ended_ns = nytp_spy_now_ns();
    nytp_pace_end(pace);
    nytp_step_aside(&followed->aside, -1);
    if (shown_s > 0)
        fputs("\r\033[K", stderr);
    nytp_followed_end(followed);
}

/* ---- export ---- */

/* nytp-export, beside nytp-spy or in PATH, writes all formats but the stream itself. */

/* Writes the folder of nytp-spy, or "" if unknown. */
static void folder_of_spy(char *to, size_t size)
{
    const ssize_t len = readlink("/proc/self/exe", to, size - 1);
    to[len < 0 ? 0 : len] = '\0';
    char *const slash = strrchr(to, '/');
    *(slash == NULL ? to : slash + 1) = '\0';
}

static void become_export(const char *const *words)
{
    char folder[4096], path[4096 + sizeof EXPORT];
    char **const argv = (char **)(uintptr_t)words;
    folder_of_spy(folder, sizeof folder);
    snprintf(path, sizeof path, "%s" EXPORT, folder);
    execv(path, argv);
    execvp(EXPORT, argv);
    _exit(NOT_THERE);
}

/* Has nytp-export write `path`; returns its exit status. Signals end nytp-spy's recording, not
 * this. */
static int run_export(const struct nytp_spy *spy, const char *path, const char *input,
                      bool is_quiet)
{
    const char *const option = spy->format == NULL ? NULL : "--format"; /* or the words end */
    const char *const words[] = {EXPORT, "-q", "-o", path, input, option, spy->format, NULL};
    int status;
    const pid_t pid = fork();
    if (pid == 0) {
        const int nowhere = is_quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
        if (nowhere >= 0)
            dup2(nowhere, STDERR_FILENO);
        become_export(words);
    }
    if (pid < 0)
        return NOT_THERE;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return NOT_THERE;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static bool ends_in(const char *text, const char *end)
{
    const size_t len = strlen(text), end_len = strlen(end);
    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/* A name without a suffix, or with a recording's, means a stream. */
static bool is_of_stream(const char *path)
{
    const char *const slash = strrchr(path, '/');
    const char *const name = slash == NULL ? path : slash + 1;
    return (name[0] != '\0' && strchr(name, '.') == NULL) ||
           (strncmp(name, "nytprof", 7) == 0 && ends_in(name, ".out")) ||
           strncmp(path, "/dev/", 5) == 0;
}

/* Chooses by --format, or by the name: ".svg", ".folded", "callgrind.out.1". */
static enum written_as choose_format(const struct nytp_spy *spy, const char *path)
{
    if (spy->format == NULL && is_of_stream(path))
        return AS_STREAM;
    /* Does it write such a file? The input is no profile. */
    const int status = run_export(spy, path, "/dev/null/none", true);
    if (status != NO_FORMAT && status != NOT_THERE)
        return AS_FORMAT;
    if (status == NOT_THERE && (spy->format != NULL || !ends_in(path, ".out")))
        nytp_spy_say("%s: " EXPORT ", which writes other formats, is not there; -o FILE.out "
                     "records",
                     path);
    else if (spy->format != NULL)
        nytp_spy_say("--format %s: there is none of this name (nytp export --list-formats)",
                     spy->format);
    else if (ends_in(path, ".gz"))
        nytp_spy_say(
            "%s: no format is compressed under this name, nor is a recording; record to "
            "FILE.out",
            path);
    else
        return AS_STREAM;
    return AS_NOTHING;
}

/* Exports the stream in this descriptor's file. Returns false, and reports it, on failure. */
static bool export_stream(const struct nytp_spy *spy, const char *path, int stream_fd)
{
    char input[40];
    snprintf(input, sizeof input, "/proc/self/fd/%d", stream_fd);
    fcntl(stream_fd, F_SETFD, 0);
    const int status = run_export(spy, path, input, false);
    if (status != 0)
        nytp_spy_say("%s: " EXPORT " ended with status %d", path, status);
    return status == 0;
}

/* ---- the result ---- */

static bool write_stream(const struct recorder *recorder, const char *path)
{
    struct nytp_error error = {0};
    struct nytp_out *const out = nytp_out_open(path, &error);
    if (out != NULL && !nytp_parts_write(&recorder->parts, out, &error))
        nytp_out_discard(out);
    else if (out != NULL && nytp_out_close(out, &error))
        return true;
    nytp_spy_say("%s: %s", path, error.message);
    return false;
}

/* Writes a stream first. If its export fails, it is kept beside. */
static bool write_format(const struct recorder *recorder, const char *path)
{
    char stream[40], kept[4096];
    const int fd = nytp_parts_temporary_file("nytp-spy-profile");
    snprintf(stream, sizeof stream, "/dev/fd/%d", fd);
    if (fd < 0) {
        nytp_spy_say("%s: no temporary file: %s", path, strerror(errno));
    } else if (write_stream(recorder, stream)) {
        const bool ok = export_stream(recorder->spy, path, fd);
        close(fd);
        if (ok)
            return true;
    }
    snprintf(kept, sizeof kept, "%s.out", strcmp(path, "-") == 0 ? "nytprof" : path);
    if (write_stream(recorder, kept))
        nytp_spy_say("%s: the recording is there", kept);
    return false;
}

/* Reports missing samples and their reason. */
static void say_missed(const struct recorder *recorder)
{
    const struct nytp_pace *const pace = &recorder->pace;
    const uint64_t n = recorder->followed.counts.n_looks, n_due = nytp_pace_due(pace, n);
    const double late = nytp_spy_percent((double)pace->n_late, (double)pace->n_looks);
    if (n_due > n)
        nytp_spy_say("%" PRIu64 " of %" PRIu64 " samples that were due: %s", n, n_due,
                     pace->has_rested ? "looks take so long that more would take over a tenth "
                                        "of a processor"
                                      : "nytp-spy came too late for the others");
    if (late > NOTABLY_LATE && !pace->has_rested)
        nytp_spy_say("%.0f %% of the looks came late, as the machine is busy: shares may be "
                     "off by as much; as root, looks come in time",
                     late);
}

static void say_children(const struct nytp_followed *followed)
{
    if (followed->most_children > 0)
        nytp_spy_say("process %d has %u %s that %s not recorded: -s records them, too",
                     (int)followed->has_children, followed->most_children,
                     followed->most_children == 1 ? "child" : "children",
                     followed->most_children == 1 ? "is" : "are");
}

static void say_result(const struct recorder *recorder, const char *path)
{
    const struct nytp_look_counts counts = recorder->followed.counts;
    const double seconds = (double)(recorder->ended_ns - recorder->began_ns) / 1e9;
    nytp_spy_say("%" PRIu64 " samples of %u %s in %.1f s, %" PRIu64
                 " not whole and left out (%.2f %%): %s",
                 counts.n_looks - counts.n_torn, recorder->n_threads,
                 recorder->n_threads == 1 ? "thread" : "threads", seconds, counts.n_torn,
                 nytp_spy_percent((double)counts.n_torn, (double)counts.n_looks), path);
    say_missed(recorder);
    if (recorder->has_folded_evals)
        nytp_spy_say("more than %d string evals were seen: the further ones of a statement are "
                     "one, (eval 0)",
                     NYTP_MOST_EVALS);
    say_children(&recorder->followed);
}

/* Reports named processes that are not in the profile; returns whether there is any. */
static bool say_missing(const struct recorder *recorder)
{
    const struct nytp_followed *const followed = &recorder->followed;
    bool some = false;
    for (uint32_t i = 0; i < followed->missing.n; i++) {
        const struct nytp_missing *const missing = &followed->missing.at[i];
        some |= missing->is_named;
        if (missing->is_named || recorder->n_threads == 0)
            nytp_spy_say("%s", missing->error.message);
    }
    return some;
}

static void say_nothing(const struct recorder *recorder)
{
    nytp_spy_say("nothing was recorded");
    say_children(&recorder->followed);
    if (recorder->command.pid > 0 && !recorder->spy->subprocesses &&
        recorder->followed.most_children == 0 && recorder->n_lost == 0)
        nytp_spy_say("if %s is no perl itself, -s records what it starts",
                     recorder->spy->argv[0]);
}

static enum nytp_spy_status write_result(const struct recorder *recorder, const char *path,
                                         enum written_as as)
{
    const bool some_are_missing = say_missing(recorder);
    if (recorder->n_threads == 0) {
        say_nothing(recorder);
        return recorder->n_lost > 0 ? SPY_OUTPUT : SPY_REFUSED;
    }
    if (!(as == AS_FORMAT ? write_format(recorder, path) : write_stream(recorder, path)))
        return SPY_OUTPUT;
    say_result(recorder, path);
    if (recorder->parts.n_cut > 0 || recorder->n_lost > 0)
        return SPY_OUTPUT;
    return some_are_missing && recorder->spy->pattern == NULL ? SPY_REFUSED : SPY_DONE;
}

/* ---- before it begins ---- */

/* Without -o no file is replaced: perl's recorder writes nytprof.out, too. */
static bool is_in_the_way(const struct nytp_spy *spy, const char *path)
{
    if (spy->output != NULL || access(path, F_OK) != 0)
        return false;
    nytp_spy_say("%s is there already: -o FILE", path);
    return true;
}

/* If COMMAND prints to the same file, neither can be read. */
static bool mixes_with_command(const struct nytp_spy *spy, const char *path)
{
    struct stat ours, theirs;
    if (spy->argv == NULL)
        return false;
    const bool is_same = strcmp(path, "-") == 0 ||
                         (fstat(STDOUT_FILENO, &ours) == 0 && stat(path, &theirs) == 0 &&
                          !S_ISCHR(ours.st_mode) && ours.st_dev == theirs.st_dev &&
                          ours.st_ino == theirs.st_ino);
    if (is_same)
        nytp_spy_say("%s is where %s prints, too: -o FILE, or -o /dev/fd/3 3>&1 1>&2", path,
                     spy->argv[0]);
    return is_same;
}

/* Tests early whether the file can be written. A pipe or device must be opened only once. */
static bool can_be_written(const char *path)
{
    struct nytp_error error = {0};
    struct stat status;
    const bool is_file = stat(path, &status) == 0 ? S_ISREG(status.st_mode) : true;
    if (!is_file || strcmp(path, "-") == 0 || strncmp(path, "/dev/", 5) == 0)
        return true;
    struct nytp_out *const out = nytp_out_open(path, &error);
    if (out != NULL)
        nytp_out_discard(out);
    else
        nytp_spy_say("%s: %s", path, error.message);
    return out != NULL;
}

static bool start_command(struct recorder *recorder)
{
    const struct nytp_spy *const spy = recorder->spy;
    const struct rlimit descriptors = nytp_spy_raise_descriptors();
    if (spy->argv == NULL)
        return true;
    if (!nytp_command_start(&recorder->command, spy->argv, spy->subprocesses, &descriptors)) {
        nytp_spy_say("%s: %s", spy->argv[0], strerror(errno));
        return false;
    }
    recorder->followed.adopts = spy->subprocesses;
    recorder->followed.witness = recorder->command.witness;
    nytp_follow(&recorder->followed, recorder->command.pid, NYTP_WAS_STARTED);
    return true;
}

static enum nytp_spy_status record_to(struct recorder *recorder, const char *path,
                                      enum written_as as)
{
    const struct nytp_spy *const spy = recorder->spy;
    if (!start_command(recorder))
        return SPY_REFUSED;
    for (uint32_t i = 0; i < spy->n_pids; i++)
        nytp_follow(&recorder->followed, spy->pids[i], NYTP_WAS_NAMED);
    record(recorder);
    const enum nytp_spy_status status = write_result(recorder, path, as);
    nytp_command_wait(&recorder->command);
    return recorder->command.pid == 0 || status == SPY_OUTPUT
               ? status
               : (enum nytp_spy_status)nytp_command_status(&recorder->command);
}

enum nytp_spy_status nytp_spy_record(const struct nytp_spy *spy)
{
    const char *const path = spy->output == NULL ? "nytprof.out" : spy->output;
    struct recorder recorder = {.spy = spy,
                                .parts = NYTP_NO_PARTS,
                                .followed = {.spy = spy,
                                             .command = &recorder,
                                             .sample = take_sample,
                                             .opened = opened,
                                             .closed = closed,
                                             .most_processes = UINT32_MAX,
                                             .is_recording = true}};
    if (is_in_the_way(spy, path) || mixes_with_command(spy, path))
        return SPY_USAGE;
    if (!can_be_written(path))
        return SPY_OUTPUT;
    const enum written_as as = choose_format(spy, path);
    if (as == AS_NOTHING)
        return SPY_USAGE;
    const enum nytp_spy_status status = record_to(&recorder, path, as);
    nytp_followed_free(&recorder.followed);
    nytp_parts_free(&recorder.parts);
    return status;
}
