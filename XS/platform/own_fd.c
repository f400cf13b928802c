/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Descriptors of ours; see own_fd.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "own_fd.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HIGHEST_FD = 4096,
    FD_RESERVE = 16, /* keep below the limit by this many, they may be counted on */
};

int nytp_own_fd_lowest(void)
{
    struct rlimit limit;
    rlim_t top = HIGHEST_FD;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < top)
        top = limit.rlim_cur;
    return top < 4 * FD_RESERVE ? 0 : (int)(top - FD_RESERVE);
}

#if NYTP_RAW_THREADS

NYTP_RAW_CODE static int duplicate(int fd, int lowest)
{
    return (int)nytp_raw_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, lowest, 0, 0, 0);
}

NYTP_RAW_CODE static void close_fd(int fd)
{
    nytp_raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}

NYTP_RAW_CODE static bool look(int fd, struct stat *now)
{
    return nytp_raw_syscall(SYS_fstat, fd, (long)now, 0, 0, 0, 0) == 0;
}

#else

static int duplicate(int fd, int lowest)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, lowest);
}

static void close_fd(int fd)
{
    close(fd);
}

static bool look(int fd, struct stat *now)
{
    return fstat(fd, now) == 0;
}

#endif

NYTP_RAW_CODE int nytp_own_fd_move(int fd, int lowest)
{
    const int high = lowest > 0 ? duplicate(fd, lowest) : -1;
    if (high < 0)
        return fd;
    close_fd(fd);
    return high;
}

NYTP_RAW_CODE struct nytp_own_fd nytp_own_fd_of(int fd)
{
    struct stat now;
    struct nytp_own_fd own = {.fd = -1};
    if (!look(fd, &now))
        return own;
    own.fd = fd;
    own.dev = now.st_dev;
    own.ino = now.st_ino;
    return own;
}

NYTP_RAW_CODE int nytp_own_fd(const struct nytp_own_fd *own)
{
    struct stat now;
    return own->fd >= 0 && look(own->fd, &now) && now.st_dev == own->dev &&
                   now.st_ino == own->ino
               ? own->fd
               : -1;
}
