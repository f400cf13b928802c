/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * nytp spy record: samples of processes as a profile. Each thread has a stream of its own in a
 * file that is removed at once; in the end they become one. That of a single thread is one.
 */
#define _GNU_SOURCE
#include "cli.h"

#include "formats/base/arena.h"
#include "formats/stream/write/merge_streams.h"
#include "spy/record/sampled_stream.h"
#include "spy/record/sampling.h"
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
#include <time.h>
#include <unistd.h>

enum {
    CHILDREN_NS = 50000000,  /* new processes are looked for that often, */
    MATCHES_NS = 1000000000, /* those of --pattern that often */
    BEGIN_NS = 2000000, /* a program that is only beginning is tried again after so long, */
    LONGEST_PAUSE_NS = 50000000, /* later after an eighth of the time since, but no longer */
    PERL_COMES_NS = 1000000000,  /* until then a process that is no perl may become one */
    LEAST_TRIES = 20, /* for a perl that is there, but changes while its memory is looked at */
    MAX_THREADS = 10000, /* of all that were seen */
    NOTABLY_LATE = 5,    /* percent */
};

struct part {      /* the stream of a thread */
    char path[40]; /* /proc/self/fd/N */
    int fd;
    struct nytp_sampled_stream *stream;
    bool failed;
};

struct opened { /* what takes room of a process, as long as perl is looked at there */
    struct nytp_session session;
    struct nytp_sampling sampling;
    struct recorder *recorder;
    char cwd[4096], host[256], script[4096];
    double start_s, program_s;
    pid_t parent;
};

struct process {
    pid_t pid;
    uint64_t start_ticks;       /* tells it from a later one of this number */
    struct opened *opened;      /* NULL: there is no perl, or not yet */
    bool is_named,              /* by who called */
        is_awaited,             /* perl may come whenever it will: it was started, or by one */
        was_opened,             /* perl was found there */
        is_given_up;            /* it is no perl, or may not be looked at */
    int64_t tried_ns, first_ns; /* when it was last tried to find perl, and first */
    uint32_t n_tries;
    struct nytp_error error; /* why it is not open */
};

struct missing { /* a process that is not recorded */
    bool is_named;
    struct nytp_error error;
};

struct recorder {
    const struct nytp_spy *spy;
    struct process **processes;
    uint32_t n_processes, processes_capacity;
    struct missing *missing;
    uint32_t n_missing, missing_capacity;
    struct part **parts;
    uint32_t n_parts, parts_capacity;
    uint64_t n_looks, n_torn;
    uint32_t n_lost; /* threads that are not recorded */
    pid_t child;     /* the program that was started; 0: none */
    int child_status;
    bool child_ended;
    int64_t began_ns, ended_ns, children_ns, matches_ns;
    struct rlimit descriptors; /* as they were */
    bool is_terminal;          /* progress is shown */
    struct nytp_aside aside;
    struct nytp_pace pace;
};

/* ---- streams ---- */

static bool put_part(void *context, const uint8_t *bytes, size_t len)
{
    struct part *const part = context;
    while (len > 0 && !part->failed) {
        const ssize_t done = write(part->fd, bytes, len);
        if (done < 0 && errno == EINTR)
            continue;
        part->failed = done <= 0;
        if (part->failed)
            nytp_spy_say("a temporary file cannot be written: %s; the samples of a thread end "
                         "here",
                         strerror(errno));
        bytes += done > 0 ? done : 0;
        len -= done > 0 ? (size_t)done : 0;
    }
    return !part->failed;
}

