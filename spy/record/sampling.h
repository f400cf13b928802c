/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A process that is looked at again and again: all its interpreters, those that come and go
 * included.
 */
#ifndef NYTP_SPY_SAMPLING_H
#define NYTP_SPY_SAMPLING_H

#include "spy/perl/stack.h"

struct nytp_spied_thread {
    struct nytp_walker walker;
    int cpu_fd, state_fd; /* of its task; -1: not known which that is */
    bool is_waiting;      /* for something other than a processor */
    int64_t last_ns, last_cpu_ns;
    uint64_t n_looks, n_torn;
    void *of_user; /* what the samples go to */
};

/* Called for each whole sample, which is in thread->walker.stack: the ticks since the last one,
 * and how many of them were processor time; and once with ticks < 0 when the thread is no more.
 * Ticks are those of sampled_stream.h. False ends the sampling. */
typedef bool nytp_sample_fn(void *context, struct nytp_spied_thread *thread, int64_t ticks,
                            int64_t cpu_ticks);

struct nytp_sampling {
    struct nytp_names *names;
    nytp_sample_fn *sample;
    void *context;
    struct nytp_spied_thread **threads;
    uint32_t n_threads, capacity;
    int64_t found_ns; /* when was looked for interpreters */
    uint64_t n_looks, n_torn;
};

/* In nanoseconds, from some moment on. */
int64_t nytp_spy_now_ns(void);

/* Look at all interpreters once. False: there is none any more, or the callback said so. */
bool nytp_sampling_look(struct nytp_sampling *sampling);

/* No more: the callback is told of each thread that is left. */
void nytp_sampling_end(struct nytp_sampling *sampling);

#endif
