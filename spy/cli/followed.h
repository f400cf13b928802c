/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The processes that record looks at: those that were named, those that a pattern finds, and
 * those that these start. Each thread of theirs has a stream.
 */
#ifndef NYTP_SPY_FOLLOWED_H
#define NYTP_SPY_FOLLOWED_H

#include "cli.h"

#include "spy/record/parts.h"
#include "spy/record/sampling.h"

struct nytp_followed_process;

struct nytp_missing { /* a process that is not recorded */
    bool is_named;
    struct nytp_error error;
};

struct nytp_followed {
    const struct nytp_spy *spy;
    bool adopts;           /* processes whose parents end become ours */
    pid_t witness;         /* a child of ours that is not looked at, or 0 */
    bool has_folded_evals; /* as a process ran more than NYTP_MOST_EVALS */
    struct nytp_followed_process **processes;
    uint32_t n_processes, processes_capacity;
    struct nytp_missing *missing;
    uint32_t n_missing, missing_capacity;
    struct nytp_parts parts;
    uint64_t n_looks, n_torn;        /* of the processes that are closed */
    uint32_t n_threads;              /* that were recorded */
    uint32_t n_lost;                 /* threads that are not recorded */
    uint32_t most_children;          /* that were seen at one time and not followed */
    pid_t has_children;              /* the process that had them */
    int64_t children_ns, matches_ns; /* when children are looked for next, matches were last */
    struct nytp_aside aside;
};

enum nytp_why_followed {
    NYTP_WAS_NAMED,   /* by who called */
    NYTP_WAS_FOUND,   /* by a pattern */
    NYTP_WAS_STARTED, /* perl may come whenever it will: it was started, or by one */
};

void nytp_follow(struct nytp_followed *followed, pid_t pid, enum nytp_why_followed why);

/* One look at each. */
void nytp_followed_look(struct nytp_followed *followed);

/* Look for new ones, if it is time for that. */
void nytp_followed_find(struct nytp_followed *followed, int64_t now_ns);

/* Whether there is none any more at which it is looked. */
bool nytp_followed_is_over(const struct nytp_followed *followed);

/* As nytp_sampling_settle() and nytp_sampling_resume(), of all. */
bool nytp_followed_settle(struct nytp_followed *followed);
void nytp_followed_resume(struct nytp_followed *followed);

/* Looks so far. */
uint64_t nytp_followed_looks(const struct nytp_followed *followed);

/* No more: all streams are ended. */
void nytp_followed_end(struct nytp_followed *followed);
void nytp_followed_free(struct nytp_followed *followed);

#endif