static int temporary_file(void)
{
    const char *const folder = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/nytp-spy.XXXXXX", folder == NULL ? "/tmp" : folder);
    const int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

static struct part *begin_part(struct opened *opened, const struct nytp_spied_thread *thread)
{
    struct recorder *const recorder = opened->recorder;
    struct part *const part = calloc(1, sizeof *part);
    if (part == NULL || recorder->n_parts >= MAX_THREADS ||
        !nytp_grow(&recorder->parts, &recorder->parts_capacity, recorder->n_parts,
                   sizeof *recorder->parts) ||
        (part->fd = temporary_file()) < 0) {
        free(part);
        return NULL;
    }
    snprintf(part->path, sizeof part->path, "/proc/self/fd/%d", part->fd);
    const struct nytp_stream_facts facts = {
        .application = opened->script,
        .host = opened->host,
        .cwd = opened->cwd,
        .no_source = recorder->spy->no_source,
        .pid = opened->session.target.pid,
        .parent = opened->parent,
        .start_s = opened->start_s,
        .program_s = opened->program_s,
        .rate = recorder->spy->rate,
        .thread = thread->walker.look.of.tid,
    };
    part->stream = nytp_sampled_stream_new(&opened->session.names, &facts, put_part, part);
    part->failed = part->stream == NULL;
    recorder->parts[recorder->n_parts++] = part;
    return part;
}

/* A thread that cannot be recorded, while others are. */
static struct part *lose_thread(struct recorder *recorder)
{
    static struct part none = {.failed = true};
    if (recorder->n_lost++ == 0)
        nytp_spy_say("threads that come now are not recorded: %s",
                     recorder->n_parts >= MAX_THREADS ? "they are too many" : strerror(errno));
    return &none;
}

static bool take_sample(void *context, struct nytp_spied_thread *thread, int64_t ticks,
                        int64_t cpu_ticks)
{
    struct opened *const opened = context;
    struct part *part = thread->of_user;
    if (ticks < 0) {
        if (part != NULL && part->stream != NULL)
            part->failed |=
                !nytp_sampled_stream_end(part->stream, thread->n_looks, thread->n_torn);
        if (part != NULL)
            part->stream = NULL;
        return true;
    }
    if (!opened->recorder->spy->idle && thread->is_waiting)
        return true;
    if (part == NULL)
        part = begin_part(opened, thread);
    if (part == NULL)
        part = lose_thread(opened->recorder);
    thread->of_user = part;
    if (part->stream != NULL && !part->failed)
        part->failed = !nytp_sampled_stream_add(part->stream, &thread->stack, ticks, cpu_ticks);
    return true;
}

/* ---- processes ---- */

static void close_process(struct recorder *recorder, struct process *process)
{
    struct opened *const opened = process->opened;
    if (opened == NULL)
        return;
    nytp_sampling_end(&opened->sampling);
    recorder->n_looks += opened->sampling.n_looks;
    recorder->n_torn += opened->sampling.n_torn;
    nytp_session_close(&opened->session);
    free(opened);
    process->opened = NULL;
    process->tried_ns = process->first_ns = 0; /* it may begin another program now */
    process->n_tries = 0;
}

/* Of those that nobody named, or that a pattern has found and are no perl, one is enough. */
static void note_missing(struct recorder *recorder, const struct process *process)
{
    const bool is_named = process->is_named && !(recorder->spy->pattern != NULL &&
                                                 process->error.status == NYTP_ERR_ABSENT);
    if (process->was_opened || process->error.status == NYTP_OK ||
        (!is_named && recorder->n_missing > 0) ||
        !nytp_grow(&recorder->missing, &recorder->missing_capacity, recorder->n_missing,
                   sizeof *recorder->missing))
        return;
    recorder->missing[recorder->n_missing++] = (struct missing){is_named, process->error};
}

static void forget_process(struct recorder *recorder, uint32_t i)
{
    struct process *const process = recorder->processes[i];
    close_process(recorder, process);
    note_missing(recorder, process);
    free(process);
    recorder->n_processes--;
    memmove(recorder->processes + i, recorder->processes + i + 1,
            (recorder->n_processes - i) * sizeof *recorder->processes);
}

/* Whether it is not yet another one of the same number. */
static bool is_itself(const struct process *process)
{
    return nytp_process_start_ticks(process->pid) == process->start_ticks;
}

/* NULL: it is there already, or memory is out. */
static struct process *add_process(struct recorder *recorder, pid_t pid)
{
    for (uint32_t i = 0; i < recorder->n_processes; i++) {
        if (recorder->processes[i]->pid != pid)
            continue;
        if (is_itself(recorder->processes[i]))
            return NULL;
        forget_process(recorder, i);
        break;
    }
    struct process *const process = calloc(1, sizeof *process);
    if (process == NULL || !nytp_grow(&recorder->processes, &recorder->processes_capacity,
                                      recorder->n_processes, sizeof *recorder->processes)) {
        free(process);
        return NULL;
    }
    process->pid = pid;
    process->start_ticks = nytp_process_start_ticks(pid);
    recorder->processes[recorder->n_processes++] = process;
    return process;
}

static void await_process(struct recorder *recorder, pid_t pid)
{
    struct process *const process = add_process(recorder, pid);
    if (process != NULL)
        process->is_awaited = true;
}

static void read_link(pid_t pid, const char *name, char *to, size_t size)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    const ssize_t len = readlink(path, to, size - 1);
    to[len < 0 ? 0 : len] = '\0';
}

