/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A walk over a tree of ops: each op before its kids, kids and siblings in their order. Without
 * recursion: generated code nests ops hundreds of thousands deep, and the C stack is the
 * program's.
 */
#ifndef NYTP_OPTREE_H
#define NYTP_OPTREE_H

#include "perl_compat.h"

struct nytp_optree {
    const OP **pending; /* to visit, the next one last; `room` or owned */
    size_t n, size;
    const OP *room[64];
};

/* Begin with `op`, its siblings and all below; op may be NULL. End the walk with
 * nytp_optree_end(), whenever you like. */
void nytp_optree_begin(struct nytp_optree *walk, const OP *op);

/* Visit this one, too, with its siblings and all below, next: perl keeps some trees beside that of
 * the kids. */
void nytp_optree_add(struct nytp_optree *walk, const OP *op);

/* The next op; NULL: that was all, or memory is out. */
const OP *nytp_optree_next(struct nytp_optree *walk);

void nytp_optree_end(struct nytp_optree *walk);

#endif
