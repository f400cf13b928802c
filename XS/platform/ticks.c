/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Ticks; see ticks.h.
 *
 * A lock guards what the thread and the program share. The thread only tries it, and leaves a
 * tick out if it is taken. The others spin: the thread holds it for less than a microsecond, or
 * while it answers a descriptor.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "ticks.h"

#include "formats/base/platform.h"

#include "rights.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

enum {
    STACK_BYTES = 262144,        /* thread-local storage of libraries lies there, too */
    LONGEST_POLL_NS = 200000000, /* poll() cannot be woken: changes are noticed after that */
    RIGHTS_NS = 10000000,        /* interval of looks at the program's rights */
};

static struct {
    atomic_flag lock;
    struct nytp_ring *rings;
    struct nytp_tick_watch *watch;
    _Atomic uint32_t period_us;
    _Atomic bool stops;
    _Atomic uint32_t wakes; /* counts what a waiting thread is to take notice of */
    pthread_t thread;
    bool is_running;              /* it was started and not joined */
    _Atomic long thread_number;   /* the kernel's, once it runs; 0: not yet */
    struct nytp_rights rights;    /* with which it was started */
    _Atomic bool looks_at_rights; /* the program is to do so */
    _Atomic bool is_outdated;     /* the thread: it is to leave */
    _Atomic bool has_left;        /* by itself */
} ticks = {.lock = ATOMIC_FLAG_INIT};

/* ---- in the thread ---- */

static bool try_to_hold(void)
{
    return !atomic_flag_test_and_set_explicit(&ticks.lock, memory_order_acquire);
}

void nytp_ticks_let_go(void)
{
    atomic_flag_clear_explicit(&ticks.lock, memory_order_release);
}

/* One tick for one ring. While the program shows the same words (it sleeps, or runs one long
 * op), or the ring is full, the newest entry is counted up. The words are read first: a system
 * call before them may wait until the program has changed its memory, and hide what does that.
 */
static void look(struct nytp_ring *ring)
{
    const void *seen[NYTP_TICK_WORDS];
    const uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    const uint32_t n = head - atomic_load_explicit(&ring->tail, memory_order_acquire);
    struct nytp_tick *tick = &ring->ticks[(head - 1) % NYTP_TICKS_IN_RING];
    bool is_same = n > 0;
    for (int i = 0; i < NYTP_TICK_WORDS; i++) {
        seen[i] = __atomic_load_n(ring->look_at[i], __ATOMIC_RELAXED);
        is_same = is_same && seen[i] == tick->words[i];
    }
    const bool is_new = !is_same && n < NYTP_TICKS_IN_RING;
    if (is_new) {
        tick = &ring->ticks[head % NYTP_TICKS_IN_RING];
        for (int i = 0; i < NYTP_TICK_WORDS; i++)
            tick->words[i] = seen[i];
        tick->copy.n_calls = -1;
        if (ring->copy != NULL)
            ring->copy(ring, tick);
        tick->wait.reason = NYTP_WAIT_UNKNOWN;
        atomic_store_explicit(&tick->n, 0, memory_order_relaxed);
    }
    nytp_wait_look(&ring->call, ring->pid, &tick->wait);
    const uint64_t cpu_ns = nytp_kernel_clock_ns(ring->cpu_clock);
    if (is_new)
        tick->blocked_cpu_ns = tick->wait.reason != NYTP_WAIT_UNKNOWN ? cpu_ns : 0;
    atomic_store_explicit(&tick->cpu_ns, cpu_ns, memory_order_relaxed);
    atomic_store_explicit(&tick->ns, nytp_kernel_clock_ns(ring->clock), memory_order_relaxed);
    atomic_fetch_add_explicit(&tick->n, 1, memory_order_relaxed);
    if (is_new)
        atomic_store_explicit(&ring->head, head + 1, memory_order_release);
    atomic_fetch_add_explicit(&ring->n_ticks, 1, memory_order_relaxed);
    __atomic_store_n(ring->asked, 1, __ATOMIC_RELAXED);
}

static void tick_all(void)
{
    if (!try_to_hold())
        return;
    for (struct nytp_ring *ring = ticks.rings; ring != NULL; ring = ring->next) {
        look(ring);
        if (ring->ticked != NULL)
            ring->ticked(ring);
    }
    nytp_ticks_let_go();
}

/* A copy of the descriptors that the thread waits for: the original may change meanwhile. */
struct awaited {
    struct nytp_tick_watch *watch; /* NULL: no descriptors */
    struct pollfd fds[NYTP_TICK_FDS];
    unsigned n;
    uint64_t until_ns;
    uint64_t again_ns; /* stays when a tick comes in between; UINT64_MAX: not asked for */
};

