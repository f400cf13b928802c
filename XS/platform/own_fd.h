/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A descriptor of ours among the program's. The program may close it and get its number for
 * another file, so it is identified by its file. Its number is high: the next one that the
 * program opens is the same as without us.
 */
#ifndef NYTP_OWN_FD_H
#define NYTP_OWN_FD_H

#include "kernel.h"

#include <sys/types.h>

struct nytp_own_fd {
    int fd; /* -1: none */
    dev_t dev;
    ino_t ino;
};

/* Moves a descriptor to a high number under the process's present limit, close-on-exec. Returns
 * its number: the old one if the limit is too low or no high number is free. */
int nytp_own_fd_move(int fd);

/* These two leave errno alone and may be called in the tick thread. The first notes the file of
 * a descriptor that has been moved. The second returns its number, or -1 if that is another
 * file by now. */
struct nytp_own_fd nytp_own_fd_of(int fd);
int nytp_own_fd(const struct nytp_own_fd *own);

#endif
