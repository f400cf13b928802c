/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The processes that record and top follow: named ones, matches of a pattern, and their
 * children.
 */
#ifndef NYTP_SPY_FOLLOWED_H
#define NYTP_SPY_FOLLOWED_H

#include "cli.h"

#include "formats/base/arena.h"
#include "spy/record/sampling.h"

struct nytp_followed;

enum nytp_why_followed {
    NYTP_WAS_NAMED,   /* by the caller */
    NYTP_WAS_FOUND,   /* by a pattern */
    NYTP_WAS_STARTED, /* started by us or by a followed process: perl may come at any time */
};

struct nytp_followed_process {
    struct nytp_followed *followed;
    pid_t pid;
    uint64_t start_ticks;          /* distinguishes it from a later one with this pid */
    struct nytp_session *session;  /* NULL: no perl, or not yet */
    struct nytp_sampling sampling; /* of no threads while it is not open */
    enum nytp_why_followed why;
    bool was_opened,            /* perl was found */
        is_given_up;            /* the process is no perl, or may not be read */
    int64_t tried_ns, first_ns; /* last and first try to find perl */
    uint32_t n_tries;
    struct nytp_error error; /* why it is not open */
    void *of_command;        /* for the callbacks, from `opened` to `closed` */
};

struct nytp_missing { /* a process of which there was no sample */
    bool is_named;
    struct nytp_error error;
};

struct nytp_followed {
    const struct nytp_spy *spy;
    void *command;                                         /* for the callbacks */
    nytp_sample_fn *sample;                                /* its context is the process */
    bool (*opened)(struct nytp_followed_process *process); /* false: memory is out */
    void (*closed)(struct nytp_followed_process *process); /* its session is open yet */
    uint32_t most_processes;                               /* at one time */
    /* Waits for perl in what was started, or was a perl, as long as it is there. Counts
     * children that are not followed. */
    bool is_recording;
    bool adopts;       /* processes whose parents end become our children */
    pid_t witness;     /* a child of ours that is not followed, or 0 */
    bool has_left_out; /* there were more than most_processes */
    NYTP_LIST(struct nytp_followed_process *) processes;
    uint32_t n_ever;
    NYTP_LIST(struct nytp_missing) missing;
    struct nytp_look_counts counts;
    uint32_t most_children;          /* most seen at one time and not followed */
    pid_t has_children;              /* their parent */
    int64_t children_ns, matches_ns; /* next search for children; last for matches */
    int64_t children_pause_ns;       /* between the last two searches for children */
    struct nytp_aside aside;
};

/* Returns NULL if it is followed already, if there are too many, or if memory is out. */
struct nytp_followed_process *nytp_follow(struct nytp_followed *followed, pid_t pid,
                                          enum nytp_why_followed why);

/* Waits a while for perl to start in a process, if there is nothing else to look at. Returns
 * false with process->error set. */
bool nytp_followed_await(struct nytp_followed_process *process);

/* Takes one sample of each. */
void nytp_followed_look(struct nytp_followed *followed);

/* Searches for new processes if that is due. */
void nytp_followed_find(struct nytp_followed *followed, int64_t now_ns);

/* Returns whether no process is left. */
bool nytp_followed_is_over(const struct nytp_followed *followed);

/* Waits until then, and decides meanwhile on samples that are held back. Returns true earlier
 * if `input` can be read; -1: there is none. */
bool nytp_followed_wait(struct nytp_followed *followed, int64_t then_ns, int input);

/* nytp_sampling_resume() for all. */
void nytp_followed_resume(struct nytp_followed *followed);

/* Closes all. */
void nytp_followed_end(struct nytp_followed *followed);
void nytp_followed_free(struct nytp_followed *followed);

#endif
