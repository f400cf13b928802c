/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The processes that record follows; see followed.h.
 */
#define _GNU_SOURCE
#include "followed.h"

#include "formats/base/arena.h"
#include "spy/record/sampled_stream.h"
#include "spy/target/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CHILDREN_NS = 50000000,  /* interval of searches for new processes, */
    CHILDREN_SHARE = 50,     /* which take at most 1/50 of the time */
    MATCHES_NS = 1000000000, /* interval for --pattern, and if the kernel lists no children */
    BEGIN_NS = 2000000,      /* interval of tries while a program starts, */
    LONGEST_PAUSE_NS = 50000000, /* growing to an eighth of the time since, up to this */
    PERL_COMES_NS = 1000000000,  /* time for a process without perl to become one */
    LEAST_TRIES = 20,            /* for a perl whose memory changes while it is read */
};

struct stream { /* of a thread */
    struct nytp_part *part;
    struct nytp_sampled_stream *stream;
};

struct opened { /* memory for an open perl process */
    struct nytp_session session;
    struct nytp_sampling sampling;
    struct nytp_followed *followed;
    char cwd[4096], host[256], script[4096];
    double program_s;
    pid_t parent;
};

struct nytp_followed_process {
    pid_t pid;
    uint64_t start_ticks;  /* distinguishes it from a later one with this pid */
    struct opened *opened; /* NULL: no perl, or not yet */
    enum nytp_why_followed why;
    bool was_opened,            /* perl was found */
        is_given_up;            /* it is no perl, or may not be read */
    int64_t tried_ns, first_ns; /* last and first try to find perl */
    uint32_t n_tries;
    struct nytp_error error; /* why it is not open */
};

/* ---- streams ---- */

static struct stream *begin_stream(struct opened *opened,
                                   const struct nytp_spied_thread *thread,
                                   struct nytp_error *error)
{
    struct nytp_followed *const followed = opened->followed;
    struct stream *const stream = calloc(1, sizeof *stream);
    if (stream == NULL || (stream->part = nytp_part_new(&followed->parts, error)) == NULL) {
        free(stream);
        return NULL;
    }
    const struct nytp_stream_facts facts = {
        .application = opened->script,
        .host = opened->host,
        .cwd = opened->cwd[0] == '\0' ? NULL : opened->cwd,
        .no_source = followed->spy->no_source,
        .pid = opened->session.target.pid,
        .parent = opened->parent,
        .program_s = opened->program_s,
        .rate = followed->spy->rate,
        .thread = thread->walker.look.of.tid,
    };
    stream->stream =
        nytp_sampled_stream_new(&opened->session.names, &facts, nytp_part_put, stream->part);
    if (stream->stream == NULL)
        nytp_out_of_memory(&stream->part->error);
    followed->n_threads++;
    return stream;
}

static void end_stream(struct nytp_followed *followed, const struct nytp_spied_thread *thread)
{
    struct stream *const stream = thread->of_user;
    if (stream == NULL || stream->part == NULL)
        return;
    const bool is_whole =
        stream->stream != NULL &&
        nytp_sampled_stream_end(stream->stream, thread->n_looks, thread->n_torn);
    if (stream->part->error.status != NYTP_OK)
        nytp_spy_say("%s; the samples of a thread end here", stream->part->error.message);
    nytp_part_end(&followed->parts, stream->part, is_whole);
    free(stream);
}

/* For a thread that cannot be recorded while others are. */
static struct stream *lose_thread(struct nytp_followed *followed,
                                  const struct nytp_error *error)
{
    static struct stream none;
    if (followed->n_lost++ == 0)
        nytp_spy_say("threads that come now are not recorded: %s", error->message);
    return &none;
}

static bool take_sample(void *context, struct nytp_spied_thread *thread, int64_t ticks,
                        int64_t cpu_ticks)
{
    struct opened *const opened = context;
    struct nytp_error error = {0};
    if (ticks < 0) {
        end_stream(opened->followed, thread);
        return true;
    }
    if (!opened->followed->spy->idle && thread->is_waiting)
        return true;
    if (thread->of_user == NULL)
        thread->of_user = begin_stream(opened, thread, &error);
    if (thread->of_user == NULL)
        thread->of_user = lose_thread(opened->followed, &error);
    const struct stream *const stream = thread->of_user;
    if (stream->stream != NULL && stream->part->error.status == NYTP_OK &&
        !nytp_sampled_stream_add(stream->stream, &thread->stack, ticks, cpu_ticks) &&
        stream->part->error.status == NYTP_OK)
        nytp_out_of_memory(&stream->part->error);
    return true;
}

