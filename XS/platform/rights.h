/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Rights of threads. The C library carries setuid() and its like out in every thread,
 * but Linux has rights of each thread: a program that calls the kernel itself changes those of
 * one thread, and capabilities may stay in one when they go from another. Our thread must have
 * none that the program has given up.
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
    bool may_change; /* it can take on others */
};

/* Returns the rights of the calling thread of the program. */
struct nytp_rights nytp_rights_now(void);

bool nytp_rights_are_same(const struct nytp_rights *a, const struct nytp_rights *b);

/* Whether this is its real or effective user. */
bool nytp_rights_are_of(const struct nytp_rights *rights, uid_t user);

/* In a thread of ours: whether it has rights that the program cannot have again. */
bool nytp_rights_are_given_up(void);

/* In a thread of ours, as it begins: it goes on having its capabilities when the program gives
 * up its rights, until it has undone what it has to, noticed, and ended. */
void nytp_rights_keep(void);

/* In a thread of ours: do something to files with all rights to files that it has, also those
 * that have no effect while its user is another. Where the system is not Linux, it has none. */
void nytp_rights_use_on_files(void (*act)(void));

#endif
