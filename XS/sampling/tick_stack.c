/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Which calls were open at a tick; see tick_stack.h.
 *
 * Nothing that a tick copied is dereferenced unchecked. perl keeps the heads of all its SVs in
 * memory that stays until the interpreter goes: what was an SV once can be looked at for ever,
 * to see what it is now. Whether an address is one is asked of the kernel once.
 */
#include "tick_stack.h"

#include "XS/ground/memory.h"
#include "XS/names/builtins.h"
#include "XS/perl/ops.h"
#include "XS/perl/perl_stack.h"
#include "XS/exact/places.h"
#include "XS/exact/stmts.h"

enum {
    SAME_IN_A_ROW = 256, /* calls that are as before: so are those below */
    MOST_REFERENCES = 1 << 28,
    NEAR_STACK = 16 << 20, /* bytes: a C stack is seldom longer */
    MOST_LEFT = 8,         /* calls that have returned since a tick, on top of each other */
};

void nytp_tick_stack_free(struct nytp_tick_stack *stack)
{
    Safefree(stack->now);
    Safefree(stack->upper);
}

/* ---- what is alive ---- */

static uint32_t slot_of(const void *address, uint32_t n)
{
    return nytp_hash_u64(PTR2UV(address)) & (n - 1);
}

static bool is_known_sv(const struct nytp_tick_stack *stack, const void *sv)
{
    return sv != NULL && stack->svs[slot_of(sv, NYTP_KNOWN_SVS)] == sv;
}

static void know_sv(struct nytp_tick_stack *stack, const void *sv)
{
    stack->svs[slot_of(sv, NYTP_KNOWN_SVS)] = sv;
}

/* Whether the memory at this address looks like a sub, a glob or a reference. */
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

static bool is_sv(struct nytp_tick_stack *stack, const void *address)
{
#ifndef PURIFY /* where the heads are freed one by one */
    if (is_known_sv(stack, address))
        return true;
#endif
    if (!looks_like_sv(address))
        return false;
    know_sv(stack, address);
    return true;
}

static CV *live_cv(struct nytp_tick_stack *stack, const void *address)
{
    CV *const cv = (CV *)address;
    return is_sv(stack, address) && SvTYPE((SV *)cv) == SVt_PVCV && SvREFCNT(cv) > 0 ? cv
                                                                                     : NULL;
}

/* The sub that entersub finds in what it calls: a sub, a glob or a reference. */
static CV *callee_of(struct nytp_tick_stack *stack, const void *address)
{
    SV *const sv = (SV *)address;
    if (!is_sv(stack, address) || SvREFCNT(sv) == 0)
        return NULL;
    if (SvTYPE(sv) == SVt_PVCV)
        return (CV *)sv;
    if (isGV_with_GP(sv))
        return GvCVu((GV *)sv);
    return SvROK(sv) ? live_cv(stack, SvRV(sv)) : NULL;
}

/* The pad of a sub's call at this depth of recursion; NULL: it has none. */
static const PAD *pad_at(CV *cv, I32 depth)
{
    PADLIST *const pads = CvISXSUB(cv) ? NULL : CvPADLIST(cv);
    return pads == NULL || depth < 1 || PadlistMAX(pads) < depth ? NULL
                                                                 : PadlistARRAY(pads)[depth];
}

/* Whether the address may be on the C stack. Memory near it may be taken for it, too. */
static bool may_be_on_c_stack(const void *address)
{
    const char here = 0;
    const UV from_here = PTR2UV(address) - PTR2UV(&here) + NEAR_STACK;
    return from_here < 2 * (UV)NEAR_STACK;
}

/* Whether the place of this statement is kept: those that perl frees are taken out
 * (nytp_sample_forget_cop()), but where another thread's perl frees it, which had it in common
 * with ours, only there. perl makes some on the C stack while it compiles: the place kept of
 * such a one may not be that of what lies there now. */
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

/* A statement that can be dereferenced: the current one, one that is kept, or what looks like
 * one. */
static bool is_live_cop(pTHX_ const struct nytp_recorder *rec, const COP *cop)
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

