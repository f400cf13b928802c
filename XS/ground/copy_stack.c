/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What a tick copies of perl; see copy_stack.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "copy_stack.h"

#include "memory.h"

#include <pthread.h>
#include <unistd.h>

enum {
    CONTEXTS = 20, /* that are copied: blocks, loops and evals among the calls */
};

/* A context that is a call, or that runs the code of a file or a string eval. */
NYTP_RAW_CODE static bool read_call(const PERL_CONTEXT *cx, struct nytp_tick_call *call)
{
    *call = (struct nytp_tick_call){.site = cx->blk_oldcop};
    if (CxTYPE(cx) == CXt_SUB && !(cx->cx_type & CXp_SUB_RE_FAKE)) {
        call->code = cx->blk_sub.cv;
        call->depth = (int32_t)cx->blk_sub.olddepth + 1;
    } else if (CxTYPE(cx) == CXt_EVAL) {
        call->code = cx->blk_eval.cv;
    }
    return call->code != NULL;
}

/* Of the contexts up to the top keep those that are calls: the innermost NYTP_TICK_CALLS of
 * them. perl leaves a context as it was when its call is over: above the top when it was looked
 * at again is what was there, until the next call. */
NYTP_RAW_CODE static void keep_calls(struct nytp_tick_copy *copy, const PERL_CONTEXT *contexts,
                                     int32_t top_after)
{
    struct nytp_tick_call found[NYTP_TICK_CALLS];
    int at = NYTP_TICK_CALLS;
    copy->n_there = 0;
    for (int32_t i = copy->top; i >= copy->lowest && at > 0; i--) {
        struct nytp_tick_call *const call = &found[at - 1];
        if (!read_call(&contexts[i - copy->lowest], call))
            continue;
        call->index = i;
        copy->n_there += i <= top_after;
        at--;
    }
    copy->n_calls = NYTP_TICK_CALLS - at;
    if (copy->n_calls == NYTP_TICK_CALLS)
        copy->lowest = found[at].index;
    for (int i = 0; at < NYTP_TICK_CALLS; i++, at++)
        copy->calls[i] = found[at];
}

/* Find out where the contexts are. False: that cannot be read. The program's own stack of them
 * stays where it is as long as the interpreter lives; others go when what they were made for is
 * over. */
NYTP_RAW_CODE static bool find_contexts(const struct nytp_ring *ring, const PERL_SI *si,
                                        PERL_SI *copy)
{
    if (si == ring->home) {
        copy->si_cxstack = si->si_cxstack;
        copy->si_cxix = si->si_cxix;
        copy->si_cxmax = si->si_cxmax;
        copy->si_type = si->si_type;
        return true;
    }
    const struct iovec to = {copy, sizeof *copy}, from = {(void *)si, sizeof *si};
    return nytp_raw_read_memory(ring->pid, &to, &from, 1) == (long)sizeof *copy;
}

/* Nothing of this is looked at before the words are. perl writes contexts, variables and pads
 * in turn, and a processor shows others its writes in order: where it has to wait to write what
 * was looked at, the program seems to be where it was before, which is the caller most often.
 * The words and the top are of one moment but for some nanoseconds. */
NYTP_RAW_CODE static void capture(const struct nytp_ring *ring, struct nytp_tick *tick)
{
#ifdef MULTIPLICITY
    PerlInterpreter *const my_perl = ring->interpreter;
#endif
    struct nytp_tick_copy *const copy = &tick->copy;
    PERL_CONTEXT contexts[CONTEXTS];
    PERL_SI where;
    I32 top_after;
    struct op op;
    SV **const sp = *(SV * *volatile *)&PL_stack_sp;
    const PERL_SI *const si = *(PERL_SI *volatile *)&PL_curstackinfo;
    if (si == NULL || !find_contexts(ring, si, &where) || where.si_cxix < -1 ||
        where.si_cxix > where.si_cxmax)
        return;
    copy->stack = si;
    copy->stack_type = where.si_type;
    copy->top = where.si_cxix;
    copy->lowest = copy->top + 1 > CONTEXTS ? copy->top + 1 - CONTEXTS : 0;
    copy->op_handler = NULL;
    copy->op_type = OP_NULL;
    copy->callee = NULL;
    const size_t len = (size_t)(copy->top + 1 - copy->lowest) * sizeof *contexts;
    const struct iovec to[] = {{contexts, len},
                               {&top_after, sizeof top_after},
                               {&op, sizeof op},
                               {&copy->callee, sizeof copy->callee}};
    const struct iovec from[] = {{(void *)(where.si_cxstack + copy->lowest), len},
                                 {(void *)&si->si_cxix, sizeof top_after},
                                 {(void *)tick->words[NYTP_TICK_OP], sizeof op},
                                 {(void *)(sp + 1), sizeof copy->callee}};
    const long n_read = nytp_raw_read_memory(ring->pid, to, from, 4);
    if (n_read < (long)(len + sizeof top_after))
        return;
    if (n_read >= (long)(len + sizeof top_after + sizeof op)) {
        copy->op_type = op.op_type;
        copy->op_handler = (const void *)op.op_ppaddr;
    }
    keep_calls(copy, contexts, top_after);
}

void nytp_copy_stack_thread(struct nytp_ring *ring)
{
    clockid_t cpu_clock;
#if defined(_POSIX_THREAD_CPUTIME) && _POSIX_THREAD_CPUTIME >= 0
    if (pthread_getcpuclockid(pthread_self(), &cpu_clock) != 0)
        cpu_clock = CLOCK_PROCESS_CPUTIME_ID;
#else
    cpu_clock = CLOCK_PROCESS_CPUTIME_ID;
#endif
    ring->cpu_clock = cpu_clock;
    ring->pid = (long)getpid();
    nytp_wait_look_begin(&ring->call);
    nytp_memory_begin();
}

void nytp_copy_stack_begin(pTHX_ struct nytp_ring *ring)
{
    const PERL_SI *home = PL_curstackinfo;
    while (home->si_prev != NULL)
        home = home->si_prev;
    ring->look_at[NYTP_TICK_OP] = (const void *const volatile *)&PL_op;
    ring->look_at[NYTP_TICK_COP] = (const void *const volatile *)&PL_curcop;
    ring->look_at[NYTP_TICK_PAD] = (const void *const volatile *)&PL_curpad;
    ring->asked = (volatile int *)&PL_sig_pending;
    ring->interpreter = (void *)NYTP_THX;
    ring->home = home;
    ring->copy = capture;
    nytp_copy_stack_thread(ring);
}
