/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The exclusive values of a context, line by line, for pprof's samples. If stacks are limited
 * (stacks.h), a context includes the lines of the deeper ones that were pruned into it.
 */
#ifndef NYTP_PPROF_ENTRIES_H
#define NYTP_PPROF_ENTRIES_H

#include "exporters/stacks/stacks.h"

/* The values of one line. */
struct nytp_pprof_entry {
    uint32_t file, line;
    int64_t ticks, cpu_ticks;
    struct nytp_svs memory;
    uint64_t statements;
};

struct nytp_pprof_entries {
    const struct nytp_profile *profile;
    /* By node: the next that counts for the same context, 0 = none. NULL: none was pruned. */
    uint32_t *next_member;
    struct nytp_pprof_entry *at; /* of the last context; each line once */
    uint32_t n, size;
    bool no_memory; /* memory was out: the entries are invalid */
};

/* Returns false if memory is out. Call nytp_pprof_entries_free() in either case. */
bool nytp_pprof_entries_init(struct nytp_pprof_entries *entries,
                             const struct nytp_profile *profile,
                             const struct nytp_stacks *stacks);
void nytp_pprof_entries_free(struct nytp_pprof_entries *entries);

/* Replaces the entries by those of context `node`, which must be a kept one. Returns its
 * number of calls. A context with calls and no values has one entry: its sub's first line. */
uint64_t nytp_pprof_entries_of(struct nytp_pprof_entries *entries, uint32_t node);

#endif
