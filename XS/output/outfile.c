/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The profile on disk; see outfile.h.
 *
 * flock() keeps two processes with one name apart. The lock belongs to the open file: it needs
 * no pid, survives moving the descriptor, and ends with the process. A process that finds the
 * file locked takes another name.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* asprintf; perl defines this only with threads */
#endif
#include "outfile.h"

#include "formats/base/platform.h"

#include "XS/platform/run.h"
#include "XS/options/file_name.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum {
    MAX_TRIES = 100, /* while other processes rename the file */
    LARGE = 65536,
    PIECE = 32768, /* bytes copied at a time */
};

/* Our magic and Devel::DProf's. */
static const char profile_magic[] = "NYTProf ", marks_magic[] = "#fOrTyTw";

/* Sets an error without text: the signal may have interrupted strerror() or printf(). */
static bool fail_in_signal(struct nytp_outfile *file)
{
    if (file->error.status == NYTP_OK)
        file->error.status = NYTP_ERR_IO;
    return false;
}

static bool fail(struct nytp_outfile *file, const char *what, const char *path)
{
    if (file->in_signal)
        return fail_in_signal(file);
    return nytp_error_set(&file->error, NYTP_ERR_IO, "%s %s: %s", what, path,
                          nytp_fd_why(errno));
}

static bool is_ours(const struct nytp_outfile *file)
{
    return nytp_fd_is(file->fd, &file->id);
}

