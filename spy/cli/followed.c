/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The processes that record and top follow; see followed.h.
 */
#define _GNU_SOURCE
#include "followed.h"

#include "spy/target/process.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    CHILDREN_NS = 50000000,  /* interval of searches for new processes, */
    CHILDREN_SHARE = 50,     /* searches take at most 1/50 of the time */
    MATCHES_NS = 1000000000, /* interval for --pattern, and if the kernel lists no children */
    BEGIN_NS = 2000000,      /* interval of tries while a program starts, */
    LONGEST_PAUSE_NS = 50000000, /* growing to an eighth of the time since, up to this */
    PERL_COMES_NS = 1000000000,  /* time for a process without perl to become one */
    LEAST_TRIES = 20,            /* for a perl whose memory changes while it is read */
};

/* ---- processes ---- */

static void close_process(struct nytp_followed_process *process)
{
    struct nytp_followed *const followed = process->followed;
    if (process->session == NULL)
        return;
    nytp_sampling_end(&process->sampling);
    followed->closed(process);
    nytp_session_close(process->session);
    free(process->session);
    process->session = NULL;
    process->tried_ns = process->first_ns = 0; /* the process may start another program now */
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
        (!is_named && followed->missing.n > 0) || !NYTP_GROW(&followed->missing))
        return;
    followed->missing.at[followed->missing.n++] =
        (struct nytp_missing){is_named, process->error};
}

static void forget_process(struct nytp_followed *followed, uint32_t i)
{
    struct nytp_followed_process *const process = followed->processes.at[i];
    close_process(process);
    note_missing(followed, process);
    free(process);
    followed->processes.n--;
    memmove(followed->processes.at + i, followed->processes.at + i + 1,
            (followed->processes.n - i) * sizeof *followed->processes.at);
}

/* Returns false if the pid was reused. */
static bool is_itself(const struct nytp_followed_process *process)
{
    return nytp_process_start_ticks(process->pid) == process->start_ticks;
}

/* Returns whether it is followed already. A reused pid is not any more. */
static bool is_followed(struct nytp_followed *followed, pid_t pid)
{
    for (uint32_t i = 0; i < followed->processes.n; i++) {
        if (followed->processes.at[i]->pid != pid)
            continue;
        if (is_itself(followed->processes.at[i]))
            return true;
        forget_process(followed, i);
        break;
    }
    return false;
}

struct nytp_followed_process *nytp_follow(struct nytp_followed *followed, pid_t pid,
                                          enum nytp_why_followed why)
{
    if (is_followed(followed, pid))
        return NULL;
    if (followed->processes.n == followed->most_processes) {
        followed->has_left_out = true;
        return NULL;
    }
    struct nytp_followed_process *const process = calloc(1, sizeof *process);
    if (process == NULL || !NYTP_GROW(&followed->processes)) {
        free(process);
        return NULL;
    }
    *process = (struct nytp_followed_process){.followed = followed,
                                              .pid = pid,
                                              .start_ticks = nytp_process_start_ticks(pid),
                                              .why = why};
    followed->n_ever++;
    return followed->processes.at[followed->processes.n++] = process;
}

/* Returns the time until the next try to find perl; nothing else is read meanwhile. */
static int64_t pause_ns(const struct nytp_followed_process *process)
{
    const int64_t part_ns = (process->tried_ns - process->first_ns) / 8;
    return part_ns < BEGIN_NS           ? BEGIN_NS
           : part_ns < LONGEST_PAUSE_NS ? part_ns
                                        : LONGEST_PAUSE_NS;
}

typedef bool open_fn(struct nytp_session *session, const struct nytp_spy *spy, pid_t pid,
                     struct nytp_error *error);

static bool try_to_open(struct nytp_followed_process *process, open_fn *open)
{
    struct nytp_followed *const followed = process->followed;
    struct nytp_session *const session = malloc(sizeof *session);
    process->tried_ns = nytp_spy_now_ns();
    if (process->first_ns == 0)
        process->first_ns = process->tried_ns;
    process->n_tries++;
    process->error = (struct nytp_error){0};
    if (session == NULL || !open(session, followed->spy, process->pid, &process->error)) {
        free(session);
        return false;
    }
    process->session = session;
    process->was_opened = true;
    process->sampling = (struct nytp_sampling){.names = &session->names,
                                               .sample = followed->sample,
                                               .context = process,
                                               .counts = &followed->counts};
    if (followed->opened(process))
        return true;
    close_process(process);
    return false;
}