/* Until perl is looked for again: meanwhile nothing else is looked at. */
static int64_t pause_ns(const struct process *process)
{
    const int64_t part_ns = (process->tried_ns - process->first_ns) / 8;
    return part_ns < BEGIN_NS           ? BEGIN_NS
           : part_ns < LONGEST_PAUSE_NS ? part_ns
                                        : LONGEST_PAUSE_NS;
}

static struct opened *open_perl(struct recorder *recorder, pid_t pid, struct nytp_error *error)
{
    struct opened *const opened = calloc(1, sizeof *opened);
    if (opened == NULL || !nytp_session_open(&opened->session, recorder->spy, pid, error)) {
        free(opened);
        return NULL;
    }
    opened->recorder = recorder;
    nytp_process_script(pid, opened->script, sizeof opened->script);
    opened->start_s = nytp_process_start(pid);
    opened->program_s = nytp_program_start(pid);
    opened->parent = nytp_process_status(pid).parent;
    read_link(pid, "cwd", opened->cwd, sizeof opened->cwd);
    gethostname(opened->host, sizeof opened->host - 1);
    opened->sampling = (struct nytp_sampling){
        .names = &opened->session.names, .sample = take_sample, .context = opened};
    return opened;
}

static bool open_process(struct recorder *recorder, struct process *process)
{
    const int64_t now = nytp_spy_now_ns();
    if (now - process->tried_ns < pause_ns(process))
        return false;
    process->tried_ns = now;
    if (process->first_ns == 0)
        process->first_ns = now;
    process->n_tries++;
    process->error = (struct nytp_error){0};
    process->opened = open_perl(recorder, process->pid, &process->error);
    process->was_opened |= process->opened != NULL;
    return process->opened != NULL;
}

static bool has_ended(pid_t pid)
{
    const char state = nytp_process_status(pid).state;
    return state == '\0' || state == 'Z' || state == 'X';
}

static bool look(struct recorder *recorder, struct process *process)
{
    struct opened *const opened = process->opened;
    opened->sampling.aside = recorder->n_processes == 1 ? &recorder->aside : NULL;
    return nytp_sampling_look(&opened->sampling);
}

static bool is_other(const struct process *process)
{
    return !process->is_awaited && !process->was_opened &&
           process->tried_ns - process->first_ns > PERL_COMES_NS &&
           (process->error.status != NYTP_ERR_TRUNCATED || process->n_tries >= LEAST_TRIES);
}

/* One round for one process. It may begin only now, or run another program by exec. False: it
 * has ended. */
static bool look_at_process(struct recorder *recorder, struct process *process)
{
    if (process->is_given_up || (process->opened != NULL && look(recorder, process)))
        return true;
    if (process->opened != NULL)
        close_process(recorder, process);
    else if (open_process(recorder, process))
        return true;
    process->is_given_up = process->error.status == NYTP_ERR_IO ||
                           process->error.status == NYTP_ERR_LIMIT || is_other(process);
    return !has_ended(process->pid);
}