static bool looks_like_profile(int fd, const struct stat *now)
{
    char head[sizeof profile_magic - 1];
    if (now->st_size == 0)
        return true;
    return pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head &&
           (memcmp(head, profile_magic, sizeof head) == 0 ||
            memcmp(head, marks_magic, sizeof head) == 0);
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

enum claim {
    CLAIMED,
    IN_USE,
    FOREIGN, /* not ours to open, see descriptor.h */
    NO_PROFILE,
    KEPT,  /* a profile that must not be replaced */
    MOVED, /* the path leads to another file now: try again */
    FAILED
};

static char *numbered(const char *path, unsigned n)
{
    char *longer = NULL;
    return asprintf(&longer, "%s.%u", path, n) < 0 ? NULL : longer;
}

static bool is_taken(const char *path, unsigned n)
{
    struct stat there;
    char *const longer = numbered(path, n);
    const bool is_taken = longer == NULL || lstat(longer, &there) == 0 || errno != ENOENT;
    free(longer);
    return is_taken;
}

/* Returns a free number after which none is taken, or 0. Numbers are given in order, so a few
 * tests find it among thousands. */
static unsigned free_number(const char *path)
{
    unsigned taken = 0, is_free = 1;
    while (is_taken(path, is_free)) {
        taken = is_free;
        if (is_free > UINT_MAX / 2)
            return 0;
        is_free *= 2;
    }
    while (is_free - taken > 1) {
        const unsigned middle = taken + (is_free - taken) / 2;
        if (is_taken(path, middle))
            taken = middle;
        else
            is_free = middle;
    }
    return is_free;
}

/* Renames the profile that an earlier process of this run finished to NAME.1 or the next free
 * name. We hold its lock, so nobody else renames it meanwhile. */
static enum claim move_away(const char *path)
{
    const unsigned n = free_number(path);
    char *const longer = n == 0 ? NULL : numbered(path, n);
    const bool ok = longer != NULL && rename(path, longer) == 0;
    free(longer);
    return ok ? MOVED : KEPT;
}

/* Returns whether a file was written in this run. The run's begin is found only when needed,
 * since that reads data of other processes. */
static bool is_of_run(struct nytp_outfile *file, const struct stat *now)
{
    if (file->run_began.tv_sec == 0)
        file->run_began = nytp_run_began();
    return !is_before(&now->st_mtim, &file->run_began);
}

/* Returns what to do about a file that we have locked. */
static enum claim judge(struct nytp_outfile *file, int fd, const char *path,
                        const struct stat *now)
{
    struct stat named;
    if (stat(path, &named) != 0 || named.st_dev != now->st_dev || named.st_ino != now->st_ino)
        return MOVED;
    if (!looks_like_profile(fd, now))
        return NO_PROFILE;
    if (now->st_size > LARGE && file->spares_large)
        return KEPT;
    if (now->st_size > 0 && is_of_run(file, now))
        return move_away(path);
    return CLAIMED;
}

static enum claim let_go(int fd, enum claim claim)
{
    close(fd);
    return claim;
}

static enum claim claimed(struct nytp_outfile *file, int fd, bool is_regular)
{
    file->fd = fd;
    file->is_regular = is_regular;
    return CLAIMED;
}

/* Changes nothing in the file before it is locked and known to be replaceable. */
static enum claim claim_regular(struct nytp_outfile *file, const char *path, int fd,
                                struct stat *now)
{
    const bool is_locked = flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    const enum claim claim = is_locked ? judge(file, fd, path, now) : IN_USE;
    if (claim != CLAIMED)
        return let_go(fd, claim);
    /* Not for empty files: ext4 would write them to disk at close. */
    if (now->st_size > 0 && ftruncate(fd, 0) != 0) {
        fail(file, "cannot empty", path);
        return let_go(fd, FAILED);
    }
    return claimed(file, fd, true);
}

/* FIFOs and devices are opened in place. */
static enum claim try_path(struct nytp_outfile *file, const char *path)
{
    struct stat now;
    const bool is_regular = stat(path, &now) != 0 || S_ISREG(now.st_mode);
    const int fd = nytp_fd_open(path, is_regular ? O_RDWR | O_CREAT : O_WRONLY, &now);
    if (fd == NYTP_FD_FOREIGN)
        return FOREIGN;
    if (fd < 0) {
        fail(file, "cannot open", path);
        return FAILED;
    }
    file->id = nytp_file_id_of(&now);
    if (S_ISREG(now.st_mode) != is_regular)
        return let_go(fd, MOVED);
    return is_regular ? claim_regular(file, path, fd, &now) : claimed(file, fd, false);
}

static enum claim claim_path(struct nytp_outfile *file, const char *path)
{
    enum claim claim = MOVED;
    for (int i = 0; i < MAX_TRIES && claim == MOVED; i++)
        claim = try_path(file, path);
    return claim == MOVED ? IN_USE : claim;
}

static bool replace_path(struct nytp_outfile *file, char *path)
{
    free(file->path);
    file->path = path;
    return path != NULL;
}

static bool append_pid(struct nytp_outfile *file)
{
    char *longer = NULL;
    if (asprintf(&longer, "%s.%ld", file->path, (long)getpid()) < 0)
        longer = NULL;
    if (!replace_path(file, longer))
        return nytp_out_of_memory(&file->error);
    return true;
}

static const char *why_not(const struct nytp_outfile *file, enum claim claim)
{
    struct stat now;
    if (claim == KEPT)
        return file->spares_large
                   ? "a one-line program does not replace the profile that is there"
                   : "the profile that is there cannot be moved away";
    if (claim == IN_USE)
        return file->is_beside_ancestor ? "a process above is writing the profile"
                                        : "another process is writing the profile";
    if (claim == NO_PROFILE || lstat(file->path, &now) != 0)
        return "the file is there and is no profile";
    return S_ISLNK(now.st_mode)      ? "the file is a symbolic link, which is not followed"
           : now.st_uid != geteuid() ? "the file is another user's"
                                     : "the file has a second name";
}

/* Takes another name and notes the reason. */
static bool rename_for(struct nytp_outfile *file, enum claim claim)
{
    file->is_beside_ancestor =
        claim == IN_USE &&
        nytp_run_is_ancestor(nytp_platform_lock_holder(file->id.dev, file->id.ino));
    const char *const why = why_not(file, claim);
    if (!append_pid(file))
        return false;
    snprintf(file->note, sizeof file->note, "%s, writing %s", why, file->path);
    file->spares_large = false;
    return true;
}

bool nytp_outfile_open(struct nytp_outfile *file, const char *path, bool spares_large)
{
    memset(file, 0, sizeof *file);
    file->fd = -1;
    file->spares_large = spares_large;
    if (!replace_path(file, nytp_absolute_path(path)))
        return nytp_out_of_memory(&file->error);
    enum claim claim = claim_path(file, file->path);
    if (claim != CLAIMED && claim != FAILED) {
        if (!rename_for(file, claim))
            return false;
        claim = claim_path(file, file->path);
    }
    if (claim != CLAIMED && claim != FAILED)
        nytp_error_set(&file->error, NYTP_ERR_IO, "cannot open %s: it is in use or no profile",
                       file->path);
    return claim == CLAIMED;
}

/* Reopens the file at its end: the program may have closed all descriptors, like daemons. */
static bool reopen(struct nytp_outfile *file)
{
    struct stat now;
    const int fd = file->is_regular ? nytp_fd_open(file->path, O_RDWR, &now) : -1;
    file->fd = fd < 0 ? -1 : fd;
    if (is_ours(file)) {
        flock(fd, LOCK_EX | LOCK_NB);
        return true;
    }
    file->fd = -1;
    if (fd >= 0)
        close(fd);
    if (file->in_signal)
        return fail_in_signal(file);
    return nytp_error_set(&file->error, NYTP_ERR_IO,
                          "cannot write %s: the program closed its descriptor", file->path);
}

bool nytp_outfile_write(void *context, const uint8_t *bytes, size_t len)
{
    struct nytp_outfile *const file = context;
    if (file->error.status != NYTP_OK)
        return false;
    if (!is_ours(file) && !reopen(file))
        return false;
    const off_t offset = file->is_regular ? (off_t)file->size : -1;
    const size_t written = nytp_fd_write(file->fd, bytes, len, offset);
    file->size += written;
    return written == len || fail(file, "cannot write", file->path);
}

bool nytp_outfile_overwrite(struct nytp_outfile *file, uint64_t offset, const uint8_t *bytes,
                            size_t len)
{
    if (!file->is_regular || file->error.status != NYTP_OK || !is_ours(file))
        return false;
    return nytp_fd_write(file->fd, bytes, len, (off_t)offset) == len ||
           fail(file, "cannot write", file->path);
}

bool nytp_outfile_truncate(struct nytp_outfile *file, uint64_t size)
{
    if (!file->is_regular || !is_ours(file) || ftruncate(file->fd, (off_t)size) != 0)
        return fail(file, "cannot cut", file->path);
    file->size = size;
    return true;
}

bool nytp_outfile_is_lost(const struct nytp_outfile *file)
{
    struct stat now;
    return file->is_regular && is_ours(file) && fstat(file->fd, &now) == 0 && now.st_nlink == 0;
}

/* Returns whether the name is the base plus numbers of processes or threads: ".7.t1". */
static bool is_numbered(const char *name, const char *base)
{
    const size_t len = strlen(base);
    if (strncmp(name, base, len) != 0 || name[len] == '\0')
        return false;
    for (const char *at = name + len; *at != '\0';) {
        const char *const number = at + (at[0] == '.' && at[1] == 't' ? 2 : 1);
        const size_t n_digits = strspn(number, "0123456789");
        if (*at != '.' || n_digits == 0)
            return false;
        at = number + n_digits;
    }
    return true;
}

/* Appends a name to the list if there is room. */
static void note_name(char *names, size_t size, const char *name)
{
    const size_t len = strlen(names);
    const size_t room = size - len;
    if (strlen(name) + 6 < room)
        snprintf(names + len, room, "%s%s", len == 0 ? "" : " ", name);
    else if (len < 3 || strcmp(names + len - 3, "...") != 0)
        snprintf(names + len, room, " ...");
}

static bool is_profile_of_run(struct nytp_outfile *file, const char *path)
{
    struct stat now;
    return lstat(path, &now) == 0 && S_ISREG(now.st_mode) && is_of_run(file, &now);
}

unsigned nytp_outfile_list_numbered(struct nytp_outfile *file, char *names, size_t size)
{
    const char *const slash = strrchr(file->path, '/');
    char *const folder =
        slash == NULL ? NULL : strndup(file->path, (size_t)(slash + 1 - file->path));
    struct dirent **entries = NULL;
    const int n_entries = folder == NULL ? -1 : scandir(folder, &entries, NULL, alphasort);
    unsigned n = 0;
    names[0] = '\0';
    for (int i = 0; i < n_entries; i++) {
        const char *const name = entries[i]->d_name;
        char *path = NULL;
        if (is_numbered(name, slash + 1) && asprintf(&path, "%s%s", folder, name) > 0 &&
            is_profile_of_run(file, path)) {
            note_name(names, size, name);
            n++;
        }
        free(path);
        free(entries[i]);
    }
    free(entries);
    free(folder);
    return n;
}

void nytp_outfile_close(struct nytp_outfile *file)
{
    if (!nytp_fd_close(file->fd, &file->id))
        fail(file, "cannot close", file->path);
    file->fd = -1;
    free(file->path);
    file->path = NULL;
}

/* ---- a copy of what was written so far ---- */

static bool refuse(char *text, size_t size, const char *name, const char *why)
{
    snprintf(text, size, "%.400s: %s", name, why);
    return false;
}

/* Returns whether the name is free or that of a profile written by this user. */
static bool may_replace(const char *name)
{
    struct stat there;
    if (lstat(name, &there) != 0)
        return errno == ENOENT;
    if (!S_ISREG(there.st_mode) || there.st_uid != geteuid() || there.st_size == 0)
        return false;
    const int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const bool is_profile = fd >= 0 && looks_like_profile(fd, &there);
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

bool nytp_outfile_checkpoint(const struct nytp_outfile *file, char *text, size_t size)
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
