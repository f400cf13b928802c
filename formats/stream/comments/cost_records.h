/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The recording cost of each kind of event, as comments in the stream, which other readers
 * skip (nytprof-v5.md, "Records"). The costs belong to the process in which the comment is:
 *
 *     #nytp-costs stmt=10641 leave=11705 ...      in picoseconds
 *
 * correction.h subtracts the costs from the times.
 */
#ifndef NYTP_COST_RECORDS_H
#define NYTP_COST_RECORDS_H

#include "formats/stream/event.h"

#define NYTP_COSTS_HEAD "nytp-costs"

/* The recording cost of one event of each kind, in picoseconds; 0 = unknown. A call costs its
 * callee (in) and its caller (out). */
struct nytp_costs {
    int64_t stmt, leave, call_in, call_out, xsub_in, xsub_out, op_in, op_out;
};

/* Returns true if the process recorded any costs. */
static inline bool nytp_costs_are_recorded(const struct nytp_costs *costs)
{
    return (costs->stmt | costs->op_in) != 0;
}

/* Returns true if the comment holds costs. */
bool nytp_is_costs(const struct nytp_str *comment);

/* Notes the costs in a comment. Later values replace earlier ones: they are the mean of all
 * measurements so far. Impossible values (0, more than 100 us) and unknown words are
 * ignored. */
void nytp_costs_note(struct nytp_costs *costs, const struct nytp_str *comment);

#endif
