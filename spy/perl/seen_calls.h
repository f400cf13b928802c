/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Calls that were seen, in each of perl's stacks (PERL_SI): of each pad the last one, the last
 * at each place of the stack, the last from each caller's pad, the last so far above it, and
 * that from each of its statements.
 */
#ifndef NYTP_SPY_SEEN_CALLS_H
#define NYTP_SPY_SEEN_CALLS_H

#include "formats/base/table.h"

#include <stdint.h>

/* The stack, a sub, its pad, the statement and the pad of who called it, and where on the stack
 * it and that lay. Evals' statements are others each time: of these it is the line. */
struct nytp_call {
    uint64_t info, pad, cv, cop, caller_pad, depth;
    uint32_t line;
    int32_t context, caller_context; /* -1: in a stack below */
};

/* When there are so many all are forgotten: a program that goes on for days makes and frees
 * pads without end. */
#define NYTP_MOST_SEEN_CALLS 32768u

/* A call that one reading alone has shown, so often without another one of the same pads. */
struct nytp_likely_call {
    struct nytp_call call;
    uint32_t n;
    uint64_t look; /* the last of them */
};

enum {
    NYTP_LIKELY_CALLS = 256,
};

/* All zero at first. */
struct nytp_seen_calls {
    struct nytp_call *all;
    uint32_t n, capacity;
    struct nytp_table by;                              /* all of these keys */
    struct nytp_likely_call likely[NYTP_LIKELY_CALLS]; /* by hash */
};

/* The last call of this pad, until the next one is remembered; NULL: none was seen. */
const struct nytp_call *nytp_seen_call(const struct nytp_seen_calls *calls, uint64_t pad,
                                       uint64_t info);

/* The same from this caller. */
const struct nytp_call *nytp_seen_call_from(const struct nytp_seen_calls *calls, uint64_t pad,
                                            uint64_t caller_pad, uint64_t info);

/* The same so many contexts above it. */
const struct nytp_call *nytp_seen_call_above(const struct nytp_seen_calls *calls, uint64_t pad,
                                             uint64_t caller_pad, int32_t distance,
                                             uint64_t info);

/* The last call of this pad that lay there; its `context` may be another one, where the same
 * call was seen since. */
const struct nytp_call *nytp_seen_call_at(const struct nytp_seen_calls *calls, uint64_t pad,
                                          int32_t context, uint64_t info);

/* One with the same pad, sub, depth, statement or line, and caller's pad, as far above it. */
const struct nytp_call *nytp_seen_call_same(const struct nytp_seen_calls *calls,
                                            const struct nytp_call *wanted);

/* When memory is out it is not remembered. */
void nytp_remember_call(struct nytp_seen_calls *calls, const struct nytp_call *call);

/* The same of a call that one reading alone has shown, once it comes a third time in a row,
 * each time within some hundred looks of the last. Half a call and half the next one look like
 * a call, too; in the long run they come a third time as well, but not that soon. */
void nytp_note_likely_call(struct nytp_seen_calls *calls, const struct nytp_call *call,
                           uint64_t look);

void nytp_seen_calls_free(struct nytp_seen_calls *calls);

#endif
