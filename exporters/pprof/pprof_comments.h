/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The comments of pprof's message, for facts that no other field has: the program and perl,
 * and what is missing or estimated. `pprof -comments` shows them.
 */
#ifndef NYTP_PPROF_COMMENTS_H
#define NYTP_PPROF_COMMENTS_H

#include "pprof_tables.h"

#define NYTP_PPROF_MAX_COMMENTS 32 /* further ones are dropped */

/* A zeroed struct is empty. */
struct nytp_pprof_comments {
    int64_t ids[NYTP_PPROF_MAX_COMMENTS]; /* strings */
    size_t n;
};

/* Adds a comment in printf() style, cut to 1023 bytes. Drops it if there are too many. */
__attribute__((format(printf, 3, 4))) void
nytp_pprof_comment(struct nytp_pprof_comments *comments, struct nytp_pprof_tables *tables,
                   const char *format, ...);

/* Adds script, perl, partial and estimated parts, and the number of pruned contexts. */
void nytp_pprof_comment_all(struct nytp_pprof_comments *comments,
                            struct nytp_pprof_tables *tables, uint64_t n_pruned);

#endif
