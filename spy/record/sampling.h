/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A process that is looked at again and again: all its interpreters, those that come and go
 * included.
 *
 * Processor time belongs to stacks that ran. On a busy machine a program mostly stands where it
 * was last interrupted, which is no place like others: the end of a system call, above all. So
 * a sample that shows no movement is held back until the kernel's counters tell whether the
 * thread was running or only ready to run. (The clock of another process's processor time is no
 * faster: the kernel brings it up to date for those who ask about themselves.)
 */
#ifndef NYTP_SPY_SAMPLING_H
#define NYTP_SPY_SAMPLING_H

#include "spy/perl/stack.h"
#include "spy/target/process.h"

#include <sched.h>

struct nytp_spied_thread {
    struct nytp_walker walker;
    int times_fd, state_fd;  /* of its task; -1: not known which that is */
    int processor;           /* on which it ran; -1: not known */
    struct nytp_stack stack; /* of the sample that is given out or held back */
    bool is_waiting;         /* the thread waits in `stack`, not for a processor */
    uint32_t n_asleep;       /* looks in a row that saw its process sleep, */
    int64_t n_turns;         /* of this turn on a processor (times) */
    uint32_t n_held;         /* looks that saw this stack and are held back */
    int64_t held_ticks;      /* all of these */
    int64_t last_ns;         /* up to when time was given out or is held */
    struct nytp_task_times times;
    int64_t changed_ns;   /* when they were last seen to change */
    int64_t given_cpu_ns; /* how much of times.ran_ns was given to samples */
    uint64_t n_looks, n_torn;
    void *of_user; /* the user's, for the samples */
};

/* Called for each whole sample, in thread->stack, with the ticks (of sampled_stream.h) since
 * the last one and how many of them were processor time; and with ticks < 0 when the thread is
 * no more. */
typedef void nytp_sample_fn(void *context, struct nytp_spied_thread *thread, int64_t ticks,
                            int64_t cpu_ticks);

/* The processors that we may run on but for one, which is left to the target. On a busy machine
 * a look from there comes when the target makes room for it, and so always at the same places.
 */
struct nytp_aside {
    cpu_set_t processors;
    int left; /* -1: none */
};
void nytp_aside_begin(struct nytp_aside *aside);
void nytp_step_aside(struct nytp_aside *aside, int processor); /* -1: all are ours again */

/* Looks at all threads so far, and those that did not see a whole stack. */
struct nytp_look_counts {
    uint64_t n_looks, n_torn;
};

struct nytp_sampling {
    struct nytp_names *names;
    nytp_sample_fn *sample;
    void *context;
    struct nytp_spied_thread **threads;
    uint32_t n_threads, capacity;
    int64_t found_ns;         /* when was looked for interpreters */
    struct nytp_aside *aside; /* where only one process is looked at; or NULL */
    struct nytp_look_counts *counts;
};

/* When the next look is due: half a period to one and a half after the last, or, if that is
 * over, after now. Even distances would fall into step with a program that does the same again.
 */
struct nytp_pace {
    int64_t period_ns, next_ns;
    uint64_t random;          /* never 0 */
    uint64_t n_looks, n_late; /* all, and those more than a millisecond late */
    int64_t missed_ns;        /* in which looks were due that did not come */
    bool has_rested;          /* as looks took too long */
    bool may_realtime, is_realtime;
    int64_t ran_ns;     /* our own processor time when it was asked for */
    int64_t turned_ns;  /* when the last round was */
    int64_t unasked_ns; /* since then, at most */
    int64_t credit_ns;  /* processor time that we may take yet; below 0: debt */
};

/* Paces the looks, at real-time priority if that is allowed: on a busy machine, looks that wait
 * for their turn come when the scheduler changes programs, and not at random. We may use a tenth
 * of the time. A sampler that used a tenth of a second more loses the priority. After a round of
 * looks that took over a millisecond it rests nine times as long. */
struct nytp_pace nytp_pace_begin(uint32_t rate, bool realtime);
void nytp_pace_next(struct nytp_pace *pace);
void nytp_pace_end(struct nytp_pace *pace);

/* It is time: tells the pace so. */
void nytp_pace_look(struct nytp_pace *pace);

/* The next look is due now: the time since the last one was no time of looks. */
void nytp_pace_resume(struct nytp_pace *pace);

/* Returns how many samples were due where so many came. */
uint64_t nytp_pace_due(const struct nytp_pace *pace, uint64_t n_samples);

/* Look at all interpreters once. False: there is none any more. */
bool nytp_sampling_look(struct nytp_sampling *sampling);

/* Between looks, NYTP_SETTLE_NS after one and then ever less often: decide on samples that are
 * held back. True: some are yet. */
bool nytp_sampling_settle(struct nytp_sampling *sampling);
#define NYTP_SETTLE_NS 2000000

/* The time since the last look is given to no sample: we did not look. */
void nytp_sampling_resume(struct nytp_sampling *sampling);

/* No more: the callback is told of each thread that is left. */
void nytp_sampling_end(struct nytp_sampling *sampling);

#endif
