/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reads the open calls of an interpreter that executes nothing, from another thread or in a
 * signal handler: the calls in which a program hangs. The kernel copies perl's structures
 * (memory.h), so memory that goes away meanwhile is reported. The caller makes sure afterwards
 * that the interpreter has not moved.
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
    const void *op, *cop, *pad; /* the current ones */
    unsigned op_type;           /* of `op` */
    const CV *xsub;             /* the running one, or NULL */
    unsigned n;                 /* calls, innermost first */
    bool is_whole;              /* there are no more, and all could be read */
    struct nytp_tick_call calls[NYTP_OPEN_CALLS]; /* of subs */
};

/* Text in a room of fixed size; the rest is left out. */
struct nytp_fixed_text {
    char *to;
    size_t n, size;
};

void nytp_fixed_put(struct nytp_fixed_text *text, const char *string);
void nytp_fixed_put_number(struct nytp_fixed_text *text, uint64_t number);
/* Not in a signal. */
void nytp_fixed_printf(struct nytp_fixed_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reads. Returns false if nothing can be read. */
bool nytp_open_stack_look(struct nytp_open_stack *stack, const void *interpreter, long pid);

/* Returns whether the interpreter is where it was. It may have come back: a loop that waits
 * again and again is as good. */
bool nytp_open_stack_is_same(const struct nytp_open_stack *stack);

/* Appends the name of a sub: "Foo::bar", or "Foo::__ANON__" without a name. */
void nytp_open_stack_put_sub(struct nytp_fixed_text *text, const struct nytp_open_stack *stack,
                             const CV *cv);

/* Appends the package of a statement, and "::". */
void nytp_open_stack_put_package(struct nytp_fixed_text *text,
                                 const struct nytp_open_stack *stack, const COP *cop);

/* Appends the file of a statement. Returns its line, or 0 if unknown. */
uint32_t nytp_open_stack_put_file(struct nytp_fixed_text *text,
                                  const struct nytp_open_stack *stack, const COP *cop);

#endif
