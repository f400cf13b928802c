/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Samples of all interpreters of a process; see sampling.h.
 */
#define _GNU_SOURCE
#include "sampling.h"

#include "sampled_stream.h"

#include "formats/base/arena.h"
#include "spy/perl/attach.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    NS_PER_TICK = 1000000000 / NYTP_SPY_TICKS_PER_S,
    FIND_NS = 200000000, /* new threads are looked for that often */
    STATE_LOOKS = 16,
    ASLEEP = 3,                 /* looks at a sleeper: the last two saw it where it sleeps */
    LATE_NS = 1000000,          /* a wake that nobody is in the way of takes a tenth of it */
    LONGEST_TICK_NS = 20000000, /* kernels count at least each 10 ms */
    SHARE = 10,                 /* one part in so many of a processor is ours */
    LONG_NS = 1000000,          /* a round of looks that takes a rest */
    WAKE_NS = 20000,            /* time of a round beside its looks */
    MOST_CREDIT_NS = 100000000, /* attaching to some processes at once is no reason to rest */
};

/* A new thread often has the memory of one that has ended. */
static bool is_same_thread(const struct nytp_interpreter *a, const struct nytp_interpreter *b)
{
    return a->address == b->address && a->tid == b->tid;
}

static bool is_looked_at(const struct nytp_sampling *sampling,
                         const struct nytp_interpreter *of)
{
    uint32_t i = 0;
    while (i < sampling->n_threads &&
           !is_same_thread(&sampling->threads[i]->walker.look.of, of))
        i++;
    return i < sampling->n_threads;
}

static bool add_thread(struct nytp_sampling *sampling, const struct nytp_interpreter *of)
{
    struct nytp_spied_thread *const thread = calloc(1, sizeof *thread);
    if (thread == NULL || !nytp_walker_init(&thread->walker, sampling->names, of) ||
        !nytp_grow(&sampling->threads, &sampling->capacity, sampling->n_threads,
                   sizeof *sampling->threads)) {
        if (thread != NULL)
            nytp_walker_free(&thread->walker);
        free(thread);
        return false;
    }
    const pid_t pid = sampling->names->perl->target->pid;
    thread->processor = -1;
    thread->times_fd = of->task == 0 ? -1 : nytp_task_open(pid, of->task, "schedstat");
    thread->state_fd = of->task == 0 ? -1 : nytp_task_open(pid, of->task, "stat");
    thread->last_ns = thread->changed_ns = nytp_spy_now_ns();
    thread->times = nytp_task_times(thread->times_fd);
    thread->given_cpu_ns = thread->times.ran_ns;
    sampling->threads[sampling->n_threads++] = thread;
    return true;
}

/* Gives out the samples held back, with no more processor time than the kernel has counted.
 * Time that a sample cannot have, since it is longer than the sample, goes to later ones. */
static void give(struct nytp_sampling *sampling, struct nytp_spied_thread *thread, bool ran)
{
    for (; thread->n_held > 0; thread->n_held--) {
        const int64_t ticks = thread->held_ticks / thread->n_held;
        const int64_t owed = (thread->times.ran_ns - thread->given_cpu_ns) / NS_PER_TICK;
        const int64_t cpu = !ran ? 0 : thread->times.ran_ns < 0 || owed > ticks ? ticks : owed;
        thread->held_ticks -= ticks;
        thread->given_cpu_ns += cpu * NS_PER_TICK;
        sampling->sample(sampling->context, thread, ticks, cpu);
    }
}

static void end_thread(struct nytp_sampling *sampling, uint32_t i)
{
    struct nytp_spied_thread *const thread = sampling->threads[i];
    give(sampling, thread, true);
    sampling->sample(sampling->context, thread, -1, 0);
    nytp_walker_free(&thread->walker);
    free(thread->stack.frames);
    if (thread->times_fd >= 0)
        close(thread->times_fd);
    if (thread->state_fd >= 0)
        close(thread->state_fd);
    free(thread);
    sampling->threads[i] = sampling->threads[--sampling->n_threads];
}

static bool is_in_ring(const struct nytp_perl *perl, const struct nytp_interpreter *of)
{
    for (uint32_t i = 0; i < perl->n_interpreters; i++)
        if (is_same_thread(&perl->interpreters[i], of))
            return true;
    return false;
}

/* Returns whether there can be no other interpreter than the one that is known: looking for
 * them takes twenty calls of the system. */
static bool is_alone(const struct nytp_sampling *sampling)
{
    if (sampling->n_threads != 1)
        return false;
    const struct nytp_spied_thread *const thread = sampling->threads[0];
    return nytp_task_state(thread->state_fd).n_tasks == 1 &&
           nytp_attached_interpreter(sampling->names->perl) == thread->walker.look.of.address;
}

