/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A walk over a tree of ops; see optree.h. One op is pending for each level above.
 */
#include "optree.h"

#include <stdlib.h>
#include <string.h>

void nytp_optree_begin(struct nytp_optree *walk, const OP *op)
{
    walk->pending = walk->room;
    walk->size = C_ARRAY_LENGTH(walk->room);
    walk->n = 0;
    if (op != NULL)
        walk->pending[walk->n++] = op;
}

/* Makes room for the ops that one op can add: a kid, a sibling and two by nytp_optree_add(). */
static bool grow(struct nytp_optree *walk)
{
    if (walk->n + 4 <= walk->size)
        return true;
    const bool is_owned = walk->pending != walk->room;
    const OP **const larger =
        (const OP **)realloc(is_owned ? walk->pending : NULL, walk->size * 2 * sizeof *larger);
    if (larger == NULL)
        return false;
    if (!is_owned)
        memcpy(larger, walk->room, sizeof walk->room);
    walk->pending = larger;
    walk->size *= 2;
    return true;
}

const OP *nytp_optree_next(struct nytp_optree *walk)
{
    if (walk->n == 0 || !grow(walk))
        return NULL;
    const OP *const op = walk->pending[--walk->n];
    const OP *const sibling = OpSIBLING(op);
    const OP *const kid = op->op_flags & OPf_KIDS ? cUNOPx(op)->op_first : NULL;
    if (sibling != NULL)
        walk->pending[walk->n++] = sibling;
    if (kid != NULL)
        walk->pending[walk->n++] = kid;
    return op;
}

void nytp_optree_add(struct nytp_optree *walk, const OP *op)
{
    if (op != NULL && walk->n < walk->size)
        walk->pending[walk->n++] = op;
}

void nytp_optree_end(struct nytp_optree *walk)
{
    if (walk->pending != walk->room)
        free(walk->pending);
}
