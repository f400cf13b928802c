/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The distinct stacks of one process with all they count: what a table with a row for each stack
 * is made of. (stacktree.h has one value of a stack, but of all processes and with lines.)
 */
#ifndef NYTP_PROCESS_STACKS_H
#define NYTP_PROCESS_STACKS_H

#include "exporter.h"
#include "stacks.h"

struct nytp_process_stack {
    uint32_t parent; /* index, lower than this one; itself for the root */
    uint32_t sub;
    bool unreturned; /* this frame, or one outside of it */
    uint64_t calls, statements;
    int64_t ticks; /* its own */
};

/* Zeroed = empty. */
struct nytp_process_stacks {
    struct nytp_process_stack *stacks;
    uint32_t n, capacity;
    uint32_t *order; /* all of them: depth first, siblings by name; a stack precedes longer ones */
    uint32_t *stack_of_node; /* private */
    uint32_t n_nodes;
};

/* Fill with the stacks of a process; `bounds` are the profile's. False when memory is out. */
bool nytp_process_stacks_fill(struct nytp_process_stacks *stacks,
                              const struct nytp_profile *profile,
                              const struct nytp_stacks *bounds, uint32_t process);
void nytp_process_stacks_free(struct nytp_process_stacks *stacks);

#endif
