/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The program's timers; see timers.h.
 */
#include "timers.h"

#include <stddef.h>

static const int timer_kinds[NYTP_TIMERS] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};

void nytp_timers_stop(struct nytp_timers *timers)
{
    const struct itimerval never = {.it_value = {0}};
    *timers = (struct nytp_timers){0};
    for (size_t i = 0; i < NYTP_TIMERS; i++)
        setitimer(timer_kinds[i], &never, &timers->left[i]);
}

void nytp_timers_restart(const struct nytp_timers *timers)
{
    for (size_t i = 0; i < NYTP_TIMERS; i++)
        if (timerisset(&timers->left[i].it_value))
            setitimer(timer_kinds[i], &timers->left[i], NULL);
}
