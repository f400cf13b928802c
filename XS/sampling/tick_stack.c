/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Which calls were open at a tick; see tick_stack.h.
 *
 * Nothing that a tick copied is dereferenced unchecked. perl keeps the heads of all its SVs in
 * memory that stays until the interpreter goes: what was an SV once can be looked at for ever,
 * to see what it is now. Whether an address is one is asked of the kernel once.
 */
#include "tick_stack.h"

#include "XS/platform/memory.h"
#include "XS/names/builtins.h"
#include "XS/perl/ops.h"
#include "XS/perl/perl_stack.h"
#include "XS/exact/places.h"
#include "XS/exact/stmts.h"

enum {
    SAME_IN_A_ROW = 256, /* calls that are as before: so are those below */
    MOST_REFERENCES = 1 << 28,
    NEAR_STACK = 16 << 20, /* bytes: a C stack is seldom longer */
    MOST_BLOCKS = 8,       /* contexts that a call has above its own */
    MOST_ABOVE = 8,        /* the top, at which a call lay that had returned when it was read */
    MOST_DEPTH = 32,       /* of recursion whose pads are looked through */
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

/* The pad of a sub's call at this depth of recursion, as PL_curpad has it; NULL: it has none.
 */
static SV *const *pad_at(CV *cv, I32 depth)
{
    PADLIST *const pads = CvISXSUB(cv) ? NULL : CvPADLIST(cv);
    const bool has_one = pads != NULL && depth >= 1 && PadlistMAX(pads) >= depth &&
                         PadlistARRAY(pads)[depth] != NULL;
    return has_one ? AvARRAY(PadlistARRAY(pads)[depth]) : NULL;
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

/* Each call that was seen is in the table three times: by who called it, by that and how far
 * above it was, and by where it lay. */
static struct nytp_known_call *known_slot(struct nytp_tick_stack *stack, SV *const *pad,
                                          uint64_t with)
{
    return &stack->known[nytp_hash_u64(PTR2UV(pad) + with) & (NYTP_KNOWN_CALLS - 1)];
}

static struct nytp_known_call *slot_of_caller(struct nytp_tick_stack *stack, SV *const *pad,
                                              SV *const *caller)
{
    return known_slot(stack, pad, PTR2UV(caller) * 3);
}

static struct nytp_known_call *slot_above(struct nytp_tick_stack *stack, SV *const *pad,
                                          SV *const *caller, I32 distance)
{
    return known_slot(stack, pad, PTR2UV(caller) * 5 + ((uint64_t)distance << 32));
}

static struct nytp_known_call *slot_at(struct nytp_tick_stack *stack, SV *const *pad, I32 index)
{
    return known_slot(stack, pad, (uint64_t)index << 32);
}

static I32 distance_of(const struct nytp_known_call *known)
{
    return known->caller_si == known->si ? known->index - known->caller_index
                                         : known->index + 1;
}

/* The last call with this pad from this caller that was seen; NULL: none. */
static const struct nytp_known_call *known_call(struct nytp_tick_stack *stack, SV *const *pad,
                                                SV *const *caller)
{
    const struct nytp_known_call *const known = slot_of_caller(stack, pad, caller);
    const bool is_it = pad != NULL && known->pad == pad && known->caller == caller;
    return is_it ? known : NULL;
}

/* The last one so far above its caller. */
static const struct nytp_known_call *known_above(struct nytp_tick_stack *stack, SV *const *pad,
                                                 SV *const *caller, I32 distance)
{
    const struct nytp_known_call *const known = slot_above(stack, pad, caller, distance);
    const bool is_it = pad != NULL && known->pad == pad && known->caller == caller &&
                       distance_of(known) == distance;
    return is_it ? known : NULL;
}

/* The last one that lay there. */
static const struct nytp_known_call *known_at(struct nytp_tick_stack *stack, SV *const *pad,
                                              const PERL_SI *si, I32 index)
{
    const struct nytp_known_call *const known = slot_at(stack, pad, index);
    const bool is_it =
        pad != NULL && known->pad == pad && known->si == si && known->index == index;
    return is_it ? known : NULL;
}

/* Learn whose pad that of a call is, and who called it from where. */
static void learn_call(struct nytp_tick_stack *stack, const struct nytp_stack_call *call,
                       const struct nytp_stack_call *caller)
{
    if (call->pad == NULL || (caller != NULL && caller->pad == call->pad))
        return;
    const struct nytp_known_call known = {.pad = call->pad,
                                          .caller = caller != NULL ? caller->pad : NULL,
                                          .cv = call->cv,
                                          .site = call->site,
                                          .si = call->si,
                                          .caller_si = caller != NULL ? caller->si : NULL,
                                          .index = call->index,
                                          .caller_index = caller != NULL ? caller->index : -1,
                                          .depth = call->depth};
    know_sv(stack, call->cv);
    *slot_of_caller(stack, known.pad, known.caller) = known;
    *slot_above(stack, known.pad, known.caller, distance_of(&known)) = known;
    *slot_at(stack, known.pad, known.index) = known;
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
            learn_call(stack, to, to > stack->now ? to - 1 : NULL);
        }
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
    const PERL_SI *const si = copy->last_stack;
    if (!is_at_or_below(si, PL_curstackinfo))
        return stack->n_now; /* it is gone, and was above all these */
    return place_in(stack->now, pass_stacks(stack->now, stack->n_now, si), si,
                    copy->lowest - 1);
}

/* Whether a call that the tick copied is open yet: perl itself holds what it points to then.
 * Calls come outermost first; `at` is where in the list of calls that are open to go on. */
static bool is_still_open(const struct nytp_tick_stack *stack,
                          const struct nytp_tick_call *call, uint32_t *at)
{
    while (*at < stack->n_now &&
           (stack->now[*at].si != call->stack || stack->now[*at].index < call->index))
        ++*at;
    if (*at >= stack->n_now)
        return false;
    const struct nytp_stack_call *const now = &stack->now[*at];
    return now->si == call->stack && now->index == call->index && now->cv == call->code &&
           now->site == call->site && call->depth > 0;
}

/* Calls that a tick copied, as far as they are some; those of files and string evals have no
 * `cv`. Which of those above had the pad, or -1; no two calls have the same, so that the
 * outermost is it. */
static int take_calls(pTHX_ struct nytp_recorder *rec, struct nytp_tick_stack *stack,
                      const struct nytp_tick *tick, struct nytp_moment *moment, int from,
                      int end)
{
    const struct nytp_tick_copy *const copy = &tick->copy;
    const void *const pad = tick->words[NYTP_TICK_PAD];
    uint32_t at = moment->n_below;
    int hit = -1;
    for (int i = from; i < end; i++) {
        const struct nytp_tick_call *const call = &copy->calls[i];
        const bool is_open = is_still_open(stack, call, &at);
        CV *const cv = is_open ? (CV *)call->code : live_cv(stack, call->code);
        if (cv == NULL || CvISXSUB(cv))
            continue;
        const bool is_sub = call->depth > 0 && CvROOT(cv) != NULL;
        const COP *const site =
            is_sub && (is_open || is_live_cop(aTHX_ rec, call->site)) ? call->site : NULL;
        SV *const *const own = pad_at(cv, call->depth > 0 ? call->depth : 1);
        if (pad == own && hit < 0)
            hit = (int)moment->n_above;
        moment->above[moment->n_above++] =
            is_sub ? (struct nytp_stack_call){cv,          CvROOT(cv),  site, call->stack,
                                              call->index, call->depth, own}
                   : (struct nytp_stack_call){
                         .site = site, .si = call->stack, .index = call->index};
    }
    return hit;
}

/* What the tick hit was there while it was copied, and so were those that had called it; but
 * stacks are not copied at once. */
static void learn_above(struct nytp_tick_stack *stack, const struct nytp_moment *moment)
{
    const struct nytp_stack_call *caller = NULL;
    for (uint32_t i = 0; i < moment->n_above; i++) {
        if (caller != NULL && caller->si == moment->above[i].si)
            learn_call(stack, &moment->above[i], caller);
        if (moment->above[i].pad != NULL)
            caller = &moment->above[i];
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

/* Of the first n calls of the moment those that lie below this place of the stack: their
 * number. */
static uint32_t open_below(const struct nytp_tick_stack *stack,
                           const struct nytp_moment *moment, uint32_t n, const PERL_SI *si,
                           I32 index)
{
    while (n > 0 && call_of(stack, moment, n - 1)->si == si &&
           call_of(stack, moment, n - 1)->index >= index)
        n--;
    return n;
}

static void push_known(pTHX_ struct nytp_recorder *rec, struct nytp_tick_stack *stack,
                       const struct nytp_known_call *known, struct nytp_moment *moment)
{
    CV *const cv = live_cv(stack, known->cv);
    if (cv == NULL || pad_at(cv, known->depth) != known->pad || CvROOT(cv) == NULL)
        return;
    moment->above[moment->n_above++] = (struct nytp_stack_call){
        .cv = cv,
        .root = CvROOT(cv),
        .site = is_live_cop(aTHX_ rec, known->site) ? known->site : NULL,
        .si = known->si,
        .index = known->index,
        .pad = known->pad,
    };
}

/* Calls that have returned since, innermost first, and the number of those below them. */
struct left {
    const struct nytp_known_call *calls[NYTP_TICK_LEFT];
    int n;
    uint32_t n_open;
};

/* The innermost of these calls, if it lies on this stack: where. */
static I32 top_of(const struct nytp_tick_stack *stack, const struct nytp_moment *moment,
                  uint32_t n_open, const PERL_SI *si)
{
    const struct nytp_stack_call *const top =
        n_open > 0 ? call_of(stack, moment, n_open - 1) : NULL;
    return top != NULL && top->si == si ? top->index : -1;
}

/* Whether a stack was made for what the program does in few places; destructors and handlers
 * interrupt anything. */
static bool has_few_callers(const struct nytp_tick_copy *copy)
{
    return copy->stack_type != PERLSI_DESTROY && copy->stack_type != PERLSI_SIGNAL;
}

/* If the call that had the pad lay at this place of the stack in use: that which has been seen
 * there, and who had called it, down to one that is open yet. With `is_over`, what is open at
 * the place of a caller has come since. False: nothing fits. */
static bool find_left_at(struct nytp_tick_stack *stack, const struct nytp_moment *moment,
                         const struct nytp_tick_copy *copy, SV *const *pad, I32 index,
                         bool is_over, struct left *left)
{
    const PERL_SI *si = copy->stack;
    left->n_open = moment->n_below + moment->n_above;
    for (left->n = 0; left->n < NYTP_TICK_LEFT;) {
        left->n_open = open_below(stack, moment, left->n_open, si, index);
        const struct nytp_stack_call *const below =
            left->n_open > 0 ? call_of(stack, moment, left->n_open - 1) : NULL;
        SV *const *const caller = below != NULL ? below->pad : NULL;
        const struct nytp_known_call **const next = &left->calls[left->n++];
        if (below == NULL || caller != NULL) {
            const I32 distance = index - top_of(stack, moment, left->n_open, si);
            *next = known_above(stack, pad, caller, distance);
            if (*next != NULL)
                return true;
        }
        *next = known_at(stack, pad, si, index);
        if (*next == NULL)
            return false;
        if ((*next)->caller_si != si) {
            if (is_over && !has_few_callers(copy))
                return false;
            left->n_open = open_below(stack, moment, left->n_open, si, 0);
            si = (*next)->caller_si;
        }
        if ((*next)->caller_index <= (is_over ? -1 : top_of(stack, moment, left->n_open, si)))
            return false;
        pad = (*next)->caller;
        index = (*next)->caller_index;
    }
    return false;
}

/* The same wherever it lay: it has been called by the innermost of those that are open and have
 * called it before. */
static bool find_caller(struct nytp_tick_stack *stack, const struct nytp_moment *moment,
                        SV *const *pad, struct left *left)
{
    left->n_open = moment->n_below + moment->n_above;
    for (uint32_t looked = 0; looked < SAME_IN_A_ROW; looked++) {
        SV *const *const caller =
            left->n_open > 0 ? call_of(stack, moment, left->n_open - 1)->pad : NULL;
        left->calls[0] = known_call(stack, pad, caller);
        left->n = 1;
        if (left->calls[0] != NULL && (caller != NULL || left->n_open == 0))
            return true;
        if (left->n_open-- == 0)
            break;
    }
    return false;
}

static void push_all(pTHX_ struct nytp_recorder *rec, struct nytp_tick_stack *stack,
                     struct left *left, struct nytp_moment *moment)
{
    cut(moment, left->n_open);
    while (left->n > 0)
        push_known(aTHX_ rec, stack, left->calls[--left->n], moment);
}

/* Whether the outermost of the calls that came since, if that is so, is open yet. */
static bool has_lasted(const struct nytp_tick_stack *stack, const struct nytp_moment *moment,
                       uint32_t n_open)
{
    if (n_open >= moment->n_below + moment->n_above)
        return false;
    const struct nytp_stack_call *const call = call_of(stack, moment, n_open);
    for (uint32_t n = stack->n_now; n > 0 && stack->n_now - n < SAME_IN_A_ROW; n--)
        if (is_same(&stack->now[n - 1], call))
            return true;
    return false;
}

/* It lay at the top, but for blocks of its own. If others came in place of its callers then,
 * and have stayed, it rather lay above them, and was over when the top was read. */
static bool find_left(struct nytp_tick_stack *stack, const struct nytp_moment *moment,
                      const struct nytp_tick_copy *copy, SV *const *pad, struct left *left)
{
    struct left above;
    bool is_found = false, is_over = false;
    for (I32 i = 0; i < MOST_BLOCKS && copy->top - i >= 0 && !is_found; i++) {
        is_found = find_left_at(stack, moment, copy, pad, copy->top - i, false, left);
        is_over =
            !is_found && find_left_at(stack, moment, copy, pad, copy->top - i, true, left);
        is_found |= is_over;
    }
    if (!is_over || !has_lasted(stack, moment, left->n_open))
        return is_found;
    for (I32 i = 1; i <= MOST_ABOVE; i++)
        if (find_left_at(stack, moment, copy, pad, copy->top + i, false, &above)) {
            if (above.n > 1)
                *left = above;
            break;
        }
    return true;
}

/* The call that had the pad has returned since, and those perhaps that had called it. If none
 * has been seen there, nor from any that is open, the time is theirs. */
static void push_left(pTHX_ struct nytp_recorder *rec, struct nytp_tick_stack *stack,
                      const struct nytp_tick *tick, struct nytp_moment *moment)
{
    SV *const *const pad = tick->words[NYTP_TICK_PAD];
    struct left left = {.n = 0};
    if ((tick->copy.n_calls < 0 || !find_left(stack, moment, &tick->copy, pad, &left)) &&
        !find_caller(stack, moment, pad, &left))
        return;
    push_all(aTHX_ rec, stack, &left, moment);
}

static bool is_pad_of(CV *cv, SV *const *pad)
{
    I32 depth = MOST_DEPTH;
    while (depth > 0 && pad_at(cv, depth) != pad)
        depth--;
    return depth > 0;
}

/* The stacks below that in use are copied some microseconds after it, and may be those of a
 * later moment. The statement that the outermost call of the stack in use was made from is one
 * of its caller's: where it has been seen to be another's, that has made the call. */
static void mend_below(pTHX_ struct nytp_recorder *rec, struct nytp_tick_stack *stack,
                       const struct nytp_tick_copy *copy, struct nytp_moment *moment)
{
    struct nytp_stack_call upper[NYTP_TICK_CALLS];
    uint32_t first = moment->n_above, n_upper = 0;
    struct left left;
    while (first > 0 && moment->above[first - 1].si == copy->stack)
        first--;
    uint32_t caller = first;
    while (caller > 0 && moment->above[caller - 1].cv == NULL)
        caller--;
    if (caller == 0 || first == moment->n_above)
        return;
    const struct nytp_stack_call call = moment->above[first];
    const struct nytp_known_call *const known = known_at(stack, call.pad, call.si, call.index);
    if (known == NULL || known->site != call.site || known->caller == NULL ||
        is_pad_of(moment->above[caller - 1].cv, known->caller) ||
        !find_left_at(stack, moment, copy, call.pad, call.index, true, &left))
        return;
    while (first + 1 + n_upper < moment->n_above) {
        upper[n_upper] = moment->above[first + 1 + n_upper];
        n_upper++;
    }
    push_all(aTHX_ rec, stack, &left, moment);
    for (uint32_t i = 0; i < n_upper; i++)
        moment->above[moment->n_above++] = upper[i];
}

/* Whether calls of the moment, from number `from` to that above which is the last, have been
 * seen before: a context may be half that of one call and half that of another. */
static bool are_known_calls(struct nytp_tick_stack *stack, const struct nytp_moment *moment,
                            uint32_t from, uint32_t last)
{
    for (uint32_t i = from; i <= moment->n_below + last; i++) {
        const struct nytp_stack_call *const call = call_of(stack, moment, i);
        SV *const *const caller = i > 0 ? call_of(stack, moment, i - 1)->pad : NULL;
        const struct nytp_known_call *const known = known_call(stack, call->pad, caller);
        if (known == NULL || (i > 0 && caller == NULL) || known->cv != call->cv)
            return false;
    }
    return true;
}

/* The calls that the tick copied, up to that which had the pad; false: none had it, and those
 * are left that were there yet. What may be over counts if it has been seen before. */
static bool take_copy(pTHX_ struct nytp_recorder *rec, struct nytp_tick_stack *stack,
                      const struct nytp_tick *tick, struct nytp_moment *moment)
{
    const struct nytp_tick_copy *const copy = &tick->copy;
    int hit = take_calls(aTHX_ rec, stack, tick, moment, 0, copy->n_there);
    const uint32_t n_there = moment->n_below + moment->n_above;
    if (hit < 0) {
        hit = take_calls(aTHX_ rec, stack, tick, moment, copy->n_there, copy->n_calls);
        if (hit >= 0 && !are_known_calls(stack, moment, n_there, (uint32_t)hit))
            hit = -1;
    }
    cut(moment, hit < 0 ? n_there : moment->n_below + (uint32_t)hit + 1);
    return hit >= 0;
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
        if (n == 0 && pad != PL_curpad)
            push_left(aTHX_ rec, stack, tick, moment);
        return;
    }
    moment->n_below = count_below(aTHX_ stack, &tick->copy);
    if (take_copy(aTHX_ rec, stack, tick, moment)) {
        mend_below(aTHX_ rec, stack, &tick->copy, moment);
        learn_above(stack, moment);
    } else if (moment->n_below > 0 ? stack->now[moment->n_below - 1].pad == pad
                                   : is_main_pad(aTHX_ pad)) {
        moment->n_above = 0; /* the block of a sort has its sub's, on a stack of its own */
    } else {
        push_left(aTHX_ rec, stack, tick, moment);
    }
    if (moment->n_above > 0 && moment->above[moment->n_above - 1].site == moment->cop)
        begin_innermost(moment);
    drop_evals(moment);
}

/* Whether the stack in use had none: what runs is a block, as of a sort. */
static bool has_no_calls(const struct nytp_tick_copy *copy)
{
    const bool is_whole = copy->last_stack != copy->stack || copy->lowest == 0;
    return is_whole &&
           (copy->n_calls == 0 || copy->calls[copy->n_calls - 1].stack != copy->stack);
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
    } else if (copy->stack_type == PERLSI_SORT && has_no_calls(copy) &&
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