static void look_at_processes(struct recorder *recorder)
{
    if (recorder->n_processes > 1)
        nytp_step_aside(&recorder->aside, -1);
    for (uint32_t i = 0; i < recorder->n_processes;)
        if (look_at_process(recorder, recorder->processes[i]))
            i++;
        else
            forget_process(recorder, i);
}

static bool is_known(const struct recorder *recorder, pid_t pid)
{
    for (uint32_t i = 0; i < recorder->n_processes; i++)
        if (recorder->processes[i]->pid == pid)
            return true;
    return false;
}

static void find_children(struct recorder *recorder)
{
    uint32_t n = 0;
    pid_t *const all = nytp_processes(&n);
    for (uint32_t i = 0; i < n; i++)
        if (is_known(recorder, nytp_process_status(all[i]).parent) && !has_ended(all[i]))
            await_process(recorder, all[i]);
    free(all);
}

/* What --pattern means now. A command line on which it gives up is none. */
static void find_matches(struct recorder *recorder)
{
    struct nytp_error error = {0};
    uint32_t n = 0;
    pid_t *const found = nytp_spy_matches(&recorder->spy->patterns, &n, &error);
    for (uint32_t i = 0; i < n; i++)
        add_process(recorder, found[i]);
    free(found);
}

/* Those that were given up are looked at here alone. */
static void forget_given_up(struct recorder *recorder)
{
    for (uint32_t i = recorder->n_processes; i-- > 0;)
        if (recorder->processes[i]->is_given_up && !is_itself(recorder->processes[i]))
            forget_process(recorder, i);
}

static void find_processes(struct recorder *recorder)
{
    const struct nytp_spy *const spy = recorder->spy;
    const int64_t now = recorder->pace.next_ns;
    const bool children = spy->subprocesses && now - recorder->children_ns > CHILDREN_NS;
    const bool matches = spy->pattern != NULL && now - recorder->matches_ns > MATCHES_NS;
    if (children || matches)
        forget_given_up(recorder);
    if (children) {
        recorder->children_ns = now;
        find_children(recorder);
    }
    if (matches) {
        recorder->matches_ns = now;
        find_matches(recorder);
    }
}

/* ---- a program that is started ---- */

static bool start(struct recorder *recorder)
{
    char **const argv = recorder->spy->argv;
    const pid_t pid = fork();
    if (pid == 0) {
        setrlimit(RLIMIT_NOFILE, &recorder->descriptors);
        execvp(argv[0], argv);
        nytp_spy_say("%s: %s", argv[0], strerror(errno));
        _exit(errno == ENOENT ? 127 : 126);
    }
    recorder->child = pid;
    if (pid > 0)
        await_process(recorder, pid);
    return pid > 0;
}

static void wait_for_child(struct recorder *recorder, int flags)
{
    if (recorder->child > 0 && !recorder->child_ended &&
        waitpid(recorder->child, &recorder->child_status, flags) == recorder->child)
        recorder->child_ended = true;
}

/* ---- the loop ---- */

static bool is_over(struct recorder *recorder)
{
    const struct nytp_spy *const spy = recorder->spy;
    const int64_t since = nytp_spy_now_ns() - recorder->began_ns;
    if (nytp_spy_stop || (spy->duration_s > 0 && (double)since >= spy->duration_s * 1e9))
        return true;
    for (uint32_t i = 0; i < recorder->n_processes; i++)
        if (!recorder->processes[i]->is_given_up)
            return false;
    return true;
}

static void show_progress(const struct recorder *recorder, int64_t *shown_s)
{
    const int64_t seconds = (nytp_spy_now_ns() - recorder->began_ns) / 1000000000;
    uint64_t n = recorder->n_looks;
    if (!recorder->is_terminal || seconds == *shown_s)
        return;
    *shown_s = seconds;
    for (uint32_t i = 0; i < recorder->n_processes; i++)
        if (recorder->processes[i]->opened != NULL)
            n += recorder->processes[i]->opened->sampling.n_looks;
    fprintf(stderr, "\r%" PRId64 " s, %" PRIu64 " samples; Ctrl-C ends the recording ", seconds,
            n);
}