/* ---- processes ---- */

static void close_process(struct nytp_followed *followed, struct nytp_followed_process *process)
{
    struct opened *const opened = process->opened;
    if (opened == NULL)
        return;
    nytp_sampling_end(&opened->sampling);
    followed->n_looks += opened->sampling.n_looks;
    followed->n_torn += opened->sampling.n_torn;
    followed->has_folded_evals |= opened->session.names.folded_evals != 0;
    nytp_session_close(&opened->session);
    free(opened);
    process->opened = NULL;
    process->tried_ns = process->first_ns = 0; /* it may start another program now */
    process->n_tries = 0;
}

/* One is enough of those that were not named, or that a pattern found and are no perl. */
static void note_missing(struct nytp_followed *followed,
                         const struct nytp_followed_process *process)
{
    const bool is_named =
        process->why == NYTP_WAS_NAMED &&
        !(followed->spy->pattern != NULL && process->error.status == NYTP_ERR_ABSENT);
    if (process->was_opened || process->error.status == NYTP_OK ||
        (!is_named && followed->n_missing > 0) ||
        !nytp_grow(&followed->missing, &followed->missing_capacity, followed->n_missing,
                   sizeof *followed->missing))
        return;
    followed->missing[followed->n_missing++] = (struct nytp_missing){is_named, process->error};
}

static void forget_process(struct nytp_followed *followed, uint32_t i)
{
    struct nytp_followed_process *const process = followed->processes[i];
    close_process(followed, process);
    note_missing(followed, process);
    free(process);
    followed->n_processes--;
    memmove(followed->processes + i, followed->processes + i + 1,
            (followed->n_processes - i) * sizeof *followed->processes);
}

/* Returns false if the pid was reused. */
static bool is_itself(const struct nytp_followed_process *process)
{
    return nytp_process_start_ticks(process->pid) == process->start_ticks;
}

/* Returns NULL if it is there already, or if memory is out. */
static struct nytp_followed_process *add_process(struct nytp_followed *followed, pid_t pid)
{
    for (uint32_t i = 0; i < followed->n_processes; i++) {
        if (followed->processes[i]->pid != pid)
            continue;
        if (is_itself(followed->processes[i]))
            return NULL;
        forget_process(followed, i);
        break;
    }
    struct nytp_followed_process *const process = calloc(1, sizeof *process);
    if (process == NULL || !nytp_grow(&followed->processes, &followed->processes_capacity,
                                      followed->n_processes, sizeof *followed->processes)) {
        free(process);
        return NULL;
    }
    process->pid = pid;
    process->start_ticks = nytp_process_start_ticks(pid);
    followed->processes[followed->n_processes++] = process;
    return process;
}

void nytp_follow(struct nytp_followed *followed, pid_t pid, enum nytp_why_followed why)
{
    struct nytp_followed_process *const process = add_process(followed, pid);
    if (process != NULL)
        process->why = why;
}

/* Returns the time until the next try to find perl; nothing else is read meanwhile. */
static int64_t pause_ns(const struct nytp_followed_process *process)
{
    const int64_t part_ns = (process->tried_ns - process->first_ns) / 8;
    return part_ns < BEGIN_NS           ? BEGIN_NS
           : part_ns < LONGEST_PAUSE_NS ? part_ns
                                        : LONGEST_PAUSE_NS;
}

static struct opened *open_perl(struct nytp_followed *followed, pid_t pid,
                                struct nytp_error *error)
{
    struct opened *const opened = calloc(1, sizeof *opened);
    if (opened == NULL || !nytp_session_open(&opened->session, followed->spy, pid, error)) {
        free(opened);
        return NULL;
    }
    opened->followed = followed;
    nytp_process_script(pid, opened->script, sizeof opened->script);
    opened->program_s = nytp_program_start(pid);
    opened->parent = nytp_process_status(pid).parent;
    if (!nytp_process_folder(pid, opened->cwd, sizeof opened->cwd))
        opened->cwd[0] = '\0';
    gethostname(opened->host, sizeof opened->host - 1);
    opened->sampling = (struct nytp_sampling){
        .names = &opened->session.names, .sample = take_sample, .context = opened};
    return opened;
}

