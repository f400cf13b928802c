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
 * Without costs nothing changes. False when memory is out. */
bool nytp_take_off_recording(struct nytp_profile *profile);

/* What recording may have cost where so much was taken off. In loops that a processor's caches
 * hold it is what is taken off, to a quarter of it (bench/truth --kinds); real programs
 * paid 1.3 to 1.9 times as much (formats/model.md, "What recording cost"). */
#define NYTP_MOST_RECORDING(ticks) (2 * (ticks))

/* What recording cost each sub itself, in ticks; zeros where nothing was taken off. To free();
 * NULL when memory is out. A sub without the time for it lost all that it had. */
double *nytp_recording_by_sub(const struct nytp_profile *profile);

#endif
