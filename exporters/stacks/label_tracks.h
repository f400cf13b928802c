/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What of a process's time line was under labels, a track for each key: what a key's values are
 * never overlaps, what different keys are may. On the axis of timeline.h, and within it.
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

/* False when memory is out; nytp_label_tracks_free() in either case. */
bool nytp_label_tracks_init(struct nytp_label_tracks *tracks,
                            const struct nytp_profile *profile, uint32_t process);
void nytp_label_tracks_free(struct nytp_label_tracks *tracks);

#endif
