/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Safe use of descriptors; see descriptor.h.
 */
#include "descriptor.h"

#include "formats/base/platform.h"

#include "XS/platform/own_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    PATIENCE_MS = 1000, /* wait for a FIFO's reader, or for a reader to read */
    STEP_MS = 10,
};

/* ---- identity of files ---- */

struct nytp_file_id nytp_file_id_of(const struct stat *file)
{
    return (struct nytp_file_id){file->st_dev, file->st_ino};
}

bool nytp_is_file(const struct stat *now, const struct nytp_file_id *id)
{
    return now->st_dev == id->dev && now->st_ino == id->ino;
}

bool nytp_fd_is(int fd, const struct nytp_file_id *id)
{
    struct stat now;
    return fd >= 0 && fstat(fd, &now) == 0 && nytp_is_file(&now, id);
}

bool nytp_fd_close(int fd, const struct nytp_file_id *id)
{
    return !nytp_fd_is(fd, id) || close(fd) == 0;
}

bool nytp_path_is(const char *path, const struct nytp_file_id *id)
{
    struct stat now;
    return lstat(path, &now) == 0 && nytp_is_file(&now, id);
}

void nytp_path_remove(const char *path, const struct nytp_file_id *id)
{
    if (nytp_path_is(path, id))
        unlink(path);
}

/* ---- open ---- */

/* Returns whether others may write to the folder: all, or its group unless that is the user's
 * own. An unreadable folder is not shared: nothing can be opened there. */
static bool is_in_shared_folder(const char *path)
{
    struct stat folder;
    char name[PATH_MAX] = ".";
    const char *const slash = strrchr(path, '/');
    const size_t len = slash == NULL ? 0 : (size_t)(slash + 1 - path);
    if (len >= sizeof name)
        return true;
    memcpy(name, path, len);
    if (len > 0)
        name[len] = '\0';
    if (stat(name, &folder) != 0)
        return true;
    return (folder.st_mode & S_IWOTH) != 0 ||
           ((folder.st_mode & S_IWGRP) != 0 && folder.st_gid != getegid()) ||
           (folder.st_uid != geteuid() && folder.st_uid != 0);
}

static bool is_foreign(const struct stat *now)
{
    return S_ISLNK(now->st_mode) || now->st_uid != geteuid() ||
           (S_ISREG(now->st_mode) && now->st_nlink > 1);
}

static bool is_fifo(const char *path)
{
    struct stat now;
    return stat(path, &now) == 0 && S_ISFIFO(now.st_mode);
}

static int open_patiently(const char *path, int flags)
{
    const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};
    int fd = open(path, flags, 0666);
    for (int waited = 0; fd < 0 && errno == ENXIO && waited < PATIENCE_MS; waited += STEP_MS) {
        if (!is_fifo(path)) {
            errno = ENXIO;
            break;
        }
        nanosleep(&step, NULL);
        fd = open(path, flags, 0666);
    }
    return fd;
}

/* A file is checked before opening, since devices may take that for a command, and after, since
 * it may have been replaced meanwhile. */
int nytp_fd_open(const char *path, int flags, struct stat *now)
{
    const bool is_shared = is_in_shared_folder(path);
    if (is_shared && lstat(path, now) == 0 && is_foreign(now))
        return NYTP_FD_FOREIGN;
    const int fd = open_patiently(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC |
                                            (is_shared ? O_NOFOLLOW : 0));
    if (fd < 0)
        return is_shared && errno == ELOOP ? NYTP_FD_FOREIGN : -1;
    if (fstat(fd, now) == 0 && !(is_shared && is_foreign(now)))
        return nytp_own_fd_move(fd);
    close(fd);
    return NYTP_FD_FOREIGN;
}

/* ---- write ---- */

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool wait_writable(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
    const int64_t end = now_ms() + PATIENCE_MS;
    int64_t left = PATIENCE_MS;
    int n;
    while ((n = poll(&poll_fd, 1, (int)left)) < 0 && errno == EINTR)
        left = end > now_ms() ? end - now_ms() : 0;
    if (n == 0)
        errno = EAGAIN;
    return n > 0;
}

/* Waits before each write, since the program's own descriptors (standard error) block. A ready
 * pipe has room for a message. */
static size_t write_all(int fd, const char *bytes, size_t len, off_t offset)
{
    size_t done = 0;
    while (done < len) {
        if (offset < 0 && !wait_writable(fd))
            break;
        const ssize_t n = offset < 0
                              ? write(fd, bytes + done, len - done)
                              : pwrite(fd, bytes + done, len - done, offset + (off_t)done);
        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || (errno != EINTR && errno != EAGAIN))
            break;
    }
    return done;
}

/* Drops those of the two signals that the write raised; they go to the writing thread. */
static void drop_raised(const sigset_t *both, const sigset_t *pending_before)
{
    sigset_t raised = *both;
    if (sigismember(pending_before, SIGPIPE))
        sigdelset(&raised, SIGPIPE);
    if (sigismember(pending_before, SIGXFSZ))
        sigdelset(&raised, SIGXFSZ);
    nytp_platform_drop_signals(&raised);
}

size_t nytp_fd_write(int fd, const void *bytes, size_t len, off_t offset)
{
    sigset_t both, mask, pending;
    sigemptyset(&both);
    sigaddset(&both, SIGPIPE);
    sigaddset(&both, SIGXFSZ);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &both, &mask);
    const size_t done = write_all(fd, bytes, len, offset);
    const int why = errno;
    if (done < len && (why == EPIPE || why == EFBIG))
        drop_raised(&both, &pending);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    errno = why;
    return done;
}

const char *nytp_fd_why(int why)
{
    return why == ENXIO    ? "nobody reads from it"
           : why == EAGAIN ? "its reader does not read"
                           : strerror(why);
}
