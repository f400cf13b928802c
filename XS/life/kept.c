/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Profiles that rotate has finished; see kept.h.
 */
#include "kept.h"

#include "XS/state/state.h"

static void free_file(const struct nytp_kept_file *file)
{
    Safefree(file->path);
}

void nytp_kept_add(struct nytp_recorder *rec)
{
    struct nytp_rec_kept *const kept = &rec->kept;
    const uint32_t most = (uint32_t)rec->options.keep;
    if (most == 0 || !rec->file.is_regular)
        return;
    if (kept->files == NULL)
        Newxz(kept->files, most, struct nytp_kept_file);
    struct nytp_kept_file *const file = &kept->files[kept->n % most]; /* the oldest */
    if (kept->n >= most) {
        nytp_path_remove(file->path, &file->id);
        free_file(file);
    }
    *file = (struct nytp_kept_file){.path = nytp_copy(rec->file.path, strlen(rec->file.path)),
                                    .id = rec->file.id};
    kept->n++;
}

void nytp_kept_forget(struct nytp_recorder *rec)
{
    struct nytp_rec_kept *const kept = &rec->kept;
    const uint32_t most = (uint32_t)rec->options.keep;
    for (uint32_t i = 0; i < kept->n && i < most; i++)
        free_file(&kept->files[i]);
    Safefree(kept->files);
    *kept = (struct nytp_rec_kept){0};
}