static void find_threads(struct nytp_sampling *sampling, int64_t now)
{
    struct nytp_perl *const perl = sampling->names->perl;
    sampling->found_ns = now;
    if (is_alone(sampling) || !nytp_find_interpreters(perl))
        return;
    for (uint32_t i = 0; i < perl->n_interpreters; i++)
        if (!is_looked_at(sampling, &perl->interpreters[i]))
            add_thread(sampling, &perl->interpreters[i]);
    for (uint32_t i = sampling->n_threads; i-- > 0;)
        if (!is_in_ring(perl, &sampling->threads[i]->walker.look.of))
            end_thread(sampling, i);
}

/* ---- did it run ---- */

/* Gives out the samples held back, as running if the thread has had a processor since. */
static void settle(struct nytp_sampling *sampling, struct nytp_spied_thread *thread)
{
    const struct nytp_task_times before = thread->times;
    const struct nytp_task_times times = nytp_task_times(thread->times_fd);
    const int64_t now = nytp_spy_now_ns();
    if (times.ran_ns != before.ran_ns || times.waited_ns != before.waited_ns)
        thread->changed_ns = now;
    else if (now - thread->changed_ns < LONGEST_TICK_NS)
        return;
    thread->times = times;
    give(sampling, thread, times.ran_ns != before.ran_ns);
}

static bool is_same_stack(const struct nytp_stack *a, const struct nytp_stack *b)
{
    if (a->n != b->n || a->n_left_out != b->n_left_out || a->xsub != b->xsub ||
        a->builtin != b->builtin)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (a->frames[i].cv != b->frames[i].cv || a->frames[i].cop != b->frames[i].cop)
            return false;
    return true;
}

/* The kernel takes ten microseconds to tell it. What moved while we looked was running, and the
 * processor it runs on is asked for now and then. */
static struct nytp_task_state state_of(const struct nytp_spied_thread *thread)
{
    if (thread->n_asleep >= ASLEEP)
        return (struct nytp_task_state){'S', thread->processor, 1};
    if (thread->walker.has_moved && thread->n_looks % STATE_LOOKS != 0)
        return (struct nytp_task_state){.letter = 'R', .processor = thread->processor};
    return nytp_task_state(thread->state_fd);
}

/* Whether the last two looks saw what there is now: the only thread has had no processor since.
 */
static bool sleeps_on(struct nytp_spied_thread *thread)
{
    if (thread->n_asleep >= ASLEEP &&
        nytp_task_times(thread->times_fd).n_turns != thread->n_turns)
        thread->n_asleep = 0;
    return thread->n_asleep >= ASLEEP;
}

/* Holds the sample back, or gives it out if it is clear whether the thread ran. Its time ends
 * when the look began, as looks at a moving program take longer. */
static void take(struct nytp_sampling *sampling, struct nytp_spied_thread *thread, int64_t now)
{
    const struct nytp_task_state state = state_of(thread);
    const struct nytp_stack stack = thread->walker.stack;
    const bool is_same = thread->n_held > 0 && is_same_stack(&thread->stack, &stack);
    const int64_t ticks = (now - thread->last_ns) / NS_PER_TICK;
    if (!is_same)
        give(sampling, thread, true);
    thread->walker.stack = thread->stack;
    thread->stack = stack;
    thread->is_waiting = state.letter == 'S' || state.letter == 'D';
    thread->processor = state.processor;
    const bool sleeps = thread->is_waiting && state.n_tasks == 1 && thread->times.n_turns > 0 &&
                        thread->times.n_turns == thread->n_turns;
    thread->n_asleep = sleeps ? thread->n_asleep + 1 : 0;
    thread->n_turns = thread->times.n_turns;
    thread->n_held++;
    thread->held_ticks += ticks;
    thread->last_ns += ticks * NS_PER_TICK;
    if (sampling->aside != NULL)
        nytp_step_aside(sampling->aside, state.processor);
    if (thread->is_waiting || thread->walker.has_moved || thread->times.ran_ns < 0)
        give(sampling, thread, !thread->is_waiting);
}

void nytp_sampling_resume(struct nytp_sampling *sampling)
{
    const int64_t now = nytp_spy_now_ns();
    for (uint32_t i = 0; i < sampling->n_threads; i++) {
        struct nytp_spied_thread *const thread = sampling->threads[i];
        settle(sampling, thread);
        thread->times = nytp_task_times(thread->times_fd);
        thread->given_cpu_ns = thread->times.ran_ns;
        thread->last_ns = thread->changed_ns = now;
    }
}

bool nytp_sampling_settle(struct nytp_sampling *sampling)
{
    bool some = false;
    for (uint32_t i = 0; i < sampling->n_threads; i++) {
        struct nytp_spied_thread *const thread = sampling->threads[i];
        if (thread->n_held > 0)
            settle(sampling, thread);
        some |= thread->n_held > 0;
    }
    return some;
}

/* ---- where and when ---- */

void nytp_aside_begin(struct nytp_aside *aside)
{
    aside->left = -1;
    sched_getaffinity(0, sizeof aside->processors, &aside->processors);
}

void nytp_step_aside(struct nytp_aside *aside, int processor)
{
    cpu_set_t others = aside->processors;
    if (processor == aside->left)
        return;
    aside->left = processor;
    if (processor >= 0 && processor < CPU_SETSIZE)
        CPU_CLR((size_t)processor, &others);
    if (CPU_COUNT(&others) > 0)
        sched_setaffinity(0, sizeof others, &others);
}

