/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A copy of a file that is being written; see checkpoint.h.
 */
#include "checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    PIECE = 32768,
};

static bool refuse(char *text, size_t size, const char *name, const char *why)
{
    snprintf(text, size, "%.400s: %s", name, why);
    return false;
}

/* Returns whether the name is free or that of a profile written by this user. */
static bool may_replace(const char *name)
{
    char head[7];
    struct stat there;
    if (lstat(name, &there) != 0)
        return errno == ENOENT;
    if (!S_ISREG(there.st_mode) || there.st_uid != geteuid())
        return false;
    const int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const bool is_profile = fd >= 0 && read(fd, head, sizeof head) == (ssize_t)sizeof head &&
                            memcmp(head, "NYTProf", sizeof head) == 0;
    if (fd >= 0)
        close(fd);
    return is_profile;
}

/* Both descriptors are checked before each use: another thread may close them. */
static bool copy_bytes(const struct nytp_outfile *from, int to, const struct nytp_file_id *id)
{
    char piece[PIECE];
    errno = EBADF; /* for a descriptor that is not ours any more */
    for (uint64_t at = 0; at < from->size;) {
        const ssize_t n = nytp_fd_is(from->fd, &from->id)
                              ? pread(from->fd, piece, sizeof piece, (off_t)at)
                              : -1;
        if (n <= 0 || !nytp_fd_is(to, id) ||
            nytp_fd_write(to, piece, (size_t)n, (off_t)at) != (size_t)n)
            return false;
        at += (uint64_t)n;
    }
    return true;
}

static bool copy_to(const struct nytp_outfile *file, const char *part, const char *name)
{
    struct stat now;
    const int to = nytp_fd_open(part, O_WRONLY | O_CREAT | O_EXCL, &now);
    if (to < 0)
        return false;
    const struct nytp_file_id id = nytp_file_id_of(&now);
    const bool ok = copy_bytes(file, to, &id) && rename(part, name) == 0;
    const int why = errno;
    nytp_fd_close(to, &id);
    if (!ok)
        nytp_path_remove(part, &id);
    errno = why;
    return ok;
}

bool nytp_checkpoint_copy(const struct nytp_outfile *file, char *text, size_t size)
{
    char name[4096], part[4128];
    if (snprintf(name, sizeof name, "%s.checkpoint", file->path) >= (int)sizeof name)
        return refuse(text, size, file->path, "the name is too long");
    snprintf(part, sizeof part, "%s.%ld", name, (long)getpid());
    if (!may_replace(name))
        return refuse(text, size, name, "there is something else of that name");
    if (!nytp_path_is(file->path, &file->id))
        return refuse(text, size, file->path, "removed or replaced");
    if (!copy_to(file, part, name))
        return refuse(text, size, name, nytp_fd_why(errno));
    snprintf(text, size, "%.500s", name);
    return true;
}
