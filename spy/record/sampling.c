/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Samples of all interpreters of a process; see sampling.h.
 */
#include "sampling.h"

#include "sampled_stream.h"

#include "formats/base/arena.h"
#include "spy/perl/attach.h"
#include "spy/target/process.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    NS_PER_TICK = 1000000000 / NYTP_SPY_TICKS_PER_S,
    FIND_NS = 200000000, /* new threads are looked for that often */
};

int64_t nytp_spy_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static struct nytp_spied_thread *thread_of(const struct nytp_sampling *sampling,
                                           uint64_t address)
{
    for (uint32_t i = 0; i < sampling->n_threads; i++)
        if (sampling->threads[i]->walker.of.address == address)
            return sampling->threads[i];
    return NULL;
}

static bool add_thread(struct nytp_sampling *sampling, const struct nytp_interpreter *of)
{
    struct nytp_spied_thread *const thread = calloc(1, sizeof *thread);
    if (thread == NULL || !nytp_grow(&sampling->threads, &sampling->capacity,
                                     sampling->n_threads, sizeof *sampling->threads)) {
        free(thread);
        return false;
    }
    nytp_walker_init(&thread->walker, sampling->names, of);
    const pid_t pid = sampling->names->perl->target->pid;
    thread->cpu_fd = of->task == 0 ? -1 : nytp_task_open(pid, of->task, "schedstat");
    thread->state_fd = of->task == 0 ? -1 : nytp_task_open(pid, of->task, "stat");
    thread->last_ns = nytp_spy_now_ns();
    thread->last_cpu_ns = nytp_task_cpu_ns(thread->cpu_fd);
    sampling->threads[sampling->n_threads++] = thread;
    return true;
}

static void end_thread(struct nytp_sampling *sampling, uint32_t i)
{
    struct nytp_spied_thread *const thread = sampling->threads[i];
    sampling->sample(sampling->context, thread, -1, 0);
    nytp_walker_free(&thread->walker);
    if (thread->cpu_fd >= 0)
        close(thread->cpu_fd);
    if (thread->state_fd >= 0)
        close(thread->state_fd);
    free(thread);
    sampling->threads[i] = sampling->threads[--sampling->n_threads];
}

static bool is_in_ring(const struct nytp_perl *perl, uint64_t address)
{
    for (uint32_t i = 0; i < perl->n_interpreters; i++)
        if (perl->interpreters[i].address == address)
            return true;
    return false;
}

static void find_threads(struct nytp_sampling *sampling, int64_t now)
{
    struct nytp_perl *const perl = sampling->names->perl;
    sampling->found_ns = now;
    if (!nytp_find_interpreters(perl))
        return;
    for (uint32_t i = 0; i < perl->n_interpreters; i++)
        if (thread_of(sampling, perl->interpreters[i].address) == NULL)
            add_thread(sampling, &perl->interpreters[i]);
    for (uint32_t i = sampling->n_threads; i-- > 0;)
        if (!is_in_ring(perl, sampling->threads[i]->walker.of.address))
            end_thread(sampling, i);
}

static bool take(struct nytp_sampling *sampling, struct nytp_spied_thread *thread)
{
    const int64_t now = nytp_spy_now_ns(), cpu = nytp_task_cpu_ns(thread->cpu_fd);
    const int64_t ticks = (now - thread->last_ns) / NS_PER_TICK;
    const bool has_cpu = cpu >= 0 && thread->last_cpu_ns >= 0;
    const int64_t cpu_ticks = has_cpu ? (cpu - thread->last_cpu_ns) / NS_PER_TICK : ticks;
    thread->last_ns += ticks * NS_PER_TICK;
    thread->last_cpu_ns = has_cpu ? thread->last_cpu_ns + cpu_ticks * NS_PER_TICK : cpu;
    return sampling->sample(sampling->context, thread, ticks, cpu_ticks);
}

bool nytp_sampling_look(struct nytp_sampling *sampling)
{
    const int64_t now = nytp_spy_now_ns();
    if (now - sampling->found_ns > FIND_NS)
        find_threads(sampling, now);
    for (uint32_t i = sampling->n_threads; i-- > 0;) {
        struct nytp_spied_thread *const thread = sampling->threads[i];
        const enum nytp_sampled sampled = nytp_sample(&thread->walker);
        const char state = nytp_task_state(thread->state_fd);
        thread->is_waiting = state == 'S' || state == 'D';
        if (sampled == NYTP_GONE) {
            end_thread(sampling, i);
            continue;
        }
        thread->n_looks++;
        sampling->n_looks++;
        if (sampled == NYTP_TORN) {
            thread->n_torn++;
            sampling->n_torn++;
        } else if (!take(sampling, thread)) {
            return false;
        }
    }
    return sampling->n_threads > 0;
}

void nytp_sampling_end(struct nytp_sampling *sampling)
{
    while (sampling->n_threads > 0)
        end_thread(sampling, sampling->n_threads - 1);
    free(sampling->threads);
    sampling->threads = NULL;
    sampling->capacity = 0;
}