/* ---- perl's stack now ---- */

static struct nytp_known_pad *known_pad(struct nytp_tick_stack *stack, const PAD *pad)
{
    return &stack->pads[slot_of(pad, NYTP_KNOWN_PADS)];
}

static struct nytp_known_pad *known_call(struct nytp_tick_stack *stack, const PAD *pad,
                                         const PAD *caller)
{
    const UV both = PTR2UV(pad) + PTR2UV(caller) * 3;
    return &stack->calls[nytp_hash_u64(both) & (NYTP_KNOWN_PADS - 1)];
}

/* Learn whose pad that of a call is, and who called it from where. */
static void learn_call(struct nytp_tick_stack *stack, const struct nytp_stack_call *call,
                       const PAD *caller)
{
    if (call->pad == NULL)
        return;
    know_sv(stack, call->cv);
    *known_pad(stack, call->pad) = *known_call(stack, call->pad, caller) =
        (struct nytp_known_pad){call->pad, caller, call->cv, call->site, call->depth};
}

static bool is_same(const struct nytp_stack_call *a, const struct nytp_stack_call *b)
{
    return a->cv == b->cv && a->site == b->site && a->index == b->index && a->si == b->si &&
           a->root == b->root;
}

/* Where in the list, below `end`, a call at this place of perl's stack would be: the number of
 * those that are below it. Lists are made of few runs, one for each PERL_SI. */
static uint32_t place_in(const struct nytp_stack_call *calls, uint32_t end, const PERL_SI *si,
                         I32 index)
{
    while (end > 0 && calls[end - 1].si == si && calls[end - 1].index > index)
        end--;
    return end;
}

static void keep_upper(struct nytp_tick_stack *stack, uint32_t n,
                       const struct nytp_stack_call *call)
{
    if (n >= stack->size_upper) {
        stack->size_upper = stack->size_upper == 0 ? 64 : stack->size_upper * 2;
        Renew(stack->upper, stack->size_upper, struct nytp_stack_call);
    }
    stack->upper[n] = *call;
}

/* Put the calls that were walked, which come innermost first, above those that stay. */
static void put_upper(struct nytp_tick_stack *stack, uint32_t n_stay, uint32_t n_upper)
{
    if (n_stay + n_upper > stack->size_now) {
        stack->size_now = (n_stay + n_upper) * 2;
        Renew(stack->now, stack->size_now, struct nytp_stack_call);
    }
    const uint32_t n_before = stack->n_now;
    bool is_kept = true;
    const PAD *caller = n_stay > 0 ? stack->now[n_stay - 1].pad : NULL;
    stack->n_now = stack->n_kept = n_stay;
    while (n_upper > 0) {
        struct nytp_stack_call *const to = &stack->now[stack->n_now];
        const struct nytp_stack_call *const call = &stack->upper[--n_upper];
        is_kept = is_kept && stack->n_now < n_before && is_same(to, call);
        stack->n_now++;
        stack->n_kept += is_kept;
        if (!is_kept) {
            *to = *call;
            to->depth = (I32)call->si->si_cxstack[call->index].blk_sub.olddepth + 1;
            to->pad = pad_at(call->cv, to->depth);
            learn_call(stack, to, caller);
        }
        caller = to->pad;
    }
}

static bool is_at_or_below(const PERL_SI *si, const PERL_SI *top)
{
    while (top != NULL && top != si)
        top = top->si_prev;
    return top != NULL;
}

/* Down the list to the calls of this stack or of one below it: what is passed has been left. */
static uint32_t pass_stacks(const struct nytp_stack_call *calls, uint32_t end,
                            const PERL_SI *si)
{
    while (end > 0 && calls[end - 1].si != si) {
        const PERL_SI *const other = calls[end - 1].si;
        if (is_at_or_below(other, si))
            break;
        while (end > 0 && calls[end - 1].si == other)
            end--;
    }
    return end;
}

