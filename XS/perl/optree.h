/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A walk over a tree of ops: each op before its kids, kids and siblings in order. Without
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

/* Begins with `op` (may be NULL), its siblings and all below. End the walk with
 * nytp_optree_end() at any point. */
void nytp_optree_begin(struct nytp_optree *walk, const OP *op);

/* Visits this op next, with its siblings and all below: some trees are not among the kids. */
void nytp_optree_add(struct nytp_optree *walk, const OP *op);

/* Returns the next op, or NULL at the end or if memory is out. */
const OP *nytp_optree_next(struct nytp_optree *walk);

void nytp_optree_end(struct nytp_optree *walk);

#endif
