/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Whose rights a thread has. The C library carries setuid() and its like out in every thread
 * that it knows, and does not know ours (raw_thread.h): that has to see by itself when the
 * program has given up rights, and have none of them any more.
 */
#ifndef NYTP_RIGHTS_H
#define NYTP_RIGHTS_H

#include "raw_thread.h"

#include <sys/types.h>

/* Users and groups of a thread. */
struct nytp_rights {
    uid_t uids[3]; /* real, effective, saved */
    gid_t gids[3];
    uint64_t groups; /* a hash of the others */
    bool may_change; /* it can take on others */
};

/* Those of the calling thread of the program. */
struct nytp_rights nytp_rights_now(void);

bool nytp_rights_are_same(const struct nytp_rights *a, const struct nytp_rights *b);

/* Whether this is its real or effective user. */
bool nytp_rights_are_of(const struct nytp_rights *rights, uid_t user);

/* In a thread of ours: whether it has rights that the program cannot have again. */
bool nytp_rights_are_given_up(void);

#endif
