/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Labels of whole processes (DB::label_profile()), while the input is read: of each key the
 * last value counts. They become one text for each process in the end, since a text made anew
 * for each comment would take a thousand times the room of the comments.
 */
#ifndef NYTP_PROFILE_LABELS_H
#define NYTP_PROFILE_LABELS_H

#include "formats/stream/comments/label_records.h"
#include "builder_state.h"

/* The current process has this label. What would make its text longer than NYTP_LABELS_LONGEST
 * is left out. False with the builder's error set. */
bool nytp_profile_labels_add(struct nytp_builder *builder,
                             const struct nytp_label_record *record);

/* Fill in `labels` of the profile's processes. False when memory is out. */
bool nytp_profile_labels_take(const struct nytp_builder *builder, struct nytp_profile *profile);

void nytp_profile_labels_free(struct nytp_builder *builder);

#endif
