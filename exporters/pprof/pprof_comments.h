/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The comments of pprof's message, which tell of the recording what no other field can: which
 * program and perl it was, what is missing or estimated. `pprof -comments` shows them.
 */
#ifndef NYTP_PPROF_COMMENTS_H
#define NYTP_PPROF_COMMENTS_H

#include "pprof_tables.h"

#define NYTP_PPROF_MAX_COMMENTS 32 /* further ones are left out */

/* Zeroed = none. */
struct nytp_pprof_comments {
    int64_t ids[NYTP_PPROF_MAX_COMMENTS]; /* strings */
    size_t n;
};

/* Add a comment, as printf() would write it. A text longer than 1023 bytes is cut; a comment
 * too many is left out. */
__attribute__((format(printf, 3, 4))) void
nytp_pprof_comment(struct nytp_pprof_comments *comments, struct nytp_pprof_tables *tables,
                   const char *format, ...);

/* Script, perl, what is partial, what is estimated; how many contexts were pruned as too deep.
 */
void nytp_pprof_comment_all(struct nytp_pprof_comments *comments,
                            struct nytp_pprof_tables *tables, uint64_t n_pruned);

#endif
