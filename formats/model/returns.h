/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Returns of calls, by depth. A reader keeps data of the open calls in an array by depth. When
 * a call returns, the data of its depth and all deeper ones is obsolete. Clearing it would be
 * slow for a stream that jumps between depths a million apart. So the reader notes with each
 * element how many calls had returned (`n`) when it was set.
 */
#ifndef NYTP_RETURNS_H
#define NYTP_RETURNS_H

#include "formats/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct nytp_returned {
    uint32_t depth;
    uint64_t n; /* the number of this return */
};

struct nytp_returns {
    uint64_t n;                           /* number of returns so far */
    NYTP_LIST(struct nytp_returned) last; /* each deeper than the one before */
};

void nytp_returns_free(struct nytp_returns *returns);

/* The call at this depth and all deeper ones return. Returns false if memory is out. */
bool nytp_returns_note(struct nytp_returns *returns, uint32_t depth);

/* Returns true if a call at this depth or above has returned since return number `n`. */
bool nytp_returns_since(const struct nytp_returns *returns, uint32_t depth, uint64_t n);

#endif