void nytp_tick_stack_look(pTHX_ struct nytp_tick_stack *stack)
{
    struct nytp_perl_stack walk;
    struct nytp_perl_call found;
    uint32_t n = 0, n_same = 0, end = stack->n_now;
    nytp_perl_stack_begin(aTHX_ & walk);
    while (n_same < SAME_IN_A_ROW && nytp_perl_stack_next(&walk, &found)) {
        const struct nytp_stack_call call = {.cv = found.cv,
                                             .root = CvROOT(found.cv),
                                             .site = found.site,
                                             .si = found.si,
                                             .index = found.index};
        end = pass_stacks(stack->now, end, call.si);
        end = place_in(stack->now, end, call.si, call.index);
        const bool is_there = end > 0 && is_same(&stack->now[end - 1], &call);
        n_same = is_there ? n_same + 1 : 0;
        end -= is_there;
        keep_upper(stack, n++, &call);
    }
    put_upper(stack, n_same < SAME_IN_A_ROW ? 0 : end, n);
}

/* ---- the moment ---- */

/* How many of the calls that are open now lie below what the tick copied. */
static uint32_t count_below(pTHX_ const struct nytp_tick_stack *stack,
                            const struct nytp_tick_copy *copy)
{
    const PERL_SI *const si = copy->stack;
    if (!is_at_or_below(si, PL_curstackinfo))
        return stack->n_now; /* it is gone, and was above all these */
    return place_in(stack->now, pass_stacks(stack->now, stack->n_now, si), si,
                    copy->lowest - 1);
}

/* Whether a call that the tick copied is open yet: perl itself holds what it points to then.
 * Calls come outermost first; `at` is where in the list of calls that are open to go on. */
static bool is_still_open(const struct nytp_tick_stack *stack,
                          const struct nytp_tick_copy *copy, const struct nytp_tick_call *call,
                          uint32_t *at)
{
    while (*at < stack->n_now && stack->now[*at].si == copy->stack &&
           stack->now[*at].index < call->index)
        ++*at;
    if (*at >= stack->n_now)
        return false;
    const struct nytp_stack_call *const now = &stack->now[*at];
    return now->si == copy->stack && now->index == call->index && now->cv == call->code &&
           now->site == call->site && call->depth > 0;
}

/* The calls that the tick copied, as far as they are some; those of files and string evals have
 * no `cv`. Which of them had the pad, or -1. */
static int take_copy(pTHX_ struct nytp_recorder *rec, struct nytp_tick_stack *stack,
                     const struct nytp_tick *tick, struct nytp_moment *moment)
{
    const struct nytp_tick_copy *const copy = &tick->copy;
    const void *const pad = tick->words[NYTP_TICK_PAD];
    uint32_t at = moment->n_below;
    int hit = -1;
    for (int i = 0; i < copy->n_calls; i++) {
        const struct nytp_tick_call *const from = &copy->calls[i];
        const bool is_open = is_still_open(stack, copy, from, &at);
        CV *const cv = is_open ? (CV *)from->code : live_cv(stack, from->code);
        if (cv == NULL || CvISXSUB(cv))
            continue;
        const bool is_sub = from->depth > 0 && CvROOT(cv) != NULL;
        const COP *const site =
            is_sub && (is_open || is_live_cop(aTHX_ rec, from->site)) ? from->site : NULL;
        const PAD *const own = pad_at(cv, from->depth > 0 ? from->depth : 1);
        if (pad == own)
            hit = (int)moment->n_above;
        moment->above[moment->n_above++] =
            is_sub ? (struct nytp_stack_call){cv,          CvROOT(cv),  site, copy->stack,
                                              from->index, from->depth, own}
                   : (struct nytp_stack_call){
                         .site = site, .si = copy->stack, .index = from->index};
    }
    return hit;
}

/* What the tick hit was there while it was copied, and so were those that had called it. */
static void learn_above(struct nytp_tick_stack *stack, const struct nytp_moment *moment)
{
    const PAD *caller = NULL;
    for (uint32_t i = 0; i < moment->n_above; i++) {
        if (caller != NULL)
            learn_call(stack, &moment->above[i], caller);
        if (moment->above[i].pad != NULL)
            caller = moment->above[i].pad;
    }
}

