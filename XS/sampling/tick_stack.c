/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Calls that were open at a tick; see tick_stack.h.
 */
#include "tick_stack.h"

#include "XS/names/builtins.h"
#include "XS/perl/ops.h"
#include "XS/perl/perl_stack.h"
#include "sampling/sort.h"

enum {
    SAME_IN_A_ROW = 256, /* calls that are as before: so are those below */
};

void nytp_tick_stack_free(struct nytp_tick_stack *stack)
{
    Safefree(stack->now);
    Safefree(stack->upper);
}

/* ---- perl's stack now ---- */

static bool is_same(const struct nytp_call *a, const struct nytp_call *b)
{
    return a->code == b->code && a->site == b->site && a->place == b->place &&
           a->stack == b->stack && a->root == b->root;
}

/* Sets the pad of a call, whose sub is alive. */
static void set_pad(struct nytp_call *call)
{
    PAD *const list = nytp_pad_at(NYTP_CALL_CV(call), call->depth);
    call->list = PTR2UV(list);
    call->pad = list != NULL ? PTR2UV(AvARRAY(list)) : 0;
}

/* Learns the last call of the list, which is new. */
static void learn_last(struct nytp_tick_stack *stack)
{
    const struct nytp_call *const call = &stack->now[stack->n_now - 1];
    const struct nytp_call *const below = stack->n_now > 1 ? call - 1 : NULL;
    const struct nytp_seen_call seen = {.call = *call,
                                        .caller = below != NULL ? below->pad : NYTP_CALLER_MAIN,
                                        .caller_stack = below != NULL ? below->stack : 0,
                                        .caller_place = below != NULL ? below->place : -1};
    nytp_know_sv(&stack->svs, NYTP_CALL_CV(call));
    if (call->pad != 0 && seen.caller != 0 && seen.caller != call->pad)
        nytp_remember_call(&stack->memory, &seen);
}

/* Puts the calls that were walked, which come innermost first, above those that stay. */
static void put_upper(struct nytp_tick_stack *stack, uint32_t n_stay, uint32_t n_upper)
{
    if (n_stay + n_upper > stack->size_now) {
        stack->size_now = (n_stay + n_upper) * 2;
        Renew(stack->now, stack->size_now, struct nytp_call);
    }
    const uint32_t n_before = stack->n_now;
    bool is_kept = true;
    stack->n_now = stack->n_kept = n_stay;
    while (n_upper > 0) {
        struct nytp_call *const to = &stack->now[stack->n_now];
        const struct nytp_call *const call = &stack->upper[--n_upper];
        is_kept = is_kept && stack->n_now < n_before && is_same(to, call);
        stack->n_now++;
        stack->n_kept += is_kept;
        if (!is_kept) {
            const PERL_SI *const si = INT2PTR(const PERL_SI *, (UV)call->stack);
            *to = *call;
            to->depth = (int32_t)si->si_cxstack[call->place].blk_sub.olddepth + 1;
            set_pad(to);
            learn_last(stack);
        }
    }
}

static bool is_at_or_below(const PERL_SI *si, const PERL_SI *top)
{
    while (top != NULL && top != si)
        top = top->si_prev;
    return top != NULL;
}

/* Down the list, from `end`, to the calls of this stack up to this place, or of a stack below
 * it: those that are passed have been left. Returns how many remain. Lists are made of few
 * runs, one for each PERL_SI. */
static uint32_t pass_left(const struct nytp_call *calls, uint32_t end, uint64_t stack,
                          int32_t place)
{
    while (end > 0 && calls[end - 1].stack != stack) {
        const uint64_t other = calls[end - 1].stack;
        if (is_at_or_below(INT2PTR(const PERL_SI *, (UV)other),
                           INT2PTR(const PERL_SI *, (UV)stack)))
            break;
        while (end > 0 && calls[end - 1].stack == other)
            end--;
    }
    while (end > 0 && calls[end - 1].stack == stack && calls[end - 1].place > place)
        end--;
    return end;
}

