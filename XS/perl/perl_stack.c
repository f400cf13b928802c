/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * perl's stack of open sub calls; see perl_stack.h. Contexts above si_cxix are not read: they
 * hold data of earlier calls, and statements that may be freed.
 */
#include "perl_stack.h"

void nytp_perl_stack_begin(pTHX_ struct nytp_perl_stack *walk)
{
    walk->si = PL_curstackinfo;
    walk->index = cxstack_ix;
}

/* While a sub is left its context stays for a moment without a CV (inline.h, cx_popsub). */
static bool is_call(const PERL_CONTEXT *cx)
{
    return CxTYPE(cx) == CXt_SUB && !(cx->cx_type & CXp_SUB_RE_FAKE) && cx->blk_sub.cv != NULL;
}

bool nytp_perl_stack_next(struct nytp_perl_stack *walk, struct nytp_perl_call *call)
{
    for (; walk->si != NULL; walk->si = walk->si->si_prev,
                             walk->index = walk->si == NULL ? -1 : walk->si->si_cxix) {
        while (walk->index >= 0) {
            const I32 index = walk->index--;
            const PERL_CONTEXT *const cx = &walk->si->si_cxstack[index];
            if (!is_call(cx))
                continue;
            *call = (struct nytp_perl_call){
                .cv = cx->blk_sub.cv,
                .site = cx->blk_oldcop,
                .si = walk->si,
                .index = index,
                .is_multicall = CxMULTICALL(cx) != 0,
            };
            return true;
        }
    }
    return false;
}

bool nytp_perl_call_is_open(pTHX_ const struct nytp_perl_call *call)
{
    const PERL_SI *si = PL_curstackinfo;
    while (si != NULL && si != call->si)
        si = si->si_prev;
    if (si == NULL || si->si_cxix < call->index)
        return false;
    const PERL_CONTEXT *const cx = &si->si_cxstack[call->index];
    return is_call(cx) && cx->blk_sub.cv == call->cv;
}
