/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * When calls returned, by their depth. What a reader keeps of the open calls in an array by
 * depth is over for all depths from that of a call that returns on. Instead of clearing these,
 * which a stream that jumps between depths would have done for a million of them again and
 * again, it keeps with each element how many calls had returned (`n`) when that was begun.
 */
#ifndef NYTP_RETURNS_H
#define NYTP_RETURNS_H

#include <stdbool.h>
#include <stdint.h>

struct nytp_returned {
    uint32_t depth;
    uint64_t n; /* the how manieth return it was */
};

struct nytp_returns {
    uint64_t n;                 /* calls that have returned so far */
    struct nytp_returned *list; /* the last ones: each deeper than the one before */
    uint32_t n_list, capacity;
};

void nytp_returns_free(struct nytp_returns *returns);

/* The call at this depth returns, and with it all deeper ones. False when memory is out. */
bool nytp_returns_note(struct nytp_returns *returns, uint32_t depth);

/* Whether a call at this depth or a less deep one has returned since there were `n`. */
bool nytp_returns_since(const struct nytp_returns *returns, uint32_t depth, uint64_t n);

#endif
