/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Calls that were seen, in each of perl's stacks (PERL_SI): of each pad the last one from each
 * caller's pad.
 */
#ifndef NYTP_SPY_SEEN_CALLS_H
#define NYTP_SPY_SEEN_CALLS_H

#include "formats/base/table.h"

#include <stdint.h>

/* A sub, its pad, and the statement and the pad of who called it. */
struct nytp_call {
    uint64_t pad, cv, cop, caller_pad, depth;
};

/* When there are so many all are forgotten: a program that goes on for days makes and frees
 * pads without end. */
#define NYTP_MOST_SEEN_CALLS 65536u

/* All zero at first. */
struct nytp_seen_calls {
    struct nytp_call *all;
    uint32_t n, capacity;
    struct nytp_table by_pad, by_pads; /* the last of a pad, and those from each caller */
};

/* The last call of this pad, until the next one is remembered; NULL: none was seen. */
const struct nytp_call *nytp_seen_call(const struct nytp_seen_calls *calls, uint64_t pad,
                                       uint64_t info);

/* The same from this caller. */
const struct nytp_call *nytp_seen_call_from(const struct nytp_seen_calls *calls, uint64_t pad,
                                            uint64_t caller_pad, uint64_t info);

/* When memory is out it is not remembered. */
void nytp_remember_call(struct nytp_seen_calls *calls, uint64_t info,
                        const struct nytp_call *call);

void nytp_seen_calls_free(struct nytp_seen_calls *calls);

#endif
