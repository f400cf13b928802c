/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reads the open calls of an interpreter that executes nothing, from another thread or in a
 * signal handler: the calls in which a program hangs.
 *
 * perl is not asked for anything. Its structures are copied by the kernel as in memory.h, so
 * that memory which goes away meanwhile is told instead of crashing us; whoever looks makes
 * sure afterwards that the interpreter has not moved.
 */
#ifndef NYTP_OPEN_STACK_H
#define NYTP_OPEN_STACK_H

#include "copy_stack.h"

enum {
    NYTP_OPEN_CALLS = 1000,
};

struct nytp_open_stack {
    const void *interpreter;
    long pid;                   /* of this process */
    const void *op, *cop, *pad; /* that were current */
    unsigned op_type;           /* of `op` */
    const CV *xsub;             /* that runs, or NULL */
    unsigned n;                 /* calls, innermost first */
    bool is_whole;              /* there are no more, and all could be read */
    struct nytp_tick_call calls[NYTP_OPEN_CALLS]; /* of subs */
};

/* Text in a room of fixed size; what does not fit is left out. */
struct nytp_fixed_text {
    char *to;
    size_t n, size;
};

void nytp_fixed_put(struct nytp_fixed_text *text, const char *string);
void nytp_fixed_put_number(struct nytp_fixed_text *text, uint64_t number);
/* Not in a signal. */
void nytp_fixed_printf(struct nytp_fixed_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Look. False: the system does not do this, or nothing can be read. */
bool nytp_open_stack_look(struct nytp_open_stack *stack, const void *interpreter, long pid);

/* Whether the interpreter is where it was. What it executes in between may take it back there:
 * a loop that waits again and again is as good. */
bool nytp_open_stack_is_same(const struct nytp_open_stack *stack);

/* The name of a sub, as perl has it: "Foo::bar". Of one without a name: "Foo::__ANON__". */
void nytp_open_stack_put_sub(struct nytp_fixed_text *text, const struct nytp_open_stack *stack,
                             const CV *cv);

/* The package of a statement, with "::" behind it. */
void nytp_open_stack_put_package(struct nytp_fixed_text *text,
                                 const struct nytp_open_stack *stack, const COP *cop);

/* The file of a statement; its line is returned, 0: not known. */
uint32_t nytp_open_stack_put_file(struct nytp_fixed_text *text,
                                  const struct nytp_open_stack *stack, const COP *cop);

#endif
