/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What wakes a thread (raw_thread.h) again and again, at times that it chooses.
 *
 * The kernel has to tell the processor of a timer that is the next to expire, which on a
 * virtual machine is a question to the hypervisor and takes longer than all else that a wake
 * does; of one behind it, it has not. So there are two timers, and each is set for the time
 * after the next. They send the thread a signal that it has blocked and waits for. The signal
 * is the one that the C library keeps for timers of its own: no program can block, handle or
 * send it, and here it goes to this thread alone.
 *
 * Where there are no such timers, the thread waits as in nytp_raw_wait().
 */
#ifndef NYTP_RAW_ALARM_H
#define NYTP_RAW_ALARM_H

#include "raw_thread.h"

enum {
    NYTP_RAW_TIMERS = 2,
};

struct nytp_raw_alarm {
    bool has_timers;
    int timers[NYTP_RAW_TIMERS];
    uint64_t set_ns[NYTP_RAW_TIMERS]; /* what each was last set for; 0: nothing */
    _Atomic bool is_waiting;          /* for a signal */
};

/* How long from one wake to the next, anything from half a period to one and a half. At even
 * distances wakes fall into step with a program that does the same again and again, the more so
 * on a busy machine, where the program runs from one wake of the thread to the next: they would
 * see the same few lines each time. `random` is kept for the next time, and never 0. */
NYTP_RAW_CODE static inline uint64_t nytp_raw_next_distance_ns(uint64_t *random,
                                                               uint64_t period_ns)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return period_ns / 2 + *random % period_ns;
}

/* These three are called in the thread. */
void nytp_raw_alarm_begin(struct nytp_raw_alarm *alarm);
void nytp_raw_alarm_end(struct nytp_raw_alarm *alarm);

/* Wait until CLOCK_MONOTONIC shows `until_ns`, or nytp_raw_alarm_wake() was called after *word
 * was `seen`, or a little less: look at the clock. `after_ns` is when the next wait is to end.
 * UINT64_MAX: never. */
void nytp_raw_alarm_wait(struct nytp_raw_alarm *alarm, _Atomic uint32_t *word, uint32_t seen,
                         uint64_t until_ns, uint64_t after_ns);

/* From any thread. */
void nytp_raw_alarm_wake(struct nytp_raw_alarm *alarm, const struct nytp_raw_thread *thread,
                         _Atomic uint32_t *word);

#endif
