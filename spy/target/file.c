/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reads files that may change; see file.h.
 */
#define _GNU_SOURCE
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int nytp_file_open(const char *path, uint64_t *len)
{
    char found[40];
    struct stat status;
    const int there = open(path, O_PATH | O_CLOEXEC);
    if (there < 0)
        return -1;
    snprintf(found, sizeof found, "/proc/self/fd/%d", there);
    const bool is_file = fstat(there, &status) == 0 && S_ISREG(status.st_mode);
    const int fd = is_file ? open(found, O_RDONLY | O_CLOEXEC) : -1;
    const int reason = is_file ? errno : EINVAL;
    close(there);
    errno = reason;
    *len = is_file ? (uint64_t)status.st_size : 0;
    return fd;
}

bool nytp_file_read(int fd, uint64_t from, void *to, size_t len)
{
    size_t done = 0;
    while (done < len) {
        const ssize_t got = pread(fd, (char *)to + done, len - done, (off_t)(from + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}