static bool settle(struct recorder *recorder)
{
    bool some = false;
    for (uint32_t i = 0; i < recorder->n_processes; i++)
        if (recorder->processes[i]->opened != NULL)
            some |= nytp_sampling_settle(&recorder->processes[i]->opened->sampling);
    return some;
}

static void wait_until(struct recorder *recorder, int64_t then_ns)
{
    int64_t now, step = NYTP_SETTLE_NS;
    while ((now = nytp_spy_now_ns()) < then_ns && !nytp_spy_stop) {
        const int64_t next = now + step;
        const int64_t until = next < then_ns && settle(recorder) ? next : then_ns;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME,
                        &(struct timespec){until / 1000000000, until % 1000000000}, NULL);
        step *= 2;
    }
}

static void record(struct recorder *recorder)
{
    struct nytp_pace *const pace = &recorder->pace;
    int64_t shown_s = 0;
    recorder->is_terminal = isatty(STDERR_FILENO);
    *pace = nytp_pace_begin(recorder->spy->rate, !recorder->spy->no_realtime);
    recorder->began_ns = pace->next_ns;
    nytp_aside_begin(&recorder->aside);
    while (!is_over(recorder)) {
        nytp_pace_look(pace);
        look_at_processes(recorder);
        find_processes(recorder);
        wait_for_child(recorder, WNOHANG);
        show_progress(recorder, &shown_s);
        nytp_pace_next(pace);
        wait_until(recorder, pace->next_ns);
    }
    recorder->ended_ns = nytp_spy_now_ns();
    if (shown_s > 0)
        fputs("\r\033[K", stderr);
    while (recorder->n_processes > 0)
        forget_process(recorder, 0);
}

/* ---- the result ---- */

static bool put_out(void *context, const uint8_t *bytes, size_t len)
{
    struct nytp_out *const out = context;
    nytp_put(out, bytes, len);
    return out->error.status == NYTP_OK;
}

static bool copy_part(const struct part *part, struct nytp_out *out, struct nytp_error *error)
{
    uint8_t bytes[16384];
    off_t at = 0;
    ssize_t len;
    while ((len = pread(part->fd, bytes, sizeof bytes, at)) > 0) {
        nytp_put(out, bytes, (size_t)len);
        at += len;
    }
    if (len < 0)
        return nytp_error_set(error, NYTP_ERR_IO, "a temporary file cannot be read: %s",
                              strerror(errno));
    if (out->error.status != NYTP_OK)
        *error = out->error;
    return out->error.status == NYTP_OK;
}

static bool merge_parts(const struct recorder *recorder, struct nytp_out *out,
                        struct nytp_error *error)
{
    struct nytp_merge *const merge = nytp_merge_new(put_out, NULL, out, 6);
    bool ok = merge != NULL || nytp_out_of_memory(error);
    for (uint32_t i = 0; ok && i < recorder->n_parts; i++) {
        ok = nytp_merge_add(merge, recorder->parts[i]->path, error);
        if (!ok && recorder->parts[i]->failed) { /* it has what came before */
            *error = (struct nytp_error){0};
            ok = true;
        }
    }
    ok = ok && nytp_merge_finish(merge, error);
    nytp_merge_free(merge);
    return ok;
}

/* The stream of one thread is the profile as it is, if it has an end. */
static bool write_parts(const struct recorder *recorder, struct nytp_out *out,
                        struct nytp_error *error)
{
    return recorder->n_parts == 1 && !recorder->parts[0]->failed
               ? copy_part(recorder->parts[0], out, error)
               : merge_parts(recorder, out, error);
}

static enum nytp_spy_status write_profile(const struct recorder *recorder, const char *path)
{
    struct nytp_error error = {0};
    struct nytp_out *const out = nytp_out_open(path, &error);
    if (out != NULL && !write_parts(recorder, out, &error)) {
        nytp_out_discard(out);
    } else if (out != NULL && nytp_out_close(out, &error)) {
        return SPY_DONE;
    }
    nytp_spy_say("%s: %s", path, error.message);
    return SPY_OUTPUT;
}