static bool open_process(struct nytp_followed *followed, struct nytp_followed_process *process)
{
    const int64_t now = nytp_spy_now_ns();
    if (now - process->tried_ns < pause_ns(process))
        return false;
    process->tried_ns = now;
    if (process->first_ns == 0)
        process->first_ns = now;
    process->n_tries++;
    process->error = (struct nytp_error){0};
    process->opened = open_perl(followed, process->pid, &process->error);
    process->was_opened |= process->opened != NULL;
    return process->opened != NULL;
}

static bool look(struct nytp_followed *followed, struct nytp_followed_process *process)
{
    struct opened *const opened = process->opened;
    opened->sampling.aside = followed->n_processes == 1 ? &followed->aside : NULL;
    return nytp_sampling_look(&opened->sampling);
}

static bool is_other(const struct nytp_followed_process *process)
{
    return process->why != NYTP_WAS_STARTED && !process->was_opened &&
           process->tried_ns - process->first_ns > PERL_COMES_NS &&
           (process->error.status != NYTP_ERR_TRUNCATED || process->n_tries >= LEAST_TRIES);
}

/* One round for one process, which may be starting or after exec. Returns false at its end. */
static bool look_at_process(struct nytp_followed *followed,
                            struct nytp_followed_process *process)
{
    if (process->is_given_up || (process->opened != NULL && look(followed, process)))
        return true;
    if (process->opened != NULL)
        close_process(followed, process);
    else if (open_process(followed, process))
        return true;
    process->is_given_up = process->error.status == NYTP_ERR_IO ||
                           process->error.status == NYTP_ERR_LIMIT || is_other(process);
    return !nytp_process_has_ended(process->pid);
}

void nytp_followed_look(struct nytp_followed *followed)
{
    if (followed->n_processes > 1)
        nytp_step_aside(&followed->aside, -1);
    for (uint32_t i = 0; i < followed->n_processes;)
        if (look_at_process(followed, followed->processes[i]))
            i++;
        else
            forget_process(followed, i);
}

/* ---- new processes ---- */

/* Returns the followed pids, sorted. With `adopts` also nytp-spy and its witness. */
static pid_t *pids_of(const struct nytp_followed *followed, uint32_t *n)
{
    pid_t *const pids = calloc((size_t)followed->n_processes + 2, sizeof *pids);
    *n = 0;
    for (uint32_t i = 0; pids != NULL && i < followed->n_processes; i++)
        pids[(*n)++] = followed->processes[i]->pid;
    if (pids != NULL && followed->adopts) {
        pids[(*n)++] = getpid();
        pids[(*n)++] = followed->witness;
    }
    nytp_pids_sort(pids, *n);
    return pids;
}

/* A followed pid is not reused yet: the next look finds the process's end. */
static void follow_children(struct nytp_followed *followed)
{
    uint32_t n_known, n;
    pid_t *const known = pids_of(followed, &n_known);
    pid_t *const children = nytp_children(known, n_known, &n);
    for (uint32_t i = 0; i < n; i++)
        if (!nytp_pid_is_among(children[i], known, n_known) &&
            !nytp_process_has_ended(children[i]))
            nytp_follow(followed, children[i], NYTP_WAS_STARTED);
    free(children);
    free(known);
}

/* Returns how many perls started by a process are not followed. */
static uint32_t count_left_out(pid_t pid, const pid_t *known, uint32_t n_known)
{
    uint32_t n, n_left_out = 0;
    pid_t *const children = nytp_children(&pid, 1, &n);
    for (uint32_t i = 0; i < n; i++)
        n_left_out += !nytp_pid_is_among(children[i], known, n_known) &&
                      nytp_child_may_be_perl(children[i], pid);
    free(children);
    return n_left_out;
}