static int64_t our_own_ns(void)
{
    struct timespec ran;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran);
    return (int64_t)ran.tv_sec * 1000000000 + ran.tv_nsec;
}

static void take_priority(struct nytp_pace *pace, bool realtime)
{
    if (!pace->may_realtime || realtime == pace->is_realtime)
        return;
    const int policy = realtime ? SCHED_RR : SCHED_OTHER;
    const struct sched_param lowest = {.sched_priority = sched_get_priority_min(policy)};
    if (sched_setscheduler(0, policy | SCHED_RESET_ON_FORK, &lowest) == 0)
        pace->is_realtime = realtime;
}

struct nytp_pace nytp_pace_begin(uint32_t rate, bool realtime)
{
    const int64_t now = nytp_spy_now_ns();
    struct nytp_pace pace = {.period_ns = 1000000000 / rate,
                             .next_ns = now,
                             .random = (uint64_t)now | 1,
                             .may_realtime = realtime,
                             .ran_ns = our_own_ns(),
                             .turned_ns = now,
                             .credit_ns = MOST_CREDIT_NS};
    take_priority(&pace, true);
    return pace;
}

void nytp_pace_look(struct nytp_pace *pace)
{
    pace->n_looks++;
    pace->n_late += nytp_spy_now_ns() - pace->next_ns > LATE_NS;
}

/* Charges what the last round has taken, and returns how much that was at most. The kernel is
 * asked where that may be long, or more than the credit. */
static int64_t account(struct nytp_pace *pace, int64_t now)
{
    const int64_t most_ns = now - pace->next_ns + WAKE_NS;
    const int64_t earned_ns = (now - pace->turned_ns) / SHARE;
    pace->credit_ns = earned_ns < MOST_CREDIT_NS - pace->credit_ns ? pace->credit_ns + earned_ns
                                                                   : MOST_CREDIT_NS;
    pace->turned_ns = now;
    pace->unasked_ns += most_ns;
    if (most_ns <= LONG_NS && pace->unasked_ns < pace->credit_ns)
        return most_ns;
    const int64_t ran_ns = our_own_ns(), took_ns = ran_ns - pace->ran_ns;
    pace->credit_ns -= took_ns;
    pace->ran_ns = ran_ns;
    pace->unasked_ns = 0;
    take_priority(pace, pace->credit_ns > 0);
    return took_ns < most_ns ? took_ns : most_ns;
}

static int64_t distance_to_next(struct nytp_pace *pace)
{
    pace->random ^= pace->random << 13;
    pace->random ^= pace->random >> 7;
    pace->random ^= pace->random << 17;
    return pace->period_ns / 2 + (int64_t)(pace->random % (uint64_t)pace->period_ns);
}

/* Missed looks are not made up for. */
void nytp_pace_next(struct nytp_pace *pace)
{
    const int64_t now = nytp_spy_now_ns(), took = account(pace, now);
    const int64_t distance = distance_to_next(pace), due = pace->next_ns + distance;
    const bool rests = took > LONG_NS && pace->credit_ns < 0;
    const int64_t earliest = rests ? now + (SHARE - 1) * took : now;
    pace->next_ns = due >= earliest ? due : rests ? earliest : now + distance;
    pace->missed_ns += pace->next_ns - due;
    pace->has_rested |= rests && pace->next_ns > due;
}

void nytp_pace_resume(struct nytp_pace *pace)
{
    pace->next_ns = nytp_spy_now_ns();
}

void nytp_pace_end(struct nytp_pace *pace)
{
    take_priority(pace, false);
}

uint64_t nytp_pace_due(const struct nytp_pace *pace, uint64_t n_samples)
{
    const uint64_t n_missed = (uint64_t)(pace->missed_ns / pace->period_ns);
    return pace->n_looks == 0 ? n_samples
                              : n_samples + (uint64_t)((double)n_samples * (double)n_missed /
                                                       (double)pace->n_looks);
}

/* ---- a look ---- */

bool nytp_sampling_look(struct nytp_sampling *sampling)
{
    const int64_t now = nytp_spy_now_ns();
    if (now - sampling->found_ns > FIND_NS)
        find_threads(sampling, now);
    for (uint32_t i = sampling->n_threads; i-- > 0;) {
        struct nytp_spied_thread *const thread = sampling->threads[i];
        const int64_t began_ns = nytp_spy_now_ns();
        const bool is_asleep = sleeps_on(thread);
        const enum nytp_sampled sampled = is_asleep ? NYTP_WHOLE : nytp_sample(&thread->walker);
        if (sampled == NYTP_GONE) {
            end_thread(sampling, i);
            continue;
        }
        thread->n_looks++;
        sampling->counts->n_looks++;
        if (!is_asleep)
            settle(sampling, thread);
        if (sampled == NYTP_TORN) {
            thread->n_asleep = 0;
            thread->n_torn++;
            sampling->counts->n_torn++;
        } else {
            take(sampling, thread, began_ns);
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
