/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Adds up the recording cost of the events of a stream, for sums that have no tree of
 * contexts. build/correction.h does the same for a profile; ../model.md has the rules.
 */
#ifndef NYTP_EVENT_COSTS_H
#define NYTP_EVENT_COSTS_H

#include "formats/stream/comments/cost_records.h"
#include "model.h"

#include <stdbool.h>

/* Events by what recording one costs. */
struct nytp_event_counts {
    uint64_t statements, after_leave;
    uint64_t calls, xsubs, ops; /* that returned */
};

/* The events of a process so far. A zeroed struct has none. */
struct nytp_event_counter {
    struct nytp_event_counts n;
    bool is_discount; /* the next time record is discounted, */
    bool is_of_call;  /* and if it is: because a call returned, not because a block was left */
    bool returned;    /* a Perl sub returned since the last time record */
};

static inline void nytp_count_statement(struct nytp_event_counter *c)
{
    c->n.statements += !c->is_discount;
    c->n.after_leave += c->is_discount && !c->is_of_call;
    c->is_discount = false;
    c->is_of_call = c->returned;
    c->returned = false;
}

static inline void nytp_count_return(struct nytp_event_counter *c, enum nytp_sub_kind kind)
{
    c->n.xsubs += kind == NYTP_SUB_XSUB;
    c->n.ops += kind == NYTP_SUB_OPCODE;
    c->n.calls += kind == NYTP_SUB_PERL;
    c->returned |= kind == NYTP_SUB_PERL;
}

/* Returns the events between two points in time. */
struct nytp_event_counts nytp_event_counts_since(const struct nytp_event_counts *now,
                                                 const struct nytp_event_counts *then);

/* Return seconds that recording took: of a call, in the sub itself; of all these events
 * elsewhere, which is in statements and in callers. */
double nytp_cost_in(const struct nytp_costs *costs, enum nytp_sub_kind kind);
double nytp_cost_of_calls_in(const struct nytp_costs *costs, const struct nytp_event_counts *n);
double nytp_cost_around(const struct nytp_costs *costs, const struct nytp_event_counts *n);

#endif
