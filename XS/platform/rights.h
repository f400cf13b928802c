/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Rights of threads. Linux has rights of each thread. The C library carries setuid() out in all
 * of them, but a program may call the kernel itself, and capabilities may stay in one thread
 * when they go from another. Our thread must have none that the program has given up.
 */
#ifndef NYTP_RIGHTS_H
#define NYTP_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Users and groups of a thread. */
struct nytp_rights {
    uid_t uids[3]; /* real, effective, saved */
    gid_t gids[3];
    uint64_t groups; /* a hash of the others */
    bool may_change; /* the thread can take on others */
};

/* Returns the rights of the calling thread of the program. */
struct nytp_rights nytp_rights_now(void);

bool nytp_rights_are_same(const struct nytp_rights *a, const struct nytp_rights *b);

/* Returns whether this is the real or effective user. */
bool nytp_rights_are_of(const struct nytp_rights *rights, uid_t user);

/* In our thread: returns whether it has rights that the program cannot get back. */
bool nytp_rights_are_given_up(void);

/* In our thread: acts with all its rights to files, also those without effect while its user is
 * another. Only Linux has such rights. */
void nytp_rights_use_on_files(void (*act)(void));

#endif
