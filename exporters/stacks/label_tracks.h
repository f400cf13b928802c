/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The spans of labels on a process's time line, a track for each key. Spans of one key never
 * overlap; those of different keys may. They lie on the axis of timeline.h.
 */
#ifndef NYTP_LABEL_TRACKS_H
#define NYTP_LABEL_TRACKS_H

#include "exporters/base/exporter.h"

struct nytp_label_tracks {
    struct nytp_stretch *stretches; /* in order of their starts */
    uint32_t *track;                /* of each of them: index of `keys` */
    struct nytp_name *keys;         /* in the order in which they come first */
    uint32_t n_stretches, n_keys;
};

/* Returns false if memory is out; nytp_label_tracks_free() in either case. */
bool nytp_label_tracks_init(struct nytp_label_tracks *tracks,
                            const struct nytp_profile *profile, uint32_t process);
void nytp_label_tracks_free(struct nytp_label_tracks *tracks);

#endif
