/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Ticks; see ticks.h.
 *
 * What the thread and the program share is under a lock that the thread only ever tries: while
 * somebody else holds it, a tick is left out. The others spin, for the thread holds it for less
 * than a microsecond, or while it answers a descriptor.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "ticks.h"

#include "formats/base/platform.h"

#include "raw_alarm.h"
#include "rights.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    LONGEST_POLL_NS = 200000000, /* poll() cannot be woken: changes are noticed after that */
    RIGHTS_NS = 10000000,        /* the program's rights are looked at that often */
};

static struct {
    atomic_flag lock;
    struct nytp_ring *rings;
    struct nytp_tick_watch *watch;
    _Atomic uint32_t period_us;
    _Atomic bool stops;
    _Atomic uint32_t wakes; /* counts what a waiting thread is to take notice of */
    struct nytp_raw_thread thread;
    struct nytp_raw_alarm alarm;  /* of the thread */
    struct nytp_rights rights;    /* with which it was started */
    _Atomic bool looks_at_rights; /* the program is to do so */
    _Atomic bool is_outdated;     /* the thread: it is to leave */
    _Atomic bool has_left;        /* by itself */
} ticks = {.lock = ATOMIC_FLAG_INIT};

/* ---- in the thread ---- */

NYTP_RAW_CODE static bool try_lock(void)
{
    return !atomic_flag_test_and_set_explicit(&ticks.lock, memory_order_acquire);
}

NYTP_RAW_CODE static void unlock(void)
{
    atomic_flag_clear_explicit(&ticks.lock, memory_order_release);
}

/* One tick for one ring. As long as the program shows the same words (it sleeps, or runs one
 * long op), the newest entry is counted up instead of a new one being taken; so it is when the
 * ring is full. No system call that may wait for the program's memory to be changed, as copying
 * does, comes before the words: what changes it would be seen less often. */
