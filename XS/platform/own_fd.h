/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A descriptor of ours among the program's. The program may close any number and be given it
 * again for something else, so ours is known by what it leads to, and has a high number: the
 * next one that the program opens is the one it would be without us.
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

/* From which number on ours are, by the limit that the process has now; 0: it has too few. */
int nytp_own_fd_lowest(void);

/* Move a descriptor there, if one is free, closing the other; it is close-on-exec then. Its
 * number. */
int nytp_own_fd_move(int fd, int lowest);

/* These two are for the tick thread, too, and leave errno alone. */

/* Notes the file to which this descriptor leads, after it was moved. */
struct nytp_own_fd nytp_own_fd_of(int fd);

/* Its number, or -1 if that leads elsewhere by now: no system call does anything with it. */
int nytp_own_fd(const struct nytp_own_fd *own);

#endif