static double percent(uint64_t part, uint64_t of)
{
    return of == 0 ? 0 : 100.0 * (double)part / (double)of;
}

static void say_result(const struct recorder *recorder, const char *path)
{
    const double seconds = (double)(recorder->ended_ns - recorder->began_ns) / 1e9;
    const double late = percent(recorder->pace.n_late, recorder->pace.n_looks);
    nytp_spy_say("%" PRIu64 " samples of %u %s in %.1f s, %" PRIu64
                 " not whole and left out (%.2f %%): %s",
                 recorder->n_looks - recorder->n_torn, recorder->n_parts,
                 recorder->n_parts == 1 ? "thread" : "threads", seconds, recorder->n_torn,
                 percent(recorder->n_torn, recorder->n_looks), path);
    if (late > NOTABLY_LATE)
        nytp_spy_say("%.0f %% of the looks came late, as the machine is busy: shares may be "
                     "off by as much; as root, looks come in time",
                     late);
}

static void free_recorder(struct recorder *recorder)
{
    for (uint32_t i = 0; i < recorder->n_parts; i++) {
        close(recorder->parts[i]->fd);
        free(recorder->parts[i]);
    }
    free(recorder->processes);
    free(recorder->missing);
    free(recorder->parts);
}

/* What was named and is not in the profile; whether there is any. */
static bool say_missing(const struct recorder *recorder)
{
    bool some = false;
    for (uint32_t i = 0; i < recorder->n_missing; i++) {
        const struct missing *const missing = &recorder->missing[i];
        some |= missing->is_named;
        if (missing->is_named || recorder->n_parts == 0)
            nytp_spy_say("%s", missing->error.message);
    }
    return some;
}

static bool has_failed(const struct recorder *recorder)
{
    for (uint32_t i = 0; i < recorder->n_parts; i++)
        if (recorder->parts[i]->failed)
            return true;
    return recorder->n_lost > 0;
}

static enum nytp_spy_status write_result(const struct recorder *recorder, const char *path)
{
    const bool some_are_missing = say_missing(recorder);
    if (recorder->n_parts == 0) {
        nytp_spy_say("nothing was recorded");
        return SPY_REFUSED;
    }
    const enum nytp_spy_status status = write_profile(recorder, path);
    if (status != SPY_DONE)
        return status;
    say_result(recorder, path);
    if (has_failed(recorder))
        return SPY_OUTPUT;
    return some_are_missing && recorder->spy->pattern == NULL ? SPY_REFUSED : SPY_DONE;
}

/* What would be found out only when all is recorded. A pipe or device is opened once. */
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

/* Each thread has a file. */
static void raise_descriptors(struct recorder *recorder)
{
    struct rlimit *const before = &recorder->descriptors;
    if (getrlimit(RLIMIT_NOFILE, before) == 0)
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){before->rlim_max, before->rlim_max});
}

enum nytp_spy_status nytp_spy_record(const struct nytp_spy *spy)
{
    struct recorder recorder = {.spy = spy};
    const char *const path = spy->output == NULL ? "nytprof.out" : spy->output;
    if (!can_be_written(path))
        return SPY_OUTPUT;
    raise_descriptors(&recorder);
    if (spy->argv != NULL && !start(&recorder)) {
        nytp_spy_say("%s: %s", spy->argv[0], strerror(errno));
        return SPY_REFUSED;
    }
    for (uint32_t i = 0; i < spy->n_pids; i++) {
        struct process *const process = add_process(&recorder, spy->pids[i]);
        if (process != NULL)
            process->is_named = true;
    }
    record(&recorder);
    const enum nytp_spy_status status = write_result(&recorder, path);
    wait_for_child(&recorder, nytp_spy_stop ? WNOHANG : 0);
    const int of_child = recorder.child_status;
    free_recorder(&recorder);
    if (!recorder.child_ended || status == SPY_OUTPUT)
        return status;
    return (enum nytp_spy_status)(WIFEXITED(of_child) ? WEXITSTATUS(of_child)
                                                      : 128 + WTERMSIG(of_child));
}