static void prepare_wait(struct awaited *wait, uint64_t now_ns, uint64_t until_ns)
{
    const uint64_t planned_ns = wait->again_ns;
    wait->until_ns = until_ns;
    wait->again_ns = UINT64_MAX;
    wait->watch = NULL;
    if (!try_to_hold()) {
        wait->again_ns = planned_ns;
        wait->until_ns = now_ns; /* and try again */
        return;
    }
    if (ticks.watch != NULL) {
        wait->watch = ticks.watch;
        wait->n = ticks.watch->n;
        memcpy(wait->fds, ticks.watch->fds, sizeof wait->fds);
        if (ticks.watch->again_ms > 0)
            wait->again_ns = planned_ns != UINT64_MAX
                                 ? planned_ns
                                 : now_ns + (uint64_t)ticks.watch->again_ms * 1000000;
    }
    nytp_ticks_let_go();
}

static void answer(struct awaited *wait)
{
    if (!try_to_hold())
        return; /* the next turn answers: ready descriptors stay ready */
    if (ticks.watch == wait->watch) {
        for (unsigned i = 0; i < wait->n; i++)
            wait->watch->fds[i].revents = wait->fds[i].revents;
        wait->watch->on_ready(wait->watch);
        wait->again_ns = UINT64_MAX;
    }
    nytp_ticks_let_go();
}

static void wait_for_descriptors(struct awaited *wait, uint64_t now_ns)
{
    uint64_t ns = LONGEST_POLL_NS;
    if (wait->until_ns < now_ns + ns)
        ns = wait->until_ns <= now_ns ? 0 : wait->until_ns - now_ns;
    if (wait->again_ns < now_ns + ns)
        ns = wait->again_ns <= now_ns ? 0 : wait->again_ns - now_ns;
    const int n_ready = nytp_kernel_poll(wait->fds, wait->n, ns);
    const bool is_again =
        wait->again_ns != UINT64_MAX && nytp_kernel_clock_ns(CLOCK_MONOTONIC) >= wait->again_ns;
    if (n_ready > 0 || is_again)
        answer(wait);
}

struct plan {
    uint64_t next_ns; /* the next tick; 0: none */
    uint64_t random;
};

/* Plans the next tick. Ticks that are past are left out; one too far off comes sooner. */
static void plan_tick(struct plan *plan, uint64_t period_ns, uint64_t now_ns, bool is_due)
{
    const uint64_t most_ns = period_ns + period_ns / 2;
    if (period_ns == 0) {
        plan->next_ns = 0;
        return;
    }
    if (is_due)
        plan->next_ns += nytp_next_distance_ns(&plan->random, period_ns);
    if (plan->next_ns <= now_ns || plan->next_ns > now_ns + most_ns)
        plan->next_ns = now_ns + nytp_next_distance_ns(&plan->random, period_ns);
}

/* From time to time: has the program look at its rights at its next safe point. Returns false
 * if the thread shall end: the program has given rights up for good, or has seen that it has
 * other ones. */
static bool may_go_on(uint64_t now_ns, uint64_t *look_ns)
{
    if (!ticks.rights.may_change || now_ns < *look_ns || !try_to_hold())
        return true;
    const bool leaves = ticks.is_outdated || nytp_rights_are_given_up();
    *look_ns = now_ns + RIGHTS_NS;
    ticks.has_left = leaves;
    ticks.looks_at_rights = true;
    for (struct nytp_ring *ring = ticks.rings; ring != NULL; ring = ring->next)
        __atomic_store_n(ring->asked, 1, __ATOMIC_RELAXED);
    if (ticks.watch != NULL)
        ticks.watch->on_rights();
    nytp_ticks_let_go();
    return !leaves;
}

/* The name is what `top -H` shows. The thread, it alone, keeps its capabilities when the
 * program gives up its rights, so that it can remove its files before it ends. */
static void begin(void)
{
#ifdef __linux__
    prctl(PR_SET_NAME, "nytp-ticks", 0, 0, 0);
    prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
    ticks.thread_number = syscall(SYS_gettid);
#else
    ticks.thread_number = 1;
#endif
}

static void *run(void *unused)
{
    struct plan plan = {.random = nytp_kernel_clock_ns(CLOCK_MONOTONIC) | 1};
    struct awaited wait;
    uint64_t rights_ns = 0; /* when to look at them next */
    wait.again_ns = UINT64_MAX;
    begin();
    for (;;) {
        const uint32_t seen = ticks.wakes; /* before anything that a wake tells of */
        const uint64_t period_ns = (uint64_t)ticks.period_us * 1000;
        const uint64_t now_ns = nytp_kernel_clock_ns(CLOCK_MONOTONIC);
        const bool is_due = period_ns > 0 && plan.next_ns != 0 && now_ns >= plan.next_ns;
        if (ticks.stops || !may_go_on(now_ns, &rights_ns))
            break;
        if (is_due)
            tick_all();
        plan_tick(&plan, period_ns, now_ns, is_due);
        prepare_wait(&wait, now_ns, period_ns == 0 ? UINT64_MAX : plan.next_ns);
        if (wait.watch != NULL)
            wait_for_descriptors(&wait, now_ns);
        else if (wait.until_ns > now_ns)
            nytp_kernel_wait(&ticks.wakes, seen, wait.until_ns);
    }
    return unused;
}