static void count_children(struct nytp_followed *followed)
{
    uint32_t n_known;
    pid_t *const known = pids_of(followed, &n_known);
    for (uint32_t i = 0; i < n_known; i++) {
        const uint32_t n = count_left_out(known[i], known, n_known);
        if (n > followed->most_children) {
            followed->most_children = n;
            followed->has_children = known[i];
        }
    }
    free(known);
}

/* Finds the present matches of --pattern. If matching is given up, it does not match. */
static void find_matches(struct nytp_followed *followed)
{
    struct nytp_error error = {0};
    uint32_t n = 0;
    pid_t *const found = nytp_spy_matches(&followed->spy->patterns, &n, &error);
    for (uint32_t i = 0; i < n; i++)
        nytp_follow(followed, found[i], NYTP_WAS_FOUND);
    free(found);
}

/* Given-up processes are checked only here. */
static void forget_given_up(struct nytp_followed *followed)
{
    for (uint32_t i = followed->n_processes; i-- > 0;)
        if (followed->processes[i]->is_given_up && !is_itself(followed->processes[i]))
            forget_process(followed, i);
}

bool nytp_followed_is_over(const struct nytp_followed *followed)
{
    for (uint32_t i = 0; i < followed->n_processes; i++)
        if (!followed->processes[i]->is_given_up)
            return false;
    return true;
}

/* Listing the children of each of many threads takes time. Children that are only counted are
 * looked for ever less often: that took as long as a sixth of the looks at 100 Hz. */
static int64_t children_pause_ns(struct nytp_followed *followed, int64_t took_ns)
{
    const int64_t last_ns = followed->spy->subprocesses ? 0 : 2 * followed->children_pause_ns;
    int64_t pause_ns = last_ns > CHILDREN_NS ? last_ns : CHILDREN_NS;
    if (pause_ns > MATCHES_NS || !nytp_children_are_listed())
        pause_ns = MATCHES_NS;
    followed->children_pause_ns = pause_ns;
    return took_ns * CHILDREN_SHARE > pause_ns ? took_ns * CHILDREN_SHARE : pause_ns;
}

/* If no process is left, children that they left, like daemons, are found at once. */
void nytp_followed_find(struct nytp_followed *followed, int64_t now_ns)
{
    const struct nytp_spy *const spy = followed->spy;
    const bool children = now_ns > followed->children_ns || nytp_followed_is_over(followed);
    const bool matches = spy->pattern != NULL && now_ns - followed->matches_ns > MATCHES_NS;
    if ((children && spy->subprocesses) || matches)
        forget_given_up(followed);
    if (children) {
        const int64_t began_ns = nytp_spy_now_ns();
        if (spy->subprocesses)
            follow_children(followed);
        else if (nytp_children_are_listed())
            count_children(followed);
        followed->children_ns =
            now_ns + children_pause_ns(followed, nytp_spy_now_ns() - began_ns);
    }
    if (matches) {
        followed->matches_ns = now_ns;
        find_matches(followed);
    }
}

/* ---- all processes ---- */

bool nytp_followed_settle(struct nytp_followed *followed)
{
    bool some = false;
    for (uint32_t i = 0; i < followed->n_processes; i++)
        if (followed->processes[i]->opened != NULL)
            some |= nytp_sampling_settle(&followed->processes[i]->opened->sampling);
    return some;
}

void nytp_followed_resume(struct nytp_followed *followed)
{
    for (uint32_t i = 0; i < followed->n_processes; i++)
        if (followed->processes[i]->opened != NULL)
            nytp_sampling_resume(&followed->processes[i]->opened->sampling);
}

uint64_t nytp_followed_looks(const struct nytp_followed *followed)
{
    uint64_t n = followed->n_looks;
    for (uint32_t i = 0; i < followed->n_processes; i++)
        if (followed->processes[i]->opened != NULL)
            n += followed->processes[i]->opened->sampling.n_looks;
    return n;
}

void nytp_followed_end(struct nytp_followed *followed)
{
    while (followed->n_processes > 0)
        forget_process(followed, 0);
}

void nytp_followed_free(struct nytp_followed *followed)
{
    nytp_parts_free(&followed->parts);
    free(followed->processes);
    free(followed->missing);
}