bool nytp_followed_await(struct nytp_followed_process *process)
{
    return try_to_open(process, nytp_session_await);
}

static bool look(struct nytp_followed_process *process)
{
    struct nytp_followed *const followed = process->followed;
    process->sampling.aside = followed->processes.n == 1 ? &followed->aside : NULL;
    return nytp_sampling_look(&process->sampling);
}

static bool is_other(const struct nytp_followed_process *process)
{
    const bool is_awaited = process->followed->is_recording &&
                            (process->why == NYTP_WAS_STARTED || process->was_opened);
    return !is_awaited && process->tried_ns - process->first_ns > PERL_COMES_NS &&
           (process->error.status != NYTP_ERR_TRUNCATED || process->n_tries >= LEAST_TRIES);
}

/* One round for one process, which may be starting or after exec. Returns false at its end. */
static bool look_at_process(struct nytp_followed_process *process)
{
    if (process->is_given_up)
        return true;
    if (process->session == NULL && nytp_spy_now_ns() - process->tried_ns >= pause_ns(process))
        try_to_open(process, nytp_session_open);
    if (process->session != NULL && look(process))
        return true;
    close_process(process);
    process->is_given_up = process->error.status == NYTP_ERR_IO ||
                           process->error.status == NYTP_ERR_LIMIT || is_other(process);
    return is_itself(process) && !nytp_process_has_ended(process->pid);
}

void nytp_followed_look(struct nytp_followed *followed)
{
    if (followed->processes.n > 1)
        nytp_step_aside(&followed->aside, -1);
    for (uint32_t i = 0; i < followed->processes.n;)
        if (look_at_process(followed->processes.at[i]))
            i++;
        else
            forget_process(followed, i);
}

/* ---- new processes ---- */

/* Returns the followed pids, sorted. With `adopts` also nytp-spy and its witness. */
static pid_t *pids_of(const struct nytp_followed *followed, uint32_t *n)
{
    pid_t *const pids = calloc((size_t)followed->processes.n + 2, sizeof *pids);
    *n = 0;
    for (uint32_t i = 0; pids != NULL && i < followed->processes.n; i++)
        pids[(*n)++] = followed->processes.at[i]->pid;
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
    for (uint32_t i = followed->processes.n; i-- > 0;)
        if (followed->processes.at[i]->is_given_up && !is_itself(followed->processes.at[i]))
            forget_process(followed, i);
}

bool nytp_followed_is_over(const struct nytp_followed *followed)
{
    for (uint32_t i = 0; i < followed->processes.n; i++)
        if (!followed->processes.at[i]->is_given_up)
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
        else if (followed->is_recording && nytp_children_are_listed())
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

static bool settle(struct nytp_followed *followed)
{
    bool some = false;
    for (uint32_t i = 0; i < followed->processes.n; i++)
        some |= nytp_sampling_settle(&followed->processes.at[i]->sampling);
    return some;
}

bool nytp_followed_wait(struct nytp_followed *followed, int64_t then_ns, int input)
{
    struct pollfd wanted = {.fd = input, .events = POLLIN};
    int64_t now, step = NYTP_SETTLE_NS;
    while ((now = nytp_spy_now_ns()) < then_ns && !nytp_spy_stop) {
        const int64_t next = now + step;
        const int64_t until = next < then_ns && settle(followed) ? next : then_ns;
        const int64_t left = until - nytp_spy_now_ns();
        const struct timespec time = {left / 1000000000, left % 1000000000};
        if (left > 0 && ppoll(&wanted, 1, &time, NULL) > 0)
            return true;
        step *= 2;
    }
    return false;
}

void nytp_followed_resume(struct nytp_followed *followed)
{
    for (uint32_t i = 0; i < followed->processes.n; i++)
        nytp_sampling_resume(&followed->processes.at[i]->sampling);
}

void nytp_followed_end(struct nytp_followed *followed)
{
    while (followed->processes.n > 0)
        forget_process(followed, 0);
}

void nytp_followed_free(struct nytp_followed *followed)
{
    free(followed->processes.at);
    free(followed->missing.at);
}
