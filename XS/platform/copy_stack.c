/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Copies perl's state at a tick; see copy_stack.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "copy_stack.h"

#include "memory.h"

#include <unistd.h>

enum {
    CONTEXTS = 20, /* copied of a stack: blocks, loops and evals among the calls */
    STACKS = 3,    /* from the one in use outwards: a tie in a sort in the program */
    NESTED = 64,   /* stacks searched for the one in use */
};

/* The innermost contexts of a stack. */
struct place {
    const PERL_SI *si;
    const PERL_CONTEXT *contexts;
    int32_t lowest, top;
    int type;
};

/* The calls found, from the innermost outwards; the array is filled from its end. */
struct found_calls {
    struct nytp_tick_call calls[NYTP_TICK_CALLS];
    int at;     /* index of the outermost so far */
    int n_over; /* innermost calls that may be over */
};

bool nytp_read_context(const PERL_CONTEXT *cx, struct nytp_tick_call *call)
{
    *call = (struct nytp_tick_call){.site = cx->blk_oldcop};
    if (CxTYPE(cx) == CXt_SUB && !(cx->cx_type & CXp_SUB_RE_FAKE)) {
        call->code = cx->blk_sub.cv;
        call->depth = (int32_t)cx->blk_sub.olddepth + 1;
#if PERL_VERSION >= 24
        call->caller = cx->blk_sub.prevcomppad;
#endif
    } else if (CxTYPE(cx) == CXt_EVAL) {
        call->code = cx->blk_eval.cv;
    }
    return call->code != NULL;
}

/* Takes the contexts of a stack that are calls, as many as there is room for. A context stays
 * as it is when its call is over, until the next call: those above `top_after`, read later, may
 * be over. */
static void copy_calls(struct nytp_tick_copy *copy, struct found_calls *found,
                       const PERL_CONTEXT *contexts, const struct place *place,
                       int32_t top_after)
{
    copy->last_stack = place->si;
    copy->lowest = place->lowest;
    for (int32_t i = place->top; i >= place->lowest && found->at > 0; i--) {
        struct nytp_tick_call *const call = &found->calls[found->at - 1];
        if (!nytp_read_context(&contexts[i - place->lowest], call))
            continue;
        call->stack = place->si;
        call->index = i;
        found->n_over += i > top_after;
        found->at--;
    }
    if (found->at == 0)
        copy->lowest = found->calls[0].index;
}

static void keep_calls(struct nytp_tick_copy *copy, const struct found_calls *found)
{
    copy->n_calls = NYTP_TICK_CALLS - found->at;
    copy->n_there = copy->n_calls - found->n_over;
    for (int i = 0; i < copy->n_calls; i++)
        copy->calls[i] = found->calls[found->at + i];
}

/* Returns false if it is no stack. */
static bool take_place(const PERL_SI *si, const PERL_SI *from, struct place *place)
{
    const int32_t top = (int32_t)from->si_cxix;
    if (top < -1 || top > (int32_t)from->si_cxmax)
        return false;
    place->si = si;
    place->top = top;
    place->lowest = top + 1 > CONTEXTS ? top + 1 - CONTEXTS : 0;
    place->contexts = from->si_cxstack + place->lowest;
    place->type = (int)from->si_type;
    return true;
}

/* Finds the stack in use and those below it. Returns their number, 0 if none can be read. The
 * program's first stack and those for sorts, ties and handlers live as long as the interpreter.
 * Another one, a coroutine's perhaps, may go at any time; those below it are not looked for. */
static int find_places(const struct nytp_ring *ring, const PERL_SI *si, struct place *places)
{
    const PERL_SI *own = ring->home;
    int n = 0;
    for (int i = 0; i < NESTED && own != NULL && own != si; i++)
        own = own->si_next;
    if (own == NULL || own != si) {
        PERL_SI copy;
        return nytp_read_part(ring->pid, si, &copy, sizeof copy) == (long)sizeof copy &&
               take_place(si, &copy, places);
    }
    while (n < STACKS && own != NULL && take_place(own, own, &places[n])) {
        n++;
        own = own == ring->home ? NULL : own->si_prev;
    }
    return n;
}

/* The pieces of the program's memory to read, in this order. */
struct pieces {
    struct iovec to[STACKS + 3], from[STACKS + 3];
    unsigned n;
    size_t size; /* of all */
};

