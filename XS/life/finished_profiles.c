/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Profiles that rotate has finished; see finished_profiles.h.
 */
#include "finished_profiles.h"

#include "XS/state/state.h"

static void free_file(const struct nytp_finished_profile *file)
{
    Safefree(file->path);
}

void nytp_finished_profiles_add(struct nytp_recorder *rec)
{
    struct nytp_rec_finished_profiles *const kept = &rec->finished_profiles;
    const uint32_t most = (uint32_t)rec->options.keep;
    if (most == 0 || !rec->file.is_regular)
        return;
    if (kept->files == NULL)
        Newxz(kept->files, most, struct nytp_finished_profile);
    struct nytp_finished_profile *const file = &kept->files[kept->n % most]; /* the oldest */
    if (kept->n >= most) {
        nytp_path_remove(file->path, &file->id);
        free_file(file);
    }
    *file = (struct nytp_finished_profile){
        .path = nytp_copy(rec->file.path, strlen(rec->file.path)), .id = rec->file.id};
    kept->n++;
}

void nytp_finished_profiles_forget(struct nytp_recorder *rec)
{
    struct nytp_rec_finished_profiles *const kept = &rec->finished_profiles;
    const uint32_t most = (uint32_t)rec->options.keep;
    for (uint32_t i = 0; i < kept->n && i < most; i++)
        free_file(&kept->files[i]);
    Safefree(kept->files);
    *kept = (struct nytp_rec_finished_profiles){0};
}
