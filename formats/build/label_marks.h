/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The stretches of a time line that lie under a label (DB::label()), while the input is read:
 * each is known by two marks, where it begins and where it ends, which lay_out.h places among
 * the calls. Nothing is kept without the build option max_spans.
 */
#ifndef NYTP_LABEL_MARKS_H
#define NYTP_LABEL_MARKS_H

#include "formats/stream/comments/label_records.h"
#include "builder_state.h"

/* The first so many stretches of an input are kept, of at most NYTP_MOST_IN_FORCE labels at a
 * time. */
#define NYTP_MOST_STRETCHES 100000u

/* A comment tells that a label changes, or (NYTP_LABEL_OWN, just before that) how deep the
 * calls are that are open. False with the builder's error set. */
bool nytp_label_marks_note(struct nytp_builder *builder,
                           const struct nytp_label_record *record);

/* The process ends at `at_ticks`, and all its labels with it. */
bool nytp_label_marks_end_process(struct nytp_builder *builder, int64_t at_ticks);

/* When all marks have their places: leaves out stretches of no length, since nothing happened
 * under such a label. */
void nytp_label_stretches_end(struct nytp_profile *p);

/* A sample was booked, which ends at `clock`: labels that changed since the one before it did
 * so no later. */
static inline void nytp_label_marks_sampled(struct nytp_builder *builder, int64_t clock)
{
    struct nytp_built_labels *const labels = &builder->labels;
    for (; labels->n_timed < labels->n_marks; labels->n_timed++)
        if (labels->marks[labels->n_timed].at_ticks > clock)
            labels->marks[labels->n_timed].at_ticks = clock;
}

#endif
