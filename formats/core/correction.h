/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Taking off what recording cost. A profiler adds a little to every statement and call, so that
 * what has many small ones looks dearer than it is. Where the recording says what each kind of
 * event cost (attributes of a process, see cost_kinds.def), counts times costs come off the
 * times. formats/model.md, "What recording cost", states the rule.
 */
#ifndef NYTP_CORRECTION_H
#define NYTP_CORRECTION_H

#include "model.h"

/* An attribute of a process: when its key is one of cost_kinds.def with "cost_" before it, note
 * the value, in picoseconds. Of several the lowest counts: the costs are measured more than
 * once, and what is too high met a slow moment. What cannot be (0, more than 100 us) is
 * passed over. */
void nytp_costs_note(struct nytp_costs *costs, const struct nytp_str *key,
                     uint64_t picoseconds);

/* Whether an attribute is one of them: it belongs to the process in which it stands. */
bool nytp_is_cost(const struct nytp_str *key);

/* Correct a profile of one part that is complete in all else: exclusive and inclusive times,
 * lines, arcs, subs, the time line and the total. No time goes below zero, and all sums hold as
 * before. Numbers of statements and calls stay, and so do the processes' stmt_ticks. Without
 * costs nothing changes. False when memory is out. */
bool nytp_take_off_recording(struct nytp_profile *profile);

#endif
