/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Tests of copied addresses; see alive.h.
 */
#include "alive.h"

#include "XS/exact/places.h"
#include "XS/platform/memory.h"
#include "XS/perl/ops.h"

enum {
    MOST_REFERENCES = 1 << 28,
    NEAR_STACK = 16 << 20, /* bytes: a C stack is seldom longer */
};

static const void **slot_of(struct nytp_known_svs *known, const void *sv)
{
    return &known->all[nytp_hash_u64(PTR2UV(sv)) & (NYTP_KNOWN_SVS - 1)];
}

void nytp_know_sv(struct nytp_known_svs *known, const void *sv)
{
    *slot_of(known, sv) = sv;
}

/* Returns whether the memory at this address looks like a sub, a glob or a reference. */
static bool looks_like_sv(const void *address)
{
    struct sv head;
    char byte;
    if (address == NULL || PTR2UV(address) % sizeof(void *) != 0 ||
        !nytp_peek_memory(address, &head, sizeof head))
        return false;
    const svtype type = (svtype)(head.sv_flags & SVTYPEMASK);
    if (head.sv_refcnt == 0 || head.sv_refcnt > MOST_REFERENCES)
        return false;
    if (type == SVt_PVCV || type == SVt_PVGV)
        return nytp_peek_memory(head.sv_any, &byte, 1);
    return type < SVt_PVAV && (head.sv_flags & SVf_ROK) &&
           nytp_peek_memory(head.sv_u.svu_rv, &byte, 1);
}

static bool is_sv(struct nytp_known_svs *known, const void *address)
{
#ifndef PURIFY /* where the heads are freed one by one */
    if (address != NULL && *slot_of(known, address) == address)
        return true;
#endif
    if (!looks_like_sv(address))
        return false;
    nytp_know_sv(known, address);
    return true;
}

CV *nytp_live_cv(struct nytp_known_svs *known, const void *address)
{
    CV *const cv = (CV *)address;
    return is_sv(known, address) && SvTYPE((SV *)cv) == SVt_PVCV && SvREFCNT(cv) > 0 ? cv
                                                                                     : NULL;
}

CV *nytp_live_callee(struct nytp_known_svs *known, const void *address)
{
    SV *const sv = (SV *)address;
    if (!is_sv(known, address) || SvREFCNT(sv) == 0)
        return NULL;
    if (SvTYPE(sv) == SVt_PVCV)
        return (CV *)sv;
    if (isGV_with_GP(sv))
        return GvCVu((GV *)sv);
    return SvROK(sv) ? nytp_live_cv(known, SvRV(sv)) : NULL;
}

PAD *nytp_pad_at(CV *cv, I32 depth)
{
    PADLIST *const pads = CvISXSUB(cv) ? NULL : CvPADLIST(cv);
    const bool has_one = pads != NULL && depth >= 1 && PadlistMAX(pads) >= depth;
    return has_one ? PadlistARRAY(pads)[depth] : NULL;
}

/* Returns whether the address may be on the C stack; addresses near it count, too. */
static bool may_be_on_c_stack(const void *address)
{
    const char here = 0;
    const UV from_here = PTR2UV(address) - PTR2UV(&here) + NEAR_STACK;
    return from_here < 2 * (UV)NEAR_STACK;
}

/* Returns whether we have the place of this statement. When perl frees a statement,
 * nytp_sample_forget_cop() removes its place; but a thread that frees a statement shared with
 * ours removes it from its own list only. perl makes some statements on the C stack while it
 * compiles: other data may lie there now. */
static bool is_kept_cop(const struct nytp_recorder *rec, const COP *cop)
{
    const struct nytp_place *const kept = nytp_sampled_place_slot(rec, cop);
    COP copy;
    if (kept->cop != cop || may_be_on_c_stack(cop))
        return false;
    if (!atomic_load(&nytp_recorders_count.were_several))
        return nytp_place_is_of(kept, cop);
    return nytp_peek_memory(cop, &copy, sizeof copy) && kept->seq == copy.cop_seq &&
           kept->line == CopLINE(&copy);
}

/* It is the current one, one that is kept, or looks like one. */
bool nytp_is_live_cop(pTHX_ const struct nytp_recorder *rec, const COP *cop)
{
    COP copy;
    char name;
    if (cop == NULL)
        return false;
    if (cop == PL_curcop || cop == &PL_compiling || is_kept_cop(rec, cop))
        return true;
    if (PTR2UV(cop) % sizeof(void *) != 0 || !nytp_peek_memory(cop, &copy, sizeof copy))
        return false;
    const int type = copy.op_type;
    if ((type != OP_NEXTSTATE && type != OP_DBSTATE) ||
        (copy.op_ppaddr != PL_ppaddr[type] && copy.op_ppaddr != nytp_real_ops[type]))
        return false;
#ifdef USE_ITHREADS
    return copy.cop_file != NULL && nytp_peek_memory(copy.cop_file, &name, 1);
#else
    return copy.cop_filegv != NULL && nytp_peek_memory(copy.cop_filegv, &name, 1) &&
           isGV_with_GP((SV *)copy.cop_filegv);
#endif
}