/* ---- in the program ---- */

void nytp_ticks_hold(void)
{
    while (!try_to_hold())
        sched_yield();
}

/* Starts the thread with all signals blocked. Returns 0, or an errno. */
static int create_thread(void)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error != 0)
        return error;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&ticks.thread, &attributes, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

static bool start(char *error, size_t size)
{
    /* The thread would keep rights that such a program gives up. */
    if (nytp_platform_is_setuid()) {
        snprintf(error, size, "the program is set-user-ID or its file has capabilities");
        return false;
    }
    ticks.stops = false;
    ticks.thread_number = 0;
    ticks.rights = nytp_rights_now();
    ticks.looks_at_rights = ticks.is_outdated = ticks.has_left = false;
    const int why = create_thread();
    ticks.is_running = why == 0;
    if (why != 0) {
        snprintf(error, size, "no thread can be started: %s", strerror(why));
        return false;
    }
    while (ticks.rights.may_change && ticks.thread_number == 0)
        sched_yield(); /* until it keeps its rights */
    return true;
}

static void stop(void)
{
    const int error = errno;
    ticks.stops = true;
    nytp_kernel_wake(&ticks.wakes);
    pthread_join(ticks.thread, NULL);
    ticks.is_running = false;
#ifdef __linux__
    /* Until then the kernel still counts it and denies what needs a single thread. */
    while (ticks.thread_number != 0 &&
           syscall(SYS_tgkill, getpid(), ticks.thread_number, 0) == 0)
        sched_yield();
#endif
    errno = error;
}

bool nytp_ticks_run(char *error, size_t size)
{
    const bool is_wanted = ticks.rings != NULL || ticks.watch != NULL;
    return !is_wanted || ticks.is_running || start(error, size);
}

bool nytp_ticks_are_run(void)
{
    return ticks.is_running;
}

void nytp_ticks_set_period(uint32_t us)
{
    ticks.period_us = us;
    nytp_kernel_wake(&ticks.wakes);
}

uint32_t nytp_ticks_period(void)
{
    return ticks.period_us;
}

bool nytp_ticks_add(struct nytp_ring *ring, char *error, size_t size)
{
    nytp_ticks_hold();
    ring->head = ring->tail = 0;
    ring->next = ticks.rings;
    ticks.rings = ring;
    nytp_ticks_let_go();
    if (nytp_ticks_run(error, size))
        return true;
    nytp_ticks_remove(ring);
    return false;
}

static void stop_if_idle(void)
{
    if (ticks.rings == NULL && ticks.watch == NULL && ticks.is_running)
        stop();
}

void nytp_ticks_remove(struct nytp_ring *ring)
{
    nytp_ticks_hold();
    struct nytp_ring **at = &ticks.rings;
    while (*at != NULL && *at != ring)
        at = &(*at)->next;
    if (*at != NULL)
        *at = ring->next;
    nytp_ticks_let_go();
    stop_if_idle();
}

bool nytp_ticks_watch(struct nytp_tick_watch *watch, char *error, size_t size)
{
    nytp_ticks_hold();
    ticks.watch = watch;
    nytp_ticks_let_go();
    nytp_kernel_wake(&ticks.wakes);
    if (watch == NULL)
        stop_if_idle();
    else if (!nytp_ticks_run(error, size))
        return nytp_ticks_watch(NULL, error, size) && false;
    return true;
}

void nytp_ticks_forked(void)
{
    nytp_ticks_let_go();
    ticks.is_running = false;
    for (struct nytp_ring *ring = ticks.rings; ring != NULL; ring = ring->next)
        ring->tail = ring->head;
}

/* The thread is not waited for: it may wait for descriptors. */
bool nytp_ticks_follow_rights(void)
{
    char unused[100];
    if (!ticks.looks_at_rights || !atomic_exchange(&ticks.looks_at_rights, false))
        return false;
    const int error = errno;
    const struct nytp_rights now = nytp_rights_now(), then = ticks.rights;
    const bool are_same = nytp_rights_are_same(&now, &then);
    if (ticks.has_left) {
        stop();
        start(unused, sizeof unused);
    } else if (!are_same) {
        ticks.is_outdated = true;
    }
    errno = error;
    return !are_same;
}

bool nytp_ticks_stop(void)
{
    const bool was_running = ticks.is_running;
    if (was_running)
        stop();
    return was_running;
}
