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
static UV find_place(const void *op)
{
    UNOP call, name;
#ifdef USE_ITHREADS
    PADOP glob;
#else
    SVOP glob;
#endif
    if (!nytp_peek_memory(op, &call, sizeof call))
        return 0;
    const OP *const last = last_child(&call);
    if (last == NULL || !nytp_peek_memory(last, &name, sizeof name) ||
        name.op_type != OP_NULL || name.op_targ != OP_RV2CV ||
        !nytp_peek_memory(name.op_first, &glob, sizeof glob) || glob.op_type != OP_GV)
        return 0;
#ifdef USE_ITHREADS
    return (UV)glob.op_padix;
#else
    return PTR2UV(&((const SVOP *)name.op_first)->op_sv);
#endif
}

const void *nytp_named_callee(struct nytp_named_calls *known, const void *op, const void *next,
                              const void *pad)
{
    struct nytp_named_call *const call =
        &known->all[nytp_hash_u64(PTR2UV(op)) & (NYTP_NAMED_CALLS - 1)];
    const void *callee;
    if (call->op != op || call->next != next)
        *call = (struct nytp_named_call){op, next, find_place(op)};
    if (call->place == 0)
        return NULL;
#ifdef USE_ITHREADS
    const void *const at = (SV *const *)pad + call->place;
#else
    const void *const at = INT2PTR(const void *, call->place);
    PERL_UNUSED_VAR(pad);
#endif
    return nytp_peek_memory(at, &callee, sizeof callee) ? callee : NULL;
}
