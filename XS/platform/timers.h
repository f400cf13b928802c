/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The program's timers (setitimer, alarm), which stand still while the profile gets its end.
 */
#ifndef NYTP_TIMERS_H
#define NYTP_TIMERS_H

#include <sys/time.h>

/* The rest of the program's timers at nytp_timers_stop(). */
enum {
    NYTP_TIMERS = 3
};
struct nytp_timers {
    struct itimerval left[NYTP_TIMERS];
};

/* Between these two the program's timers stand still. For the end: before END blocks perl gives
 * up its handlers, so that a timer's next signal kills, and the time is ours. */
void nytp_timers_stop(struct nytp_timers *timers);
void nytp_timers_restart(const struct nytp_timers *timers);

#endif
