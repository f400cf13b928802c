/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Taking off what recording cost. A profiler adds a little to every statement and call, so that
 * what has many small ones looks dearer than it is. Where the recording says what each kind of
 * event cost (a comment in each process, see cost_kinds.def), counts times costs come off the
 * times. formats/model.md, "What recording cost", states the rule.
 */
#ifndef NYTP_CORRECTION_H
#define NYTP_CORRECTION_H

#include "formats/model/model.h"

/* Correct a profile of one recording that is complete in all else: exclusive and inclusive
 * times, lines, arcs, subs, the time line and the total. No time goes below zero, and all sums
 * hold as before. Numbers of statements and calls stay, and so do the processes' stmt_ticks.
 * Without costs nothing changes. Returns false if memory is out. */
bool nytp_take_off_recording(struct nytp_profile *profile);

/* The most that recording may have cost if so much was taken off. Most programs paid 0.8 to 1.2
 * times as much, the worst 1.7; on a busy machine 2 (doc/accuracy.md). */
#define NYTP_MOST_RECORDING(ticks) (2 * (ticks))

/* Returns the cost of recording each sub itself, in ticks, or 0 if nothing was taken off. A sub
 * with less time than that lost all of it. The caller frees it; NULL if memory is out. */
double *nytp_recording_by_sub(const struct nytp_profile *profile);

#endif
