/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The profile on disk; see outfile.h.
 *
 * Two processes that are given one name are told apart by flock(): the lock belongs to the
 * open file, so it needs no pid, survives our moving the descriptor, and ends with the
 * process. Whoever finds the file locked takes another name.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* asprintf; perl asks for it only when it has threads */
#endif
#include "outfile.h"

#include "XS/ground/run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

enum {
    FIFO_PATIENCE_MS = 1000, /* how long a FIFO may have no reader yet */
    FIFO_STEP_MS = 10,
    HIGHEST_FD = 4096,
    FD_RESERVE = 16, /* keep below the limit by this many, they may be counted on */
    MAX_TRIES = 100, /* while other processes move the file away */
    LARGE = 65536,
};

/* Ours, and Devel::DProf's. */
static const char profile_magic[] = "NYTProf ", marks_magic[] = "#fOrTyTw";

/* An error without its text: strerror() and printf() may be what the signal has interrupted. */
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
    return nytp_error_set(&file->error, NYTP_ERR_IO, "%s %s: %s", what, path, strerror(errno));
}

static bool is_ours(const struct nytp_outfile *file, int fd)
{
    struct stat now;
    return fd >= 0 && fstat(fd, &now) == 0 && now.st_dev == file->dev &&
           now.st_ino == file->ino;
}

/* The pid that holds the flock on a file, from the kernel's list; 0 if it does not tell. */
static long lock_holder(dev_t dev, ino_t ino)
{
    FILE *const list = fopen("/proc/locks", "re");
    if (list == NULL)
        return 0;
    char line[256];
    long holder = 0;
    while (holder == 0 && fgets(line, sizeof line, list) != NULL) {
        long pid;
        unsigned major_number, minor_number;
        uintmax_t inode;
        if (sscanf(line, "%*d: FLOCK %*s %*s %ld %x:%x:%" SCNuMAX, &pid, &major_number,
                   &minor_number, &inode) == 4 &&
            major_number == major(dev) && minor_number == minor(dev) && inode == ino)
            holder = pid;
    }
    fclose(list);
    return holder;
}

static bool held_by_ancestor(dev_t dev, ino_t ino)
{
    return nytp_run_is_ancestor(lock_holder(dev, ino));
}

/* Give the file a high descriptor, for programs that expect the next one to be 3. */
static int move_high(int fd)
{
    struct rlimit limit;
    rlim_t top = HIGHEST_FD;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < top)
        top = limit.rlim_cur;
    if (top < 4 * FD_RESERVE)
        return fd;
    const int high = fcntl(fd, F_DUPFD_CLOEXEC, (int)(top - FD_RESERVE));
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

static void keep(struct nytp_outfile *file, int fd, const struct stat *now)
{
    file->fd = move_high(fd);
    file->dev = now->st_dev;
    file->ino = now->st_ino;
    file->is_regular = S_ISREG(now->st_mode);
    file->size = 0;
}

static bool open_fifo(struct nytp_outfile *file, const char *path, const struct stat *now)
{
    int fd = -1;
    for (int waited = 0; waited <= FIFO_PATIENCE_MS; waited += FIFO_STEP_MS) {
        fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0 || errno != ENXIO)
            break;
        const struct timespec step = {.tv_nsec = FIFO_STEP_MS * 1000000L};
        nanosleep(&step, NULL);
    }
    if (fd < 0)
        return fail(file, "cannot open", path);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    keep(file, fd, now);
    return true;
}

