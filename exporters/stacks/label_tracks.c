/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The labels of a time line, key by key; see label_tracks.h.
 */
#include "label_tracks.h"

#include "timeline.h"

#include "formats/base/table.h"
#include "formats/model/profile.h"

#include <stdlib.h>

static int64_t end_of_timeline(const struct nytp_profile *profile, uint32_t process)
{
    struct nytp_timeline line;
    nytp_timeline_begin(&line, profile, process);
    const int64_t end_ticks = line.end_ticks;
    nytp_timeline_end(&line);
    return end_ticks;
}

/* Equal names have equal pointers. */
static struct nytp_key key_of_name(struct nytp_name name)
{
    const uint64_t at = (uintptr_t)name.ptr;
    return (struct nytp_key){(uint32_t)at, (uint32_t)(at >> 32), name.len, 0};
}

static bool add_stretch(struct nytp_label_tracks *t, struct nytp_table *by_key,
                        struct nytp_stretch stretch, int64_t most_ticks)
{
    const struct nytp_key key = key_of_name(stretch.key);
    uint32_t track = nytp_table_get(by_key, key);
    if (track == NYTP_TABLE_NONE) {
        track = t->n_keys++;
        t->keys[track] = stretch.key;
        if (!nytp_table_put(by_key, key, track))
            return false;
    }
    if (stretch.end_ticks > most_ticks)
        stretch.end_ticks = most_ticks;
    if (stretch.start_ticks > stretch.end_ticks)
        stretch.start_ticks = stretch.end_ticks;
    t->track[t->n_stretches] = track;
    t->stretches[t->n_stretches++] = stretch;
    return true;
}

bool nytp_label_tracks_init(struct nytp_label_tracks *t, const struct nytp_profile *profile,
                            uint32_t process)
{
    const struct nytp_slice of = nytp_stretches_of(profile, process, 1);
    const size_t n = of.n;
    *t = (struct nytp_label_tracks){0};
    if (n == 0)
        return true;
    t->stretches = malloc(n * sizeof *t->stretches);
    t->track = malloc(n * sizeof *t->track);
    t->keys = malloc(n * sizeof *t->keys);
    bool ok = t->stretches != NULL && t->track != NULL && t->keys != NULL;
    const int64_t most_ticks = end_of_timeline(profile, process);
    struct nytp_table by_key = {0};
    for (size_t i = 0; ok && i < n; i++)
        ok = add_stretch(t, &by_key, profile->stretches[of.first + i], most_ticks);
    nytp_table_free(&by_key);
    return ok;
}

void nytp_label_tracks_free(struct nytp_label_tracks *t)
{
    free(t->stretches);
    free(t->track);
    free(t->keys);
    *t = (struct nytp_label_tracks){0};
}
