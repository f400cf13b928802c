/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The present state of an interpreter; see where.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "where.h"

#include "XS/names/builtins.h"

#include "sampling/wait_calls.h"

#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

enum {
    LOOKS = 3, /* tries to see the interpreter stand still */
};

/* Used by the one tick thread. */
static struct nytp_open_stack stack;

void nytp_where_begin(struct nytp_where *where, void *interpreter, unsigned thread)
{
    where->interpreter = interpreter;
    where->pid = (long)getpid();
    where->thread_id = thread == 0 ? where->pid : 0;
    where->cpu_clock = nytp_kernel_cpu_clock();
    where->op = where->cop = NULL;
    where->since_ns = 0;
    where->is_still = false;
}

void nytp_where_look(struct nytp_where *where)
{
#ifdef MULTIPLICITY
    PerlInterpreter *const my_perl = (PerlInterpreter *)where->interpreter;
#endif
    const void *const op = *(void *const volatile *)&PL_op;
    const void *const cop = *(void *const volatile *)&PL_curcop;
    const uint64_t cpu_ns = nytp_kernel_clock_ns(where->cpu_clock);
    where->is_still =
        where->since_ns != 0 && op == where->op && cop == where->cop && cpu_ns == where->cpu_ns;
    if (where->is_still)
        return;
    where->op = op;
    where->cop = cop;
    where->cpu_ns = cpu_ns;
    where->since_ns = nytp_kernel_clock_ns(CLOCK_MONOTONIC);
}

static bool look_at_stack(const struct nytp_where *where)
{
    for (int i = 0; i < LOOKS; i++)
        if (nytp_open_stack_look(&stack, where->interpreter, where->pid) &&
            nytp_open_stack_is_same(&stack))
            return true;
    return false;
}

/* ---- the system call ---- */

/* Returns whether the thread waits in the kernel; a program that waits for a processor does
 * not. `otherwise`: the system does not say. Sets *of to the descriptor that it waits for, or
 * -1. */
static bool is_blocked(const struct nytp_where *where, int *of, bool otherwise)
{
    char path[64];
    struct nytp_blocked blocked;
    *of = -1;
    snprintf(path, sizeof path, "/proc/self/task/%ld/syscall", where->thread_id);
    const int fd = where->thread_id == 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return otherwise;
    const bool is_in_kernel = nytp_blocked_read(fd, &blocked);
    close(fd);
    for (const struct nytp_wait_call *call = nytp_wait_calls; call->name != NULL; call++)
        if (is_in_kernel && call->number == blocked.number &&
            (call->subject == NYTP_WAITS_FILE || call->subject == NYTP_WAITS_LOCK))
            *of = (int)blocked.arguments[0];
    return is_in_kernel;
}

/* ---- words ---- */

void nytp_where_put(struct nytp_fixed_text *text, struct nytp_where *where)
{
    int fd;
    const bool waits = is_blocked(where, &fd, where->is_still);
    const uint64_t ns = nytp_kernel_clock_ns(CLOCK_MONOTONIC) - where->since_ns;
    if (!look_at_stack(where) || !where->is_still || !waits) {
        nytp_fixed_put(text, "runs");
        nytp_open_stack_put_leaf(text, &stack, " in ");
        return;
    }
    nytp_fixed_put(text, "waits");
    nytp_open_stack_put_leaf(text, &stack, " in ");
    nytp_fixed_printf(text, " for %" PRIu64 ".%u s", ns / 1000000000,
                      (unsigned)(ns / 100000000 % 10));
    if (fd >= 0)
        nytp_fixed_printf(text, ", fd %d", fd);
}

static void put_place(struct nytp_fixed_text *text, const COP *cop)
{
    nytp_fixed_put(text, "\t");
    const uint32_t line = nytp_open_stack_put_file(text, &stack, cop);
    nytp_fixed_printf(text, ":%" PRIu32 "\n", line);
}

void nytp_where_put_stack(struct nytp_fixed_text *text)
{
    const COP *cop = stack.cop;
    nytp_fixed_put(text, "\n");
    for (unsigned i = 0; i < stack.n; i++) {
        nytp_fixed_put(text, "  ");
        nytp_open_stack_put_sub(text, &stack, stack.calls[i].code);
        put_place(text, cop);
        cop = stack.calls[i].site;
    }
    nytp_fixed_put(text, stack.is_whole ? "  main::RUNTIME" : "  ...");
    put_place(text, cop);
}
