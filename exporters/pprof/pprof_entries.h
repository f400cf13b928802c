/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What was spent in a context itself, line by line, for pprof's samples. Where stacks are
 * bounded (stacks.h) a context also stands for the deeper ones that were pruned into it: their
 * lines are added to its own.
 */
#ifndef NYTP_PPROF_ENTRIES_H
#define NYTP_PPROF_ENTRIES_H

#include "exporters/stacks/stacks.h"

/* What counts on one line. */
struct nytp_pprof_entry {
    uint32_t file, line;
    int64_t ticks, cpu_ticks, kept_svs;
    struct nytp_bytes bytes;
    uint64_t statements;
};

struct nytp_pprof_entries {
    const struct nytp_profile *profile;
    /* By node: the next node that counts on the same context, 0 = none. NULL when no context
     * was pruned. */
    uint32_t *next_member;
    struct nytp_pprof_entry *at; /* of the latest context; each line once */
    uint32_t n, size;
    bool no_memory; /* memory was out: the entries are of no use */
};

/* False when memory is out; nytp_pprof_entries_free() in either case. */
bool nytp_pprof_entries_init(struct nytp_pprof_entries *entries,
                             const struct nytp_profile *profile,
                             const struct nytp_stacks *stacks);
void nytp_pprof_entries_free(struct nytp_pprof_entries *entries);

/* Replace the entries by those of context `node`, which must be a kept one. Returns how often
 * it was called. A context that was called but spent nothing has one entry: its sub's first
 * line. */
uint64_t nytp_pprof_entries_of(struct nytp_pprof_entries *entries, uint32_t node);

#endif