void nytp_tick_stack_look(pTHX_ struct nytp_tick_stack *stack)
{
    struct nytp_perl_stack walk;
    struct nytp_perl_call found;
    uint32_t n = 0, n_same = 0, end = stack->n_now;
    nytp_perl_stack_begin(aTHX_ & walk);
    while (n_same < SAME_IN_A_ROW && nytp_perl_stack_next(&walk, &found)) {
        const struct nytp_call call = {.code = PTR2UV(found.cv),
                                       .root = PTR2UV(CvROOT(found.cv)),
                                       .site = PTR2UV(found.site),
                                       .stack = PTR2UV(found.si),
                                       .place = (int32_t)found.index};
        end = pass_left(stack->now, end, call.stack, call.place);
        const bool is_there = end > 0 && is_same(&stack->now[end - 1], &call);
        n_same = is_there ? n_same + 1 : 0;
        end -= is_there;
        NYTP_MAKE_ROOM(stack->upper, n, stack->size_upper, struct nytp_call);
        stack->upper[n++] = call;
    }
    put_upper(stack, n_same < SAME_IN_A_ROW ? 0 : end, n);
}

/* ---- the moment ---- */

/* A reading and what it is read with. */
struct reading {
    struct nytp_reading common;
    struct nytp_tick_stack *stack;
    struct nytp_recorder *rec;
    struct nytp_call calls[NYTP_TICK_CALLS];
};

/* Returns how many of the calls that are open now lie below what the tick copied. */
static uint32_t count_below(pTHX_ const struct nytp_tick_stack *stack,
                            const struct nytp_tick_copy *copy)
{
    const PERL_SI *const si = copy->last_stack;
    if (!is_at_or_below(si, PL_curstackinfo))
        return stack->n_now; /* that stack is gone; it was above all of these */
    return pass_left(stack->now, stack->n_now, PTR2UV(si), copy->lowest - 1);
}

/* Returns whether a call that the tick copied is still open: then perl itself holds its sub.
 * Ask about calls in order, outermost first; `at` is the position in the list of open calls,
 * which has no files and evals. */
static bool is_still_open(const struct nytp_tick_stack *stack,
                          const struct nytp_tick_call *call, uint32_t *at)
{
    if (call->depth == 0)
        return false;
    while (*at < stack->n_now && (stack->now[*at].stack != PTR2UV(call->stack) ||
                                  stack->now[*at].place < call->index))
        ++*at;
    if (*at >= stack->n_now)
        return false;
    const struct nytp_call *const now = &stack->now[*at];
    return now->stack == PTR2UV(call->stack) && now->place == call->index &&
           now->code == PTR2UV(call->code) && now->site == PTR2UV(call->site);
}

/* A call that the tick copied, whose code is alive. That of a file or a string eval is not
 * shown. */
static struct nytp_call live_call(pTHX_ const struct reading *reading,
                                  const struct nytp_tick_call *from, CV *cv, bool is_open)
{
    const bool is_sub = from->depth > 0 && CvROOT(cv) != NULL;
    struct nytp_call call = {
        .code = PTR2UV(cv),
        .root = is_sub ? PTR2UV(CvROOT(cv)) : 0,
        .site = PTR2UV(from->site),
        .caller = PTR2UV(from->caller),
        .stack = PTR2UV(from->stack),
        .place = from->index,
        .depth = from->depth > 0 ? from->depth : 1,
        .kind = is_sub ? NYTP_FRAME_SUB : NYTP_FRAME_EVAL,
        .is_hidden = !is_sub,
    };
    set_pad(&call);
    if (is_sub && !is_open && !nytp_is_live_cop(aTHX_ reading->rec, from->site))
        call.site = 0;
    return call;
}