NYTP_RAW_CODE static void look(struct nytp_ring *ring)
{
    const void *seen[NYTP_TICK_WORDS];
    const uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    const uint32_t n = head - atomic_load_explicit(&ring->tail, memory_order_acquire);
    struct nytp_tick *tick = &ring->ticks[(head - 1) % NYTP_TICKS_IN_RING];
    bool is_same = n > 0;
    for (int i = 0; i < NYTP_TICK_WORDS; i++) {
        seen[i] = *ring->look_at[i];
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
    atomic_store_explicit(&tick->cpu_ns, nytp_raw_clock_ns(ring->cpu_clock),
                          memory_order_relaxed);
    atomic_store_explicit(&tick->ns, nytp_raw_clock_ns(ring->clock), memory_order_relaxed);
    atomic_fetch_add_explicit(&tick->n, 1, memory_order_relaxed);
    if (is_new)
        atomic_store_explicit(&ring->head, head + 1, memory_order_release);
    atomic_fetch_add_explicit(&ring->n_ticks, 1, memory_order_relaxed);
    *ring->asked = 1;
}

NYTP_RAW_CODE static void tick_all(void)
{
    if (!try_lock())
        return;
    for (struct nytp_ring *ring = ticks.rings; ring != NULL; ring = ring->next) {
        look(ring);
        if (ring->ticked != NULL)
            ring->ticked(ring);
    }
    unlock();
}

/* What is waited for, copied so that it may be changed meanwhile. */
struct awaited {
    struct nytp_tick_watch *watch; /* NULL: no descriptors */
    struct pollfd fds[NYTP_TICK_FDS];
    unsigned n;
    uint64_t until_ns;
    uint64_t again_ns; /* stays when a tick comes in between; UINT64_MAX: not asked for */
};

NYTP_RAW_CODE static void prepare_wait(struct awaited *wait, uint64_t now_ns, uint64_t until_ns)
{
    const uint64_t planned_ns = wait->again_ns;
    wait->until_ns = until_ns;
    wait->again_ns = UINT64_MAX;
    wait->watch = NULL;
    if (!try_lock()) {
        wait->again_ns = planned_ns;
        wait->until_ns = now_ns; /* and try again */
        return;
    }
    if (ticks.watch != NULL) {
        wait->watch = ticks.watch;
        wait->n = ticks.watch->n;
        for (unsigned i = 0; i < wait->n; i++) {
            wait->fds[i].fd = ticks.watch->fds[i].fd;
            wait->fds[i].events = ticks.watch->fds[i].events;
            wait->fds[i].revents = 0;
        }
        if (ticks.watch->again_ms > 0)
            wait->again_ns = planned_ns != UINT64_MAX
                                 ? planned_ns
                                 : now_ns + (uint64_t)ticks.watch->again_ms * 1000000;
    }
    unlock();
}

NYTP_RAW_CODE static void answer(struct awaited *wait)
{
    if (!try_lock())
        return; /* what is ready stays so */
    if (ticks.watch == wait->watch) {
        for (unsigned i = 0; i < wait->n; i++)
            wait->watch->fds[i].revents = wait->fds[i].revents;
        wait->watch->on_ready(wait->watch);
        wait->again_ns = UINT64_MAX;
    }
    unlock();
}

NYTP_RAW_CODE static void wait_for_descriptors(struct awaited *wait, uint64_t now_ns)
{
    uint64_t ns = LONGEST_POLL_NS;
    if (wait->until_ns < now_ns + ns)
        ns = wait->until_ns <= now_ns ? 0 : wait->until_ns - now_ns;
    if (wait->again_ns < now_ns + ns)
        ns = wait->again_ns <= now_ns ? 0 : wait->again_ns - now_ns;
    const int n_ready = nytp_raw_poll(wait->fds, wait->n, ns);
    const bool is_again =
        wait->again_ns != UINT64_MAX && nytp_raw_clock_ns(CLOCK_MONOTONIC) >= wait->again_ns;
    if (n_ready > 0 || is_again)
        answer(wait);
}

struct plan {
    uint64_t next_ns, after_ns; /* the next tick and the one after it; 0: none */
    uint64_t random;
};

NYTP_RAW_CODE static void plan_from(struct plan *plan, uint64_t from_ns, uint64_t period_ns)
{
    plan->next_ns = from_ns + nytp_raw_next_distance_ns(&plan->random, period_ns);
    plan->after_ns = plan->next_ns + nytp_raw_next_distance_ns(&plan->random, period_ns);
}

/* After a tick, if it was due. Ticks that the thread is too late for are left out; those that
 * are planned too far off come sooner. */
NYTP_RAW_CODE static void plan_ticks(struct plan *plan, uint64_t period_ns, uint64_t now_ns,
                                     bool is_due)
{
    const uint64_t most_ns = period_ns + period_ns / 2;
    if (period_ns == 0) {
        plan->next_ns = plan->after_ns = 0;
    } else if (is_due && plan->after_ns > now_ns) {
        plan->next_ns = plan->after_ns;
        plan->after_ns += nytp_raw_next_distance_ns(&plan->random, period_ns);
    } else if (is_due || plan->next_ns == 0 || plan->next_ns > now_ns + most_ns ||
               plan->after_ns > plan->next_ns + most_ns) {
        plan_from(plan, now_ns, period_ns);
    }
}

/* From time to time: have the program look at its rights when it comes to a safe point. False:
 * the thread has not the program's. What the program can have again at any time is let go of
 * when it has looked, what it has given up is let go of now. */
NYTP_RAW_CODE static bool may_go_on(uint64_t now_ns, uint64_t *look_ns)
{
    if (!ticks.rights.may_change || now_ns < *look_ns || !try_lock())
        return true;
    const bool leaves = ticks.is_outdated || nytp_rights_are_given_up();
    *look_ns = now_ns + RIGHTS_NS;
    ticks.has_left = leaves;
    ticks.looks_at_rights = true;
    for (struct nytp_ring *ring = ticks.rings; ring != NULL; ring = ring->next)
        *ring->asked = 1;
    if (ticks.watch != NULL)
        ticks.watch->on_rights();
    unlock();
    return !leaves;
}

NYTP_RAW_CODE static int run(void *unused)
{
    struct plan plan = {.random = nytp_raw_clock_ns(CLOCK_MONOTONIC) | 1};
    struct awaited wait;
    uint64_t rights_ns = 0; /* when to look at them next */
    wait.again_ns = UINT64_MAX;
    (void)unused;
    nytp_raw_name_thread("nytp-ticks");
    nytp_raw_alarm_begin(&ticks.alarm);
    while (!ticks.stops) {
        const uint32_t seen = ticks.wakes;
        const uint64_t period_ns = (uint64_t)ticks.period_us * 1000;
        const uint64_t now_ns = nytp_raw_clock_ns(CLOCK_MONOTONIC);
        const bool is_due = period_ns > 0 && plan.next_ns != 0 && now_ns >= plan.next_ns;
        if (!may_go_on(now_ns, &rights_ns))
            break;
        if (is_due)
            tick_all();
        plan_ticks(&plan, period_ns, now_ns, is_due);
        prepare_wait(&wait, now_ns, period_ns == 0 ? UINT64_MAX : plan.next_ns);
        if (wait.watch != NULL)
            wait_for_descriptors(&wait, now_ns);
        else if (wait.until_ns > now_ns)
            nytp_raw_alarm_wait(&ticks.alarm, &ticks.wakes, seen, wait.until_ns,
                                period_ns == 0 ? UINT64_MAX : plan.after_ns);
    }
    nytp_raw_alarm_end(&ticks.alarm);
    return 0;
}

/* ---- in the program ---- */

static void lock(void)
{
    while (!try_lock())
        sched_yield();
}

static bool start(char *error, size_t size)
{
    /* A thread that is left with more rights than the process gave up is none to have there. */
    if (nytp_platform_is_setuid()) {
        snprintf(error, size, "the program is set-user-ID or its file has capabilities");
        return false;
    }
    ticks.stops = false;
    ticks.alarm.is_waiting = false; /* in a child it is its parent's */
    ticks.rights = nytp_rights_now();
    ticks.looks_at_rights = ticks.is_outdated = ticks.has_left = false;
    if (nytp_raw_thread_start(&ticks.thread, run, NULL))
        return true;
    snprintf(error, size, "no thread can be started: %s", strerror(errno));
    return false;
}

static void stop(void)
{
    ticks.stops = true;
    nytp_raw_alarm_wake(&ticks.alarm, &ticks.thread, &ticks.wakes);
    nytp_raw_thread_join(&ticks.thread);
}

bool nytp_ticks_run(char *error, size_t size)
{
    const bool is_wanted = ticks.rings != NULL || ticks.watch != NULL;
    return !is_wanted || ticks.thread.is_running || start(error, size);
}

bool nytp_ticks_are_run(void)
{
    return ticks.thread.is_running;
}

void nytp_ticks_set_period(uint32_t us)
{
    ticks.period_us = us;
    nytp_raw_alarm_wake(&ticks.alarm, &ticks.thread, &ticks.wakes);
}

uint32_t nytp_ticks_period(void)
{
    return ticks.period_us;
}

bool nytp_ticks_add(struct nytp_ring *ring, char *error, size_t size)
{
    lock();
    ring->head = ring->tail = 0;
    ring->next = ticks.rings;
    ticks.rings = ring;
    unlock();
    if (nytp_ticks_run(error, size))
        return true;
    nytp_ticks_remove(ring);
    return false;
}

static void stop_if_idle(void)
{
    if (ticks.rings == NULL && ticks.watch == NULL && ticks.thread.is_running)
        stop();
}

void nytp_ticks_remove(struct nytp_ring *ring)
{
    lock();
    struct nytp_ring **at = &ticks.rings;
    while (*at != NULL && *at != ring)
        at = &(*at)->next;
    if (*at != NULL)
        *at = ring->next;
    unlock();
    stop_if_idle();
}

bool nytp_ticks_watch(struct nytp_tick_watch *watch, char *error, size_t size)
{
    lock();
    ticks.watch = watch;
    unlock();
    nytp_raw_alarm_wake(&ticks.alarm, &ticks.thread, &ticks.wakes);
    if (watch == NULL)
        stop_if_idle();
    else if (!nytp_ticks_run(error, size))
        return nytp_ticks_watch(NULL, error, size) && false;
    return true;
}

void nytp_ticks_hold(void)
{
    lock();
}

void nytp_ticks_let_go(void)
{
    unlock();
}

void nytp_ticks_forked(void)
{
    unlock();
    nytp_raw_thread_forget(&ticks.thread);
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
    const bool was_running = ticks.thread.is_running;
    if (was_running)
        stop();
    return was_running;
}
