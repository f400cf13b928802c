/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * LZ77: bytes in, literals and references to earlier bytes out, within the limits of deflate.
 */
#ifndef NYTP_MATCHER_H
#define NYTP_MATCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "token.h"

enum {
    NYTP_MATCHER_FRESH = 65536,
    NYTP_MATCHER_MOST_ALIKE = 32,
    NYTP_MATCHER_PADDING = 2 * NYTP_MATCHER_MOST_ALIKE,
    NYTP_MATCHER_HASH_BITS = 14,
};

/* How hard to search. */
struct nytp_matcher_effort {
    uint32_t depth;  /* candidates that are compared */
    uint32_t alike;  /* bytes that they have in common: a multiple of 8 up to MOST_ALIKE */
    uint32_t enough; /* a match this long ends the search */
    uint32_t lazy; /* a match shorter than this is dropped for a longer one a byte further on */
    uint32_t step; /* inside a match each so many bytes are remembered; 0: none */
};

/* All zero but for the effort is the start. Holds no pointers: a copy of it is a second
 * matcher in the same state. */
struct nytp_matcher {
    struct nytp_matcher_effort effort;
    uint32_t start;    /* position in the stream of window[0], modulo 2^32 */
    uint32_t at, fill; /* in window: the first byte that is in no token, the end of bytes */
    uint32_t by_long[1 << NYTP_MATCHER_HASH_BITS], by_short[1 << NYTP_MATCHER_HASH_BITS];
    uint16_t previous[NYTP_MATCH_FARTHEST];
    uint8_t window[NYTP_MATCH_FARTHEST + NYTP_MATCHER_FRESH + NYTP_MATCHER_PADDING];
};

/* Take bytes for nytp_matcher_run(); as many as there is room for. Returns how many. */
size_t nytp_matcher_feed(struct nytp_matcher *matcher, const uint8_t *bytes, size_t len);

/* Store tokens, until there are `max` (or one more: there must be room for it) or what was fed
 * is used up, but for some last bytes, kept for a better choice unless `all` is set. Returns
 * how many. */
size_t nytp_matcher_run(struct nytp_matcher *matcher, bool all, nytp_token *tokens, size_t max);

/* How many bytes are in the tokens so far, modulo 2^32. */
static inline uint32_t nytp_matcher_position(const struct nytp_matcher *matcher)
{
    return matcher->start + matcher->at;
}

#endif
