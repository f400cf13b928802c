/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A copy of a file that is being written; see checkpoint.h.
 */
#include "checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PIECE = 32768, /* bytes that are copied at a time */
};

static bool refuse(char *text, size_t size, const char *name, const char *why)
{
    snprintf(text, size, "%.400s: %s", name, why);
    return false;
}

/* A descriptor of the file that is being written; -1 if its name leads to another one by now.
 */
static int open_source(const struct nytp_outfile *file)
{
    struct stat there;
    const int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && fstat(fd, &there) == 0 && there.st_dev == file->dev &&
        there.st_ino == file->ino)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Whether the name is free, or is that of a profile which this user wrote. */
static bool may_replace(const char *name)
{
    char head[7];
    struct stat there;
    if (lstat(name, &there) != 0)
        return errno == ENOENT;
    if (!S_ISREG(there.st_mode) || there.st_uid != geteuid())
        return false;
    const int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    const bool is_profile = fd >= 0 && read(fd, head, sizeof head) == (ssize_t)sizeof head &&
                            memcmp(head, "NYTProf", sizeof head) == 0;
    if (fd >= 0)
        close(fd);
    return is_profile;
}

static bool write_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        const ssize_t written = write(fd, bytes, n);
        if (written <= 0)
            return false;
        bytes += written;
        n -= (size_t)written;
    }
    return true;
}

static bool copy_bytes(int from, int to)
{
    char piece[PIECE];
    ssize_t n;
    while ((n = read(from, piece, sizeof piece)) > 0)
        if (!write_all(to, piece, (size_t)n))
            return false;
    return n == 0;
}

bool nytp_checkpoint_copy(const struct nytp_outfile *file, char *text, size_t size)
{
    char name[4096], part[4128];
    if (snprintf(name, sizeof name, "%s.checkpoint", file->path) >= (int)sizeof name)
        return refuse(text, size, file->path, "the name is too long");
    snprintf(part, sizeof part, "%s.%ld", name, (long)getpid());
    if (!may_replace(name))
        return refuse(text, size, name, "there is something else of that name");
    const int from = open_source(file);
    if (from < 0)
        return refuse(text, size, file->path, "removed or replaced");
    const int to = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    const bool ok = to >= 0 && copy_bytes(from, to) && rename(part, name) == 0;
    const int why = errno;
    close(from);
    if (to >= 0)
        close(to);
    if (to >= 0 && !ok)
        unlink(part);
    if (!ok)
        return refuse(text, size, name, strerror(why));
    snprintf(text, size, "%.500s", name);
    return true;
}