static bool open_device(struct nytp_outfile *file, const char *path, const struct stat *now)
{
    const int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return fail(file, "cannot open", path);
    keep(file, fd, now);
    return true;
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

/* In a folder that everybody may write to, as /tmp, somebody else may have laid a file there to
 * read what we write, or a link to one that we may write and he may not. */
static bool is_in_shared_folder(const char *path)
{
    struct stat folder;
    const char *const slash = strrchr(path, '/');
    char *const name = slash == NULL ? NULL : strndup(path, (size_t)(slash + 1 - path));
    const bool is_shared =
        name != NULL && stat(name, &folder) == 0 && (folder.st_mode & S_IWOTH) != 0;
    free(name);
    return is_shared;
}

enum claim {
    CLAIMED,
    IN_USE,
    FOREIGN,
    KEPT,  /* a profile that is not to be replaced */
    MOVED, /* what was opened is not what the path leads to any more: try again */
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

/* A number behind which nothing stands, mostly the first: numbers are given one after another,
 * so a few looks find it among thousands. 0: none. */
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

/* Give the profile that an earlier process of this run finished another name, NAME.1 or the
 * next that is free. We hold its lock, and nobody else renames what is at the path meanwhile.
 */
static enum claim move_away(const char *path)
{
    const unsigned n = free_number(path);
    char *const longer = n == 0 ? NULL : numbered(path, n);
    const bool ok = longer != NULL && rename(path, longer) == 0;
    free(longer);
    return ok ? MOVED : KEPT;
}

/* Whether a file was written in this run. When that began is asked only where there is a
 * profile already, because it takes a look at some files of /proc. */
static bool is_of_run(struct nytp_outfile *file, const struct stat *now)
{
    if (file->run_began.tv_sec == 0)
        file->run_began = nytp_run_began();
    return !is_before(&now->st_mtim, &file->run_began);
}

/* What is to be done about a file that we have locked. */
static enum claim judge(struct nytp_outfile *file, int fd, const char *path,
                        const struct stat *now)
{
    struct stat named;
    if (stat(path, &named) != 0 || named.st_dev != now->st_dev || named.st_ino != now->st_ino)
        return MOVED;
    if (!looks_like_profile(fd, now) || (file->is_shared && now->st_uid != geteuid()))
        return FOREIGN;
    if (now->st_size > LARGE && file->spares_large)
        return KEPT;
    if (now->st_size > 0 && is_of_run(file, now))
        return move_away(path);
    return CLAIMED;
}

/* Nothing is changed in the file before it is locked and known to be replaceable. */
static enum claim try_regular(struct nytp_outfile *file, const char *path)
{
    struct stat now;
    const int links = file->is_shared ? O_NOFOLLOW : 0;
    const int fd = open(path, O_RDWR | O_CREAT | O_NOCTTY | O_CLOEXEC | links, 0666);
    if (fd < 0 && errno == ELOOP)
        return FOREIGN;
    if (fd < 0 || fstat(fd, &now) != 0) {
        fail(file, "cannot open", path);
        if (fd >= 0)
            close(fd);
        return FAILED;
    }
    file->dev = now.st_dev;
    file->ino = now.st_ino;
    const bool is_locked = flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    const enum claim claim = is_locked ? judge(file, fd, path, &now) : IN_USE;
    if (claim != CLAIMED) {
        close(fd);
        return claim;
    }
    /* One that is empty is left alone: ext4 would have it on disk when it is closed. */
    if (now.st_size > 0 && (ftruncate(fd, 0) != 0 || fstat(fd, &now) != 0)) {
        fail(file, "cannot empty", path);
        close(fd);
        return FAILED;
    }
    keep(file, fd, &now);
    return CLAIMED;
}

static enum claim claim_regular(struct nytp_outfile *file, const char *path)
{
    enum claim claim = MOVED;
    for (int i = 0; i < MAX_TRIES && claim == MOVED; i++)
        claim = try_regular(file, path);
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
        return nytp_error_set(&file->error, NYTP_ERR_MEMORY, "out of memory");
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
    return file->is_shared && lstat(file->path, &now) == 0 && S_ISLNK(now.st_mode)
               ? "the file is a symbolic link, which is not followed"
               : "the file is there and is no profile";
}

static bool open_regular(struct nytp_outfile *file)
{
    enum claim claim = claim_regular(file, file->path);
    if (claim != CLAIMED && claim != FAILED) {
        file->is_beside_ancestor = claim == IN_USE && held_by_ancestor(file->dev, file->ino);
        const char *const why = why_not(file, claim);
        if (!append_pid(file))
            return false;
        snprintf(file->note, sizeof file->note, "%s, writing %s", why, file->path);
        file->spares_large = false;
        claim = claim_regular(file, file->path);
    }
    if (claim != CLAIMED && claim != FAILED)
        nytp_error_set(&file->error, NYTP_ERR_IO, "cannot open %s: it is in use or no profile",
                       file->path);
    return claim == CLAIMED;
}

static char *absolute_path(const char *path)
{
    if (path[0] == '/')
        return strdup(path);
    char *const cwd = getcwd(NULL, 0);
    char *absolute = NULL;
    if (cwd == NULL)
        return strdup(path);
    if (asprintf(&absolute, "%s/%s", cwd, path[0] == '.' && path[1] == '/' ? path + 2 : path) <
        0)
        absolute = NULL;
    free(cwd);
    return absolute;
}

bool nytp_outfile_open(struct nytp_outfile *file, const char *path, bool spares_large)
{
    struct stat now;
    memset(file, 0, sizeof *file);
    file->fd = -1;
    file->spares_large = spares_large;
    if (!replace_path(file, absolute_path(path)))
        return nytp_error_set(&file->error, NYTP_ERR_MEMORY, "out of memory");
    file->is_shared = is_in_shared_folder(file->path);
    if (stat(file->path, &now) != 0 || S_ISREG(now.st_mode))
        return open_regular(file);
    if (S_ISFIFO(now.st_mode))
        return open_fifo(file, file->path, &now);
    if (S_ISCHR(now.st_mode) || S_ISBLK(now.st_mode))
        return open_device(file, file->path, &now);
    errno = S_ISDIR(now.st_mode) ? EISDIR : EINVAL;
    return fail(file, "cannot open", file->path);
}

/* Open the file again, at its end: the program may have closed all descriptors, as daemons do,
 * and opened others since. */
static bool reopen(struct nytp_outfile *file)
{
    const int fd = file->is_regular ? open(file->path, O_RDWR | O_CLOEXEC) : -1;
    if (!is_ours(file, fd)) {
        if (fd >= 0)
            close(fd);
        file->fd = -1;
        if (file->in_signal)
            return fail_in_signal(file);
        return nytp_error_set(&file->error, NYTP_ERR_IO,
                              "cannot write %s: the program closed its descriptor", file->path);
    }
    flock(fd, LOCK_EX | LOCK_NB);
    file->fd = move_high(fd);
    return true;
}

/* Whether so much more fits: beyond the limit on file sizes write() would raise SIGXFSZ in the
 * program. */
static bool fits_limit(struct nytp_outfile *file, size_t len)
{
    struct rlimit limit;
    if (!file->is_regular || getrlimit(RLIMIT_FSIZE, &limit) != 0 ||
        limit.rlim_cur == RLIM_INFINITY || file->size + len <= limit.rlim_cur)
        return true;
    errno = EFBIG;
    return false;
}

static bool wait_writable(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
    return poll(&poll_fd, 1, -1) > 0 || errno == EINTR;
}

static bool write_all(struct nytp_outfile *file, const uint8_t *bytes, size_t len)
{
    while (len > 0) {
        const ssize_t n = file->is_regular ? pwrite(file->fd, bytes, len, (off_t)file->size)
                                           : write(file->fd, bytes, len);
        if (n < 0 && errno == EAGAIN && wait_writable(file->fd))
            continue;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        file->size += (uint64_t)n;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

static void drop_pending(int signal)
{
    const struct timespec now = {0};
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    sigtimedwait(&one, NULL, &now);
}

/* As write_all(), where the reader of a FIFO may be gone: that must not kill the program by
 * SIGPIPE. */
static bool write_without_sigpipe(struct nytp_outfile *file, const uint8_t *bytes, size_t len)
{
    sigset_t pipe_only, before, pending;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
    const bool ok = write_all(file, bytes, len);
    const int why = errno;
    if (!ok && why == EPIPE && !sigismember(&pending, SIGPIPE))
        drop_pending(SIGPIPE);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return ok;
}

bool nytp_outfile_write(void *context, const uint8_t *bytes, size_t len)
{
    struct nytp_outfile *const file = context;
    if (file->error.status != NYTP_OK)
        return false;
    if (!is_ours(file, file->fd) && !reopen(file))
        return false;
    const bool ok =
        fits_limit(file, len) && (file->is_regular ? write_all(file, bytes, len)
                                                   : write_without_sigpipe(file, bytes, len));
    return ok || fail(file, "cannot write", file->path);
}

bool nytp_outfile_overwrite(struct nytp_outfile *file, uint64_t offset, const uint8_t *bytes,
                            size_t len)
{
    if (!file->is_regular || file->error.status != NYTP_OK || !is_ours(file, file->fd))
        return false;
    return pwrite(file->fd, bytes, len, (off_t)offset) == (ssize_t)len ||
           fail(file, "cannot write", file->path);
}

bool nytp_outfile_truncate(struct nytp_outfile *file, uint64_t size)
{
    if (!file->is_regular || !is_ours(file, file->fd) || ftruncate(file->fd, (off_t)size) != 0)
        return fail(file, "cannot cut", file->path);
    file->size = size;
    return true;
}

bool nytp_outfile_is_lost(const struct nytp_outfile *file)
{
    struct stat now;
    return file->is_regular && is_ours(file, file->fd) && fstat(file->fd, &now) == 0 &&
           now.st_nlink == 0;
}

/* Whether the name is the base with numbers of processes or threads behind it: ".7", ".t1",
 * ".7.t1". */
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

/* Append a name to the list, as long as there is room. */
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
    if (is_ours(file, file->fd) && close(file->fd) != 0)
        fail(file, "cannot close", file->path);
    file->fd = -1;
    free(file->path);
    file->path = NULL;
}
