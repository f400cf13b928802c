/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Adds up the recording cost of events; see event_costs.h.
 */
#include "event_costs.h"

#define SECONDS 1e-12 /* struct nytp_costs has picoseconds */

struct nytp_event_counts nytp_event_counts_since(const struct nytp_event_counts *now,
                                                 const struct nytp_event_counts *then)
{
    return (struct nytp_event_counts){
        .statements = now->statements - then->statements,
        .after_leave = now->after_leave - then->after_leave,
        .calls = now->calls - then->calls,
        .xsubs = now->xsubs - then->xsubs,
        .ops = now->ops - then->ops,
    };
}

double nytp_cost_in(const struct nytp_costs *costs, enum nytp_sub_kind kind)
{
    const int64_t cost = kind == NYTP_SUB_XSUB     ? costs->xsub_in
                         : kind == NYTP_SUB_OPCODE ? costs->op_in
                                                   : costs->call_in;
    return (double)cost * SECONDS;
}

double nytp_cost_of_calls_in(const struct nytp_costs *costs, const struct nytp_event_counts *n)
{
    return (double)n->calls * nytp_cost_in(costs, NYTP_SUB_PERL) +
           (double)n->xsubs * nytp_cost_in(costs, NYTP_SUB_XSUB) +
           (double)n->ops * nytp_cost_in(costs, NYTP_SUB_OPCODE);
}

double nytp_cost_around(const struct nytp_costs *costs, const struct nytp_event_counts *n)
{
    return SECONDS * ((double)n->statements * (double)costs->stmt +
                      (double)n->after_leave * (double)costs->leave +
                      (double)n->calls * (double)costs->call_out +
                      (double)n->xsubs * (double)costs->xsub_out +
                      (double)n->ops * (double)costs->op_out);
}
