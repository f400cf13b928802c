/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Takes what recording cost off a summary (summary.h) and a model of the same recording at
 * once, so that the tables of the HTML report, which come from the summary, and its flame
 * graph, which comes from the model, tell one story.
 *
 * Only the model knows which events happened in which context, and so what they cost. What the
 * correction takes off the model is handed on to the place of the summary where those events
 * were counted.
 */
#ifndef NYTP_CORRECTED_SUMMARY_H
#define NYTP_CORRECTED_SUMMARY_H

#include "formats/model/model.h"
#include "summary.h"

/* Correct both. The profile must have been built with `as_recorded`; the summary must be
 * finished, its evals not merged yet, and it must have been read with `keep_rolls` where it
 * has blocks.
 *
 * The profile is corrected by nytp_take_off_recording(). In the summary, calls lose what the
 * model's calls from the same place lost, and lines lose what the events on them cost. No
 * positive time goes below zero, and none grows but by rounding. The lines of the summary add
 * up to the model's total wherever they did before, at each level; counts stay.
 *
 * summary->recording_ticks then tells how much was taken off. Without costs in the recording
 * nothing changes. False when memory is out. */
bool nytp_take_off_both(struct nytp_profile *profile, struct nytp_summary *summary);

#endif
