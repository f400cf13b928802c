/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What wakes a thread again and again; see raw_alarm.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "raw_alarm.h"

#if NYTP_RAW_THREADS

#include <signal.h>

enum {
    TIMER_SIGNAL = 32, /* the C libraries' own: glibc's SIGTIMER, musl's SIGTIMER */
    SIGNAL_SET_SIZE = 8,
    TO_THREAD = 4, /* SIGEV_THREAD_ID */
    NS_PER_S = 1000000000,
};

static const uint64_t signal_set = (uint64_t)1 << (TIMER_SIGNAL - 1);

/* struct sigevent as the kernel has it; not every C library's has a field for the thread. */
struct event {
    uint64_t value;
    int32_t signal, notify, thread;
    int32_t unused[11];
};

struct expiry {
    struct timespec interval, value;
};

NYTP_RAW_CODE void nytp_raw_alarm_begin(struct nytp_raw_alarm *alarm)
{
    struct event event = {.signal = TIMER_SIGNAL, .notify = TO_THREAD};
    event.thread = (int32_t)nytp_raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
    int n = 0;
    alarm->is_waiting = false;
    alarm->has_timers = true;
    for (; alarm->has_timers && n < NYTP_RAW_TIMERS; n += alarm->has_timers) {
        alarm->set_ns[n] = 0;
        alarm->has_timers = nytp_raw_syscall(SYS_timer_create, CLOCK_MONOTONIC, (long)&event,
                                             (long)&alarm->timers[n], 0, 0, 0) == 0;
    }
    while (!alarm->has_timers && n > 0)
        nytp_raw_syscall(SYS_timer_delete, alarm->timers[--n], 0, 0, 0, 0, 0);
}

NYTP_RAW_CODE void nytp_raw_alarm_end(struct nytp_raw_alarm *alarm)
{
    for (int i = 0; alarm->has_timers && i < NYTP_RAW_TIMERS; i++)
        nytp_raw_syscall(SYS_timer_delete, alarm->timers[i], 0, 0, 0, 0, 0);
    alarm->has_timers = false;
}

/* Let a timer expire then, unless one does: that which is not needed for the other time. */
NYTP_RAW_CODE static void set(struct nytp_raw_alarm *alarm, uint64_t at_ns, uint64_t other_ns)
{
    if (at_ns == UINT64_MAX || alarm->set_ns[0] == at_ns || alarm->set_ns[1] == at_ns)
        return;
    const int i = alarm->set_ns[0] == other_ns;
    const struct expiry expiry = {
        .value = {.tv_sec = (time_t)(at_ns / NS_PER_S), .tv_nsec = (long)(at_ns % NS_PER_S)}};
    alarm->set_ns[i] = at_ns;
    nytp_raw_syscall(SYS_timer_settime, alarm->timers[i], TIMER_ABSTIME, (long)&expiry, 0, 0,
                     0);
}

/* A signal that comes between the look at the word and the wait is pending, and ends it. */
NYTP_RAW_CODE void nytp_raw_alarm_wait(struct nytp_raw_alarm *alarm, _Atomic uint32_t *word,
                                       uint32_t seen, uint64_t until_ns, uint64_t after_ns)
{
    if (!alarm->has_timers) {
        nytp_raw_wait(word, seen, until_ns);
        return;
    }
    set(alarm, until_ns, after_ns);
    set(alarm, after_ns, until_ns);
    alarm->is_waiting = true;
    if (*word == seen)
        nytp_raw_syscall(SYS_rt_sigtimedwait, (long)&signal_set, 0, 0, SIGNAL_SET_SIZE, 0, 0);
    alarm->is_waiting = false;
}

NYTP_RAW_CODE void nytp_raw_alarm_wake(struct nytp_raw_alarm *alarm,
                                       const struct nytp_raw_thread *thread,
                                       _Atomic uint32_t *word)
{
    nytp_raw_wake(word);
    const int32_t id = thread->id;
    const long pid = nytp_raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
    if (alarm->is_waiting && id > 0)
        nytp_raw_syscall(SYS_tgkill, pid, id, TIMER_SIGNAL, 0, 0, 0);
}

#else

void nytp_raw_alarm_begin(struct nytp_raw_alarm *alarm)
{
    alarm->has_timers = false;
}

void nytp_raw_alarm_end(struct nytp_raw_alarm *alarm)
{
    (void)alarm;
}

void nytp_raw_alarm_wait(struct nytp_raw_alarm *alarm, _Atomic uint32_t *word, uint32_t seen,
                         uint64_t until_ns, uint64_t after_ns)
{
    (void)alarm, (void)after_ns;
    nytp_raw_wait(word, seen, until_ns);
}

void nytp_raw_alarm_wake(struct nytp_raw_alarm *alarm, const struct nytp_raw_thread *thread,
                         _Atomic uint32_t *word)
{
    (void)alarm, (void)thread;
    nytp_raw_wake(word);
}

#endif