/* Returns the size up to the end of this piece. */
static size_t add_piece(struct pieces *pieces, void *to, const void *from, size_t size)
{
    pieces->to[pieces->n] = (struct iovec){to, size};
    pieces->from[pieces->n++] = (struct iovec){(void *)from, size};
    return pieces->size += size;
}

static size_t add_contexts(struct pieces *pieces, PERL_CONTEXT *to, const struct place *place)
{
    return add_piece(pieces, to, place->contexts,
                     (size_t)(place->top + 1 - place->lowest) * sizeof *to);
}

/* Runs after the words were read. A processor that waits to write what we read shows the state
 * before, mostly the caller's. The words and the top are of one moment but for some
 * nanoseconds; the stacks below the one in use rest. */
static void capture(const struct nytp_ring *ring, struct nytp_tick *tick)
{
#ifdef MULTIPLICITY
    PerlInterpreter *const my_perl = ring->interpreter;
#endif
    struct nytp_tick_copy *const copy = &tick->copy;
    PERL_CONTEXT contexts[STACKS][CONTEXTS];
    static const struct op none; /* between the calls of a sort's block there is no op */
    struct place places[STACKS];
    I32 top_after;
    struct op op;
    struct pieces pieces;
    struct found_calls found;
    SV **const sp = *(SV * *volatile *)&PL_stack_sp;
    const PERL_SI *const si = *(PERL_SI *volatile *)&PL_curstackinfo;
    const int n_places = si == NULL ? 0 : find_places(ring, si, places);
    if (n_places == 0)
        return;
    pieces.n = 0;
    pieces.size = 0;
    add_contexts(&pieces, contexts[0], &places[0]);
    const size_t to_top = add_piece(&pieces, &top_after, &si->si_cxix, sizeof top_after);
    const void *const running = tick->words[NYTP_TICK_OP];
    const size_t to_op = add_piece(&pieces, &op, running != NULL ? running : &none, sizeof op);
    copy->callee = NULL;
    add_piece(&pieces, &copy->callee, sp + 1, sizeof copy->callee);
    for (int i = 1; i < n_places; i++)
        add_contexts(&pieces, contexts[i], &places[i]);
    const long n_read = nytp_read_memory(ring->pid, pieces.to, pieces.from, (int)pieces.n);
    if (n_read < (long)to_top)
        return;
    const bool has_op = n_read >= (long)to_op;
    copy->op_type = has_op ? op.op_type : OP_NULL;
    copy->op_handler = has_op ? (const void *)op.op_ppaddr : NULL;
    copy->op_next = has_op ? op.op_next : NULL;
    copy->stack = si;
    copy->stack_type = places[0].type;
    copy->top = places[0].top;
    copy->stack_below = n_places > 1 ? places[1].si : NULL;
    copy->top_below = n_places > 1 ? places[1].top : -1;
    found.at = NYTP_TICK_CALLS;
    found.n_over = 0;
    copy_calls(copy, &found, contexts[0], &places[0], top_after);
    for (int i = 1; i < n_places && n_read == (long)pieces.size && found.at > 0; i++)
        copy_calls(copy, &found, contexts[i], &places[i], places[i].top);
    keep_calls(copy, &found);
}

void nytp_copy_stack_thread(struct nytp_ring *ring)
{
    ring->cpu_clock = nytp_kernel_cpu_clock();
    ring->pid = (long)getpid();
    nytp_wait_look_begin(&ring->call);
    nytp_memory_begin();
}

void nytp_copy_stack_begin(pTHX_ struct nytp_ring *ring)
{
    const PERL_SI *home = PL_curstackinfo;
    while (home->si_prev != NULL)
        home = home->si_prev;
    if (gv_stashpvs("Coro::State", 0) != NULL)
        home = NULL; /* the stack may be a coroutine's, which frees its stacks */
    ring->look_at[NYTP_TICK_OP] = (const void *const volatile *)&PL_op;
    ring->look_at[NYTP_TICK_COP] = (const void *const volatile *)&PL_curcop;
    ring->look_at[NYTP_TICK_PAD] = (const void *const volatile *)&PL_curpad;
    ring->asked = (volatile int *)&PL_sig_pending;
    ring->interpreter = (void *)NYTP_THX;
    ring->home = home;
    ring->copy = capture;
    nytp_copy_stack_thread(ring);
}
