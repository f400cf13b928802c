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

/* Of these contexts keep those that are calls, or that run the code of a file or a string eval:
 * the innermost NYTP_TICK_CALLS of them. */
NYTP_RAW_CODE static void keep_calls(struct nytp_tick_copy *copy, const PERL_CONTEXT *contexts,
                                     int n)
{
    struct nytp_tick_call found[CONTEXTS];
    int at = CONTEXTS;
    for (int i = n - 1; i >= 0 && at > CONTEXTS - NYTP_TICK_CALLS; i--) {
        const PERL_CONTEXT *const cx = &contexts[i];
        const int32_t index = copy->lowest + i;
        struct nytp_tick_call *const call = &found[at - 1];
        if (CxTYPE(cx) == CXt_SUB && !(cx->cx_type & CXp_SUB_RE_FAKE)) {
            call->code = cx->blk_sub.cv;
            call->depth = (int32_t)cx->blk_sub.olddepth + 1;
        } else if (CxTYPE(cx) == CXt_EVAL && cx->blk_eval.cv != NULL) {
            call->code = cx->blk_eval.cv;
            call->depth = 0;
        } else {
            continue;
        }
        call->site = cx->blk_oldcop;
        call->index = index;
        at -= call->code != NULL;
    }
    copy->n_calls = CONTEXTS - at;
    if (copy->n_calls == NYTP_TICK_CALLS)
        copy->lowest = found[at].index;
    for (int i = 0; at < CONTEXTS; i++, at++)
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
        copy->si_type = si->si_type;
        return true;
    }
    const struct iovec to = {copy, sizeof *copy}, from = {(void *)si, sizeof *si};
    return nytp_raw_read_memory(ring->pid, &to, &from, 1) == (long)sizeof *copy;
}

NYTP_RAW_CODE static void capture(const struct nytp_ring *ring, struct nytp_tick *tick)
{
#ifdef MULTIPLICITY
    PerlInterpreter *const my_perl = ring->interpreter;
#endif
    SV *const *const stack_top = PL_stack_sp;
    const PERL_SI *const si = PL_curstackinfo;
    PERL_CONTEXT contexts[CONTEXTS];
    PERL_SI where;
    struct op op;
    struct nytp_tick_copy *const copy = &tick->copy;
    if (si == NULL || !find_contexts(ring, si, &where) || where.si_cxix < -1)
        return;
    const int n = where.si_cxix + 1 < CONTEXTS ? where.si_cxix + 1 : CONTEXTS;
    const struct iovec to[] = {{contexts, (size_t)n * sizeof *contexts},
                               {&op, sizeof op},
                               {&copy->callee, sizeof copy->callee}};
    copy->lowest = where.si_cxix + 1 - n;
    const struct iovec from[] = {{(void *)(where.si_cxstack + copy->lowest), to[0].iov_len},
                                 {(void *)tick->words[NYTP_TICK_OP], to[1].iov_len},
                                 {(void *)(stack_top + 1), to[2].iov_len}};
    copy->op_handler = NULL;
    copy->op_type = OP_NULL;
    copy->callee = NULL;
    const long len = nytp_raw_read_memory(ring->pid, to, from, 3);
    if (len < (long)to[0].iov_len)
        return;
    if (len >= (long)(to[0].iov_len + to[1].iov_len)) {
        copy->op_type = op.op_type;
        copy->op_handler = (const void *)op.op_ppaddr;
    }
    copy->stack = si;
    copy->stack_type = where.si_type;
    keep_calls(copy, contexts, n);
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
    ring->look_at[NYTP_TICK_PAD] = (const void *const volatile *)&PL_comppad;
    ring->asked = (volatile int *)&PL_sig_pending;
    ring->interpreter = (void *)NYTP_THX;
    ring->home = home;
    ring->copy = capture;
    nytp_copy_stack_thread(ring);
}