/* The calls that the tick copied, as far as they are some. */
static void take_calls(pTHX_ struct reading *reading, const struct nytp_tick_copy *copy)
{
    struct nytp_reading *const common = &reading->common;
    uint32_t at = common->calls.n_lower, n_open = at; /* of `now`, with no call left out */
    for (int i = 0; i < copy->n_calls; i++) {
        const struct nytp_tick_call *const from = &copy->calls[i];
        const bool is_open = is_still_open(reading->stack, from, &at);
        CV *const cv =
            is_open ? (CV *)from->code : nytp_live_cv(&reading->stack->svs, from->code);
        if (cv == NULL || CvISXSUB(cv))
            continue;
        reading->calls[common->calls.n_upper++] = live_call(aTHX_ reading, from, cv, is_open);
        const uint32_t n = nytp_calls_n(&common->calls);
        if (is_open && at == n_open) {
            common->n_lasting = n;
            n_open++;
        }
        common->n_there = i < copy->n_there ? n : common->n_there;
    }
    common->calls.upper = reading->calls;
}

static bool has_pad(const struct nytp_reading *common, const struct nytp_call *call)
{
    struct nytp_tick_stack *const stack = common->perl;
    CV *const cv = nytp_live_cv(&stack->svs, NYTP_CALL_CV(call));
    PAD *const list = cv == NULL ? NULL : nytp_pad_at(cv, call->depth);
    return list != NULL && PTR2UV(AvARRAY(list)) == call->pad && CvROOT(cv) != NULL;
}

static const struct nytp_perl_facts facts = {.has_pad = has_pad};

/* A stack that may interrupt any code; the others are made for what the program does in few
 * places. */
static bool is_interruption(const struct nytp_tick_copy *copy)
{
    return copy->stack_type == PERLSI_DESTROY || copy->stack_type == PERLSI_SIGNAL;
}

static void read_moment(pTHX_ struct reading *reading, const struct nytp_tick *tick)
{
    struct nytp_reading *const common = &reading->common;
    const struct nytp_tick_copy *const copy = &tick->copy;
    struct nytp_call main = {.code = PTR2UV(PL_main_cv), .depth = 1};
    const bool is_copied = copy->n_calls >= 0;
    if (PL_main_cv != NULL)
        set_pad(&main);
    *common = (struct nytp_reading){
        .pad = PTR2UV(tick->words[NYTP_TICK_PAD]),
        .stack = PTR2UV(is_copied ? copy->stack : PL_curstackinfo),
        .top = is_copied ? copy->top : -1,
        .main_pad = main.pad,
        .main_list = main.list,
        .is_interruption = is_copied && is_interruption(copy),
        .facts = &facts,
        .perl = reading->stack,
    };
    common->calls.lower = reading->stack->now;
    common->calls.n_lower =
        is_copied ? count_below(aTHX_ reading->stack, copy) : reading->stack->n_now;
    common->n_lasting = common->n_there = common->calls.n_lower;
    if (is_copied)
        take_calls(aTHX_ reading, copy);
    common->n_learned = common->n_lasting;
}

/* The calls of the stack that was found: those that are open now as their number. */
static void take_found(pTHX_ const struct reading *reading, const struct nytp_found *found,
                       struct nytp_moment *moment)
{
    const uint32_t n = nytp_found_n(found), n_lower = reading->common.calls.n_lower;
    moment->n_below = found->n_open < n_lower ? found->n_open : n_lower;
    moment->n_above = 0;
    for (uint32_t i = moment->n_below; i < n; i++) {
        struct nytp_call *const to = &moment->above[moment->n_above++];
        *to = *nytp_found_at(&reading->common, found, i);
        const bool is_left = i >= found->n_open && i < found->n_open + found->n_left;
        if (is_left && !nytp_is_live_cop(aTHX_ reading->rec, NYTP_CALL_SITE(to)))
            to->site = 0;
        if (is_left)
            to->root = PTR2UV(CvROOT(NYTP_CALL_CV(to)));
    }
}

static void drop_hidden(struct nytp_moment *moment)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < moment->n_above; i++)
        if (!moment->above[i].is_hidden)
            moment->above[n++] = moment->above[i];
    moment->n_above = n;
}

/* The statement that a sub begins with; NULL: it begins with something else. */
static const COP *first_statement(const CV *cv)
{
    const OP *const start = CvSTART(cv);
    return start != NULL && (start->op_type == OP_NEXTSTATE || start->op_type == OP_DBSTATE)
               ? (const COP *)start
               : NULL;
}

