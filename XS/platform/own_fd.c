/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Descriptors of ours; see own_fd.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "own_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HIGHEST_FD = 4096,
    FD_RESERVE = 16, /* numbers below the limit that stay free for the program */
};

/* Returns the lowest number for ours, or 0 if the limit is too low. */
static int lowest_number(void)
{
    struct rlimit limit;
    rlim_t top = HIGHEST_FD;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < top)
        top = limit.rlim_cur;
    return top < 4 * FD_RESERVE ? 0 : (int)(top - FD_RESERVE);
}

static bool look(int fd, struct stat *now)
{
#if NYTP_KERNEL_CALLS
    return nytp_kernel_call(SYS_fstat, (long[6]){fd, (long)now}) == 0;
#else
    const int error = errno;
    const bool is_open = fstat(fd, now) == 0;
    errno = error;
    return is_open;
#endif
}

int nytp_own_fd_move(int fd)
{
    const int lowest = lowest_number();
    const int high = lowest > 0 ? fcntl(fd, F_DUPFD_CLOEXEC, lowest) : -1;
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

struct nytp_own_fd nytp_own_fd_of(int fd)
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

int nytp_own_fd(const struct nytp_own_fd *own)
{
    struct stat now;
    return own->fd >= 0 && look(own->fd, &now) && now.st_dev == own->dev &&
                   now.st_ino == own->ino
               ? own->fd
               : -1;
}
