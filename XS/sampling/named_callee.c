/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The sub that a call names; see named_callee.h.
 */
#include "named_callee.h"

#include "XS/perl/index.h"
#include "XS/platform/memory.h"

enum {
    MOST_CHILDREN = 64,
};

/* Returns the last child of an entersub, whose children mostly lie in a list of their own. */
static const OP *last_child(const UNOP *call)
{
    const OP *at = call->op_first;
    UNOP child;
    for (int i = 0; i < MOST_CHILDREN && nytp_peek_memory(at, &child, sizeof child); i++) {
        const OP *const sibling = OpSIBLING((OP *)&child);
        if (sibling == NULL && i > 0)
            return at;
        at = sibling != NULL ? sibling : child.op_first;
    }
    return NULL;
}

/* perl turns the rv2cv of a call into a null op, which keeps its type in op_targ. */
static const void *find_callee(const void *op, const void *pad)
{
    UNOP call, name;
#ifdef USE_ITHREADS
    PADOP glob;
#else
    SVOP glob;
#endif
    if (!nytp_peek_memory(op, &call, sizeof call))
        return NULL;
    const OP *const last = last_child(&call);
    if (last == NULL || !nytp_peek_memory(last, &name, sizeof name) ||
        name.op_type != OP_NULL || name.op_targ != OP_RV2CV ||
        !nytp_peek_memory(name.op_first, &glob, sizeof glob) || glob.op_type != OP_GV)
        return NULL;
#ifdef USE_ITHREADS
    const void *callee;
    return nytp_peek_memory((SV *const *)pad + glob.op_padix, &callee, sizeof callee) ? callee
                                                                                      : NULL;
#else
    PERL_UNUSED_VAR(pad);
    return glob.op_sv;
#endif
}

const void *nytp_named_callee(struct nytp_named_calls *known, const void *op, const void *next,
                              const void *pad)
{
    struct nytp_named_call *const call =
        &known->all[nytp_hash_u64(PTR2UV(op)) & (NYTP_NAMED_CALLS - 1)];
    if (call->op != op || call->next != next)
        *call = (struct nytp_named_call){op, next, find_callee(op, pad)};
    return call->callee;
}