/* Without a copy: which of the calls that are open now had the pad; the number of those up to
 * it, 0: none. */
static uint32_t find_in_now(const struct nytp_tick_stack *stack, const void *pad)
{
    uint32_t n = stack->n_now;
    for (uint32_t looked = 0; n > 0 && looked < SAME_IN_A_ROW; n--, looked++)
        if (stack->now[n - 1].pad == pad)
            return n;
    return 0;
}

/* One of the calls of a moment, which come outermost first. */
static const struct nytp_stack_call *call_of(const struct nytp_tick_stack *stack,
                                             const struct nytp_moment *moment, uint32_t i)
{
    return i < moment->n_below ? &stack->now[i] : &moment->above[i - moment->n_below];
}

/* The calls from there on are none of the moment. */
static void cut(struct nytp_moment *moment, uint32_t n)
{
    moment->n_above = n > moment->n_below ? n - moment->n_below : 0;
    if (n < moment->n_below)
        moment->n_below = n;
}

/* The innermost call that has called this pad's before, its number from 1, or 0: the program
 * itself; NULL: none is known. */
static const struct nytp_known_pad *find_caller(struct nytp_tick_stack *stack,
                                                const struct nytp_moment *moment,
                                                const PAD *pad, uint32_t *n)
{
    *n = moment->n_below + moment->n_above;
    for (uint32_t looked = 0; looked < SAME_IN_A_ROW; looked++) {
        const PAD *const caller = *n > 0 ? call_of(stack, moment, *n - 1)->pad : NULL;
        const struct nytp_known_pad *const known = known_call(stack, pad, caller);
        if (known->pad == pad && known->caller == caller && (caller != NULL || *n == 0))
            return known;
        if ((*n)-- == 0)
            break;
    }
    return NULL;
}

static void push_known(pTHX_ struct nytp_recorder *rec, struct nytp_tick_stack *stack,
                       const struct nytp_known_pad *known, struct nytp_moment *moment)
{
    CV *const cv = live_cv(stack, known->cv);
    if (cv == NULL || pad_at(cv, known->depth) != known->pad || CvROOT(cv) == NULL ||
        moment->n_above == sizeof moment->above / sizeof *moment->above)
        return;
    moment->above[moment->n_above++] = (struct nytp_stack_call){
        .cv = cv,
        .root = CvROOT(cv),
        .site = is_live_cop(aTHX_ rec, known->site) ? known->site : NULL,
        .pad = known->pad,
    };
}

/* The call that had the pad has returned since, and those perhaps that had called it: down to
 * one that is open yet. Of a call that no other than those has made it is not known where it
 * was; it is put above all that are open. */
static void push_left(pTHX_ struct nytp_recorder *rec, struct nytp_tick_stack *stack,
                      const PAD *pad, struct nytp_moment *moment)
{
    struct nytp_known_pad left[MOST_LEFT];
    const struct nytp_known_pad *known = NULL;
    int n_left = 0;
    uint32_t n_open;
    while (pad != NULL && n_left < MOST_LEFT - 1 &&
           (known = find_caller(stack, moment, pad, &n_open)) == NULL &&
           known_pad(stack, pad)->pad == pad) {
        left[n_left++] = *known_pad(stack, pad);
        pad = left[n_left - 1].caller;
    }
    if (known != NULL) {
        left[n_left++] = *known;
        cut(moment, n_open);
    } else if (n_left > 1) {
        n_left = 1;
    }
    while (n_left > 0)
        push_known(aTHX_ rec, stack, &left[--n_left], moment);
}

static bool is_main_pad(pTHX_ const void *pad)
{
    return PL_main_cv != NULL && pad_at(PL_main_cv, 1) == pad;
}

static void drop_evals(struct nytp_moment *moment)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < moment->n_above; i++)
        if (moment->above[i].cv != NULL)
            moment->above[n++] = moment->above[i];
    moment->n_above = n;
}

