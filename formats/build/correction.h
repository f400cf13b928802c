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

/* Correct a profile of one part that is complete in all else: exclusive and inclusive times,
 * lines, arcs, subs, the time line and the total. No time goes below zero, and all sums hold as
 * before. Numbers of statements and calls stay, and so do the processes' stmt_ticks. Without
 * costs nothing changes. False when memory is out. */
bool nytp_take_off_recording(struct nytp_profile *profile);

#endif
