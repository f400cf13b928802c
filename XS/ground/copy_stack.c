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
    CONTEXTS = 20,   /* that are copied: blocks, loops and evals among the calls */
    ABOVE = 4,       /* and so many that may be entered until they are */
    VARIABLES = 512, /* bytes, in which those lie that are copied */
    TRIES = 3,
};

/* What is current, and the contexts below the top. */
struct moment {
    const PERL_SI *si;
    PERL_SI where;
    PERL_CONTEXT contexts[CONTEXTS + ABOVE];
    int32_t lowest, n;
    SV *const *stack_sp;
};

/* Of these contexts keep those that are calls, or that run the code of a file or a string eval:
 * the innermost NYTP_TICK_CALLS of them. */
NYTP_RAW_CODE static void keep_calls(struct nytp_tick_copy *copy, const PERL_CONTEXT *contexts,
                                     int n)
{
    struct nytp_tick_call found[NYTP_TICK_CALLS];
    int at = NYTP_TICK_CALLS;
    for (int i = n - 1; i >= 0 && at > 0; i--) {
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

/* Where the variables lie that are copied: those of the ring, the stack and its top. Most often
 * they are neighbours. */
NYTP_RAW_CODE static void include(struct iovec *from, const void *variable)
{
    const uintptr_t at = (uintptr_t)variable, start = (uintptr_t)from->iov_base;
    const uintptr_t end = start + from->iov_len, new_end = at + sizeof(void *);
    const uintptr_t lowest = from->iov_len == 0 || at < start ? at : start;
    from->iov_len = (from->iov_len == 0 || new_end > end ? new_end : end) - lowest;
    from->iov_base = (void *)lowest;
}

NYTP_RAW_CODE static const void *variable_in(const char *bytes, const struct iovec *from,
                                             const void *variable)
{
    const size_t at = (size_t)((const char *)variable - (const char *)from->iov_base);
    return *(const void *const *)(bytes + at);
}

/* What is current and the contexts, in one call of the kernel's: from the one to the other the
 * program makes fewer calls than from one system call to the next. The variables are one piece,
 * yet on several cache lines, which come from the program's processor one after the other: now
 * and then a statement is that of a call that the pad is no more. False: they do not go
 * together.
 */
NYTP_RAW_CODE static bool read_at_once(const struct nytp_ring *ring, struct nytp_tick *tick,
                                       struct moment *moment)
{
#ifdef MULTIPLICITY
    PerlInterpreter *const my_perl = ring->interpreter;
#endif
    PERL_SI *const where = &moment->where;
    I32 top;
    moment->si = PL_curstackinfo;
    if (moment->si == NULL || !find_contexts(ring, moment->si, where) || where->si_cxix < -1 ||
        where->si_cxix > where->si_cxmax)
        return false;
    const int32_t room = where->si_cxmax - where->si_cxix;
    const int32_t end = where->si_cxix + 1 + (room < ABOVE ? room : ABOVE);
    moment->lowest = where->si_cxix + 1 > CONTEXTS ? where->si_cxix + 1 - CONTEXTS : 0;
    const size_t len = (size_t)(end - moment->lowest) * sizeof *moment->contexts;
    _Alignas(void *) char bytes[VARIABLES];
    struct iovec variables = {NULL, 0};
    include(&variables, &PL_curstackinfo);
    include(&variables, &PL_stack_sp);
    for (int i = 0; i < NYTP_TICK_WORDS; i++)
        include(&variables, (const void *)ring->look_at[i]);
    if (variables.iov_len > sizeof bytes)
        return false;
    const struct iovec to[] = {
        {bytes, variables.iov_len}, {&top, sizeof top}, {moment->contexts, len}};
    const struct iovec from[] = {variables,
                                 {(void *)&moment->si->si_cxix, sizeof top},
                                 {(void *)(where->si_cxstack + moment->lowest), len}};
    if (nytp_raw_read_memory(ring->pid, to, from, 3) !=
            (long)(variables.iov_len + sizeof top + len) ||
        variable_in(bytes, &variables, &PL_curstackinfo) != moment->si ||
        top + 1 < moment->lowest || top >= end)
        return false;
    for (int i = 0; i < NYTP_TICK_WORDS; i++)
        tick->words[i] = variable_in(bytes, &variables, (const void *)ring->look_at[i]);
    moment->stack_sp = variable_in(bytes, &variables, &PL_stack_sp);
    moment->n = top + 1 - moment->lowest;
    return true;
}

NYTP_RAW_CODE static void capture(const struct nytp_ring *ring, struct nytp_tick *tick)
{
    struct moment moment;
    struct nytp_tick_copy *const copy = &tick->copy;
    int tries = 0;
    while (!read_at_once(ring, tick, &moment))
        if (++tries == TRIES)
            return;
    struct op op;
    copy->op_handler = NULL;
    copy->op_type = OP_NULL;
    copy->callee = NULL;
    const struct iovec to[] = {{&op, sizeof op}, {&copy->callee, sizeof copy->callee}};
    const struct iovec from[] = {{(void *)tick->words[NYTP_TICK_OP], sizeof op},
                                 {(void *)(moment.stack_sp + 1), sizeof copy->callee}};
    if (nytp_raw_read_memory(ring->pid, to, from, 2) >= (long)sizeof op) {
        copy->op_type = op.op_type;
        copy->op_handler = (const void *)op.op_ppaddr;
    }
    copy->lowest = moment.lowest;
    copy->stack = moment.si;
    copy->stack_type = moment.where.si_type;
    keep_calls(copy, moment.contexts, moment.n);
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