/* The statement that a sub begins with; NULL: it begins with something else. */
static const COP *first_statement(const CV *cv)
{
    const OP *const start = cv == NULL ? NULL : CvSTART(cv);
    return start != NULL && (start->op_type == OP_NEXTSTATE || start->op_type == OP_DBSTATE)
               ? (const COP *)start
               : NULL;
}

/* A call whose first statement has not begun: what is current is its caller's yet. */
static void begin_innermost(struct nytp_moment *moment)
{
    const struct nytp_stack_call *const call = &moment->above[moment->n_above - 1];
    const COP *const first = first_statement(call->cv);
    if (first != NULL)
        moment->cop = first;
    else
        moment->n_above--;
}

static void find_calls(pTHX_ struct nytp_recorder *rec, struct nytp_tick_stack *stack,
                       const struct nytp_tick *tick, struct nytp_moment *moment)
{
    const void *const pad = tick->words[NYTP_TICK_PAD];
    moment->n_above = 0;
    if (tick->copy.n_calls < 0) {
        const uint32_t n = find_in_now(stack, pad);
        moment->n_below = n > 0 ? n : stack->n_now;
        if (n == 0 && pad != PL_comppad)
            push_left(aTHX_ rec, stack, pad, moment);
        return;
    }
    moment->n_below = count_below(aTHX_ stack, &tick->copy);
    const int hit = take_copy(aTHX_ rec, stack, tick, moment);
    if (hit >= 0) {
        moment->n_above = (uint32_t)hit + 1;
        learn_above(stack, moment);
    } else if (moment->n_below > 0 ? stack->now[moment->n_below - 1].pad == pad
                                   : is_main_pad(aTHX_ pad)) {
        moment->n_above = 0; /* the block of a sort has its sub's, on a stack of its own */
    } else {
        push_left(aTHX_ rec, stack, pad, moment);
    }
    if (moment->n_above > 0 && moment->above[moment->n_above - 1].site == moment->cop)
        begin_innermost(moment);
    drop_evals(moment);
}

/* The op that was running, if its memory was one's then. The block of a sort is the sort's. */
static void find_leaf(pTHX_ struct nytp_recorder *rec, struct nytp_tick_stack *stack,
                      const struct nytp_tick *tick, struct nytp_moment *moment)
{
    const struct nytp_tick_copy *const copy = &tick->copy;
    const unsigned type = copy->n_calls < 0 ? OP_NULL : copy->op_type;
    moment->xsub = NULL;
    moment->builtin = moment->op_type = OP_NULL;
    if (copy->n_calls < 0)
        return;
    const bool is_op = type < MAXO && copy->op_handler != NULL &&
                       (copy->op_handler == (const void *)PL_ppaddr[type] ||
                        copy->op_handler == (const void *)nytp_real_ops[type]);
    moment->op_type = is_op ? (int)type : OP_NULL;
    moment->op = tick->words[NYTP_TICK_OP];
    if (is_op && type == OP_ENTERSUB) {
        CV *const cv = callee_of(stack, copy->callee);
        moment->xsub = cv != NULL && CvISXSUB(cv) ? cv : NULL;
    } else if (is_op && nytp_is_slowop[type] && rec->options.slowops > 0) {
        moment->builtin = (int)type;
    } else if (copy->stack_type == PERLSI_SORT && copy->n_calls == 0 && copy->lowest == 0 &&
               rec->options.slowops > 0) {
        moment->builtin = OP_SORT;
    }
}

void nytp_moment_of(pTHX_ struct nytp_recorder *rec, struct nytp_tick_stack *stack,
                    const struct nytp_tick *tick, struct nytp_moment *moment)
{
    moment->cop = tick->words[NYTP_TICK_COP];
    find_calls(aTHX_ rec, stack, tick, moment);
    find_leaf(aTHX_ rec, stack, tick, moment);
    if (is_live_cop(aTHX_ rec, moment->cop))
        return;
    moment->cop = PL_curcop;
    moment->op_type = OP_NULL; /* it is gone with its statement */
}
