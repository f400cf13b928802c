/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Profiles that rotate has finished; see finished_profiles.h.
 */
#include "finished_profiles.h"

#include "XS/state/state.h"

static void remove_oldest(struct nytp_rec_finished_profiles *kept)
{
    nytp_path_remove(kept->files[0].path, &kept->files[0].id);
    Safefree(kept->files[0].path);
    kept->n--; /* outside the macro, which may use it twice */
    Move(kept->files + 1, kept->files, kept->n, struct nytp_finished_profile);
}

void nytp_finished_profiles_add(struct nytp_recorder *rec)
{
    struct nytp_rec_finished_profiles *const kept = rec->finished_profiles;
    const uint32_t most = (uint32_t)rec->options.keep; /* may have changed */
    if (most == 0 || !rec->file.is_regular)
        return;
    while (kept->n >= most)
        remove_oldest(kept);
    NYTP_MAKE_ROOM(kept->files, kept->n, kept->size, struct nytp_finished_profile);
    kept->files[kept->n++] = (struct nytp_finished_profile){
        .path = nytp_copy_string(rec->file.path), .id = rec->file.id};
}

/* The files belong to the parent. */
void nytp_finished_profiles_fork(struct nytp_recorder *rec)
{
    nytp_finished_profiles_free(rec);
}

void nytp_finished_profiles_free(struct nytp_recorder *rec)
{
    struct nytp_rec_finished_profiles *const kept = rec->finished_profiles;
    for (uint32_t i = 0; i < kept->n; i++)
        Safefree(kept->files[i].path);
    Safefree(kept->files);
    *kept = (struct nytp_rec_finished_profiles){0};
}