/* The first statement of the innermost call has not begun: PL_curcop is its caller's still. */
static void begin_innermost(struct nytp_moment *moment)
{
    const struct nytp_call *const call = &moment->above[moment->n_above - 1];
    const COP *const first = call->is_hidden ? NULL : first_statement(NYTP_CALL_CV(call));
    if (first != NULL)
        moment->cop = first;
    else
        moment->n_above--;
}

/* Returns whether the stack in use was a sort's and had no calls: what runs is its block, or
 * perl between two calls of that. */
static bool is_sort(const struct nytp_tick_copy *copy)
{
    const bool is_whole = copy->last_stack != copy->stack || copy->lowest == 0;
    return copy->n_calls >= 0 && copy->stack_type == PERLSI_SORT && is_whole &&
           (copy->n_calls == 0 || copy->calls[copy->n_calls - 1].stack != copy->stack);
}

static void find_calls(pTHX_ struct nytp_recorder *rec, struct nytp_tick_stack *stack,
                       const struct nytp_tick *tick, struct nytp_moment *moment)
{
    const struct nytp_stack_below below = {PTR2UV(tick->copy.stack_below),
                                           tick->copy.top_below};
    struct reading reading;
    struct nytp_found found;
    reading.stack = stack;
    reading.rec = rec;
    read_moment(aTHX_ & reading, tick);
    if (is_sort(&tick->copy))
        nytp_find_in_sort(&reading.common, &below, &stack->memory, &found);
    else
        nytp_find_stack(&reading.common, &stack->memory, &found);
    moment->is_sort = found.is_sort;
    take_found(aTHX_ & reading, &found, moment);
    if (moment->n_above > 0 &&
        NYTP_CALL_SITE(&moment->above[moment->n_above - 1]) == moment->cop)
        begin_innermost(moment);
    drop_hidden(moment);
    moment->pad = moment->n_above > 0   ? moment->above[moment->n_above - 1].pad
                  : moment->n_below > 0 ? stack->now[moment->n_below - 1].pad
                                        : reading.common.main_pad;
}

/* The op that was running, if its memory was one's then. The block of a sort is the sort's. */
static void find_leaf(const struct nytp_recorder *rec, struct nytp_tick_stack *stack,
                      const struct nytp_tick *tick, struct nytp_moment *moment)
{
    const struct nytp_tick_copy *const copy = &tick->copy;
    moment->xsub = NULL;
    moment->builtin = moment->op_type = OP_NULL;
    if (copy->n_calls < 0)
        return;
    const unsigned type = copy->op_type;
    const bool is_op = type < MAXO && copy->op_handler != NULL &&
                       (copy->op_handler == (const void *)PL_ppaddr[type] ||
                        copy->op_handler == (const void *)nytp_real_ops[type]);
    moment->op_type = is_op ? (int)type : OP_NULL;
    moment->op = tick->words[NYTP_TICK_OP];
    if (is_op && type == OP_ENTERSUB) {
        const void *const pad = tick->words[NYTP_TICK_PAD];
        const void *const named =
            moment->pad != PTR2UV(pad)
                ? NULL
                : nytp_named_callee(&stack->named, moment->op, copy->op_next, pad);
        CV *const cv = nytp_live_callee(&stack->svs, named != NULL ? named : copy->callee);
        moment->xsub = cv != NULL && CvISXSUB(cv) ? cv : NULL;
    } else if (is_op && nytp_is_slowop[type] && rec->options.slowops > 0) {
        moment->builtin = (int)type;
    } else if (moment->is_sort && rec->options.slowops > 0) {
        moment->builtin = OP_SORT;
    }
}

void nytp_moment_of(pTHX_ struct nytp_recorder *rec, struct nytp_tick_stack *stack,
                    const struct nytp_tick *tick, struct nytp_moment *moment)
{
    moment->cop = tick->words[NYTP_TICK_COP];
    find_calls(aTHX_ rec, stack, tick, moment);
    find_leaf(rec, stack, tick, moment);
    if (nytp_is_live_cop(aTHX_ rec, moment->cop))
        return;
    moment->cop = PL_curcop;
    moment->op_type = OP_NULL; /* the op is gone with its statement */
}
