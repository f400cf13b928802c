/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The distinct stacks of one process, or of all, with all they count: a table with a row for
 * each stack, and the report's flame graph. (stacktree.h has one value of a stack.)
 */
#ifndef NYTP_PROCESS_STACKS_H
#define NYTP_PROCESS_STACKS_H

#include "exporters/base/exporter.h"
#include "stacks.h"

#include "formats/base/table.h"

struct nytp_process_stack {
    uint32_t parent; /* index, lower than this one; itself for the root */
    uint32_t sub;
    bool unreturned;               /* this frame, or one outside of it */
    uint32_t site_file, site_line; /* with lines: where the frame outside of it made the call */
    uint64_t calls, statements;
    int64_t ticks, cpu_ticks; /* its own */
    struct nytp_svs svs;
};

/* The costs of a stack's last frame on one line. */
struct nytp_process_line {
    uint32_t stack, file, line;
    uint64_t statements;
    int64_t ticks, cpu_ticks;
    struct nytp_svs svs;
};

/* Zeroed = empty. */
struct nytp_process_stacks {
    bool by_line; /* set by the caller: stacks differ by lines of calls; fills `lines` */
    bool by_name; /* set by the caller: subs of one name are one, the first of them, and
                     `unreturned` is of a stack's last frame alone */
    struct nytp_process_stack *stacks;
    uint32_t n, capacity;
    uint32_t *order; /* depth first, siblings by name; a stack precedes longer ones */
    struct nytp_process_line *lines; /* by stack, file, line */
    uint32_t *first_line;            /* of each stack, into lines; one more than stacks */
    uint32_t *stack_of_node;         /* from the process's first node on */
    uint32_t n_nodes;                /* private */
    struct nytp_table known; /* (parent or UINT32_MAX, sub, unreturned << 31 | site_file,
                                site_line) -> stack */
};

/* Fill with the stacks of a process or of NYTP_ALL_PROCESSES, in place of those of the process
 * before; `bounds` are the profile's. Returns false if memory is out;
 * nytp_process_stacks_free() at the end. */
bool nytp_process_stacks_fill(struct nytp_process_stacks *stacks,
                              const struct nytp_profile *profile,
                              const struct nytp_stacks *bounds, uint32_t process);
void nytp_process_stacks_free(struct nytp_process_stacks *stacks);

/* Returns the first sub with the name of this one. Subs of one name are adjacent. */
uint32_t nytp_first_of_name(const struct nytp_profile *profile, uint32_t sub);

#endif
