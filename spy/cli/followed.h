/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The processes that record follows: named ones, matches of a pattern, and their children. Each
 * of their threads has a stream.
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
    bool adopts;           /* processes whose parents end become our children */
    pid_t witness;         /* a child of ours that is not followed, or 0 */
    bool has_folded_evals; /* a process ran more than NYTP_MOST_EVALS */
    struct nytp_followed_process **processes;
    uint32_t n_processes, processes_capacity;
    struct nytp_missing *missing;
    uint32_t n_missing, missing_capacity;
    struct nytp_parts parts;
    uint64_t n_looks, n_torn;        /* of closed processes */
    uint32_t n_threads;              /* recorded ones */
    uint32_t n_lost;                 /* threads not recorded */
    uint32_t most_children;          /* most seen at one time and not followed */
    pid_t has_children;              /* their parent */
    int64_t children_ns, matches_ns; /* next search for children; last for matches */
    int64_t children_pause_ns;       /* between the last two searches for children */
    struct nytp_aside aside;
};

enum nytp_why_followed {
    NYTP_WAS_NAMED,   /* by the caller */
    NYTP_WAS_FOUND,   /* by a pattern */
    NYTP_WAS_STARTED, /* started by us or by a followed process: perl may come at any time */
};

void nytp_follow(struct nytp_followed *followed, pid_t pid, enum nytp_why_followed why);

/* Takes one sample of each. */
void nytp_followed_look(struct nytp_followed *followed);

/* Searches for new processes if that is due. */
void nytp_followed_find(struct nytp_followed *followed, int64_t now_ns);

/* Returns whether no process is left. */
bool nytp_followed_is_over(const struct nytp_followed *followed);

/* nytp_sampling_settle() and nytp_sampling_resume() for all. */
bool nytp_followed_settle(struct nytp_followed *followed);
void nytp_followed_resume(struct nytp_followed *followed);

/* Returns the number of looks so far. */
uint64_t nytp_followed_looks(const struct nytp_followed *followed);

/* Ends all streams. */
void nytp_followed_end(struct nytp_followed *followed);
void nytp_followed_free(struct nytp_followed *followed);

#endif
