/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What recording an event of each kind cost, as comments in the stream, which other readers of
 * the format pass over (nytprof-v5.md, "Records"):
 *
 *     #nytp-costs stmt=10641 leave=11705 ...      in picoseconds, of the process it stands in
 *
 * correction.h takes the costs off the times.
 */
#ifndef NYTP_COST_RECORDS_H
#define NYTP_COST_RECORDS_H

#include "formats/stream/event.h"

/* What recording added to one event of each kind, in picoseconds; 0 = not known. A call costs
 * its callee (in) and its caller (out). */
struct nytp_costs {
    int64_t stmt, leave, call_in, call_out, xsub_in, xsub_out, op_in, op_out;
};

/* Whether a process told any. */
static inline bool nytp_costs_are_told(const struct nytp_costs *costs)
{
    return (costs->stmt | costs->op_in) != 0;
}

/* Whether the text of a comment tells costs: it belongs to the process in which it stands. */
bool nytp_is_costs(const struct nytp_str *comment);

/* Note the costs that a comment tells: "nytp-costs stmt=10641 leave=11705 ...", in
 * picoseconds. When a process tells a cost several times the last value counts, which is the
 * mean of all that was measured. Values that cannot be (0, more than 100 us) and words that
 * are not known are passed over. */
void nytp_costs_note(struct nytp_costs *costs, const struct nytp_str *comment);

#endif
