/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Profiles that rotate has finished; see kept.h.
 */
#include "kept.h"

#include "XS/state/state.h"

#include <sys/stat.h>
#include <unistd.h>

static void free_file(const struct nytp_kept_file *file)
{
    Safefree(file->path);
}

/* Another program may have moved it, and have put something else there. */
static void remove_file(const struct nytp_kept_file *file)
{
    struct stat now;
    if (lstat(file->path, &now) == 0 && now.st_dev == file->dev && now.st_ino == file->ino)
        unlink(file->path);
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
        remove_file(file);
        free_file(file);
    }
    *file = (struct nytp_kept_file){.path = nytp_copy(rec->file.path, strlen(rec->file.path)),
                                    .dev = rec->file.dev,
                                    .ino = rec->file.ino};
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
