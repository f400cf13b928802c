/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * LZ77: bytes in, literals and references to earlier bytes out, within the limits of deflate.
 * The caller stores bytes in the room, says with nytp_matcher_take() how many, and has them
 * made into tokens with nytp_matcher_run(). When the room is used up, nytp_matcher_slide()
 * turns what was taken into history.
 */
#ifndef NYTP_MATCHER_H
#define NYTP_MATCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "token.h"

enum {
    NYTP_MATCHER_PART = 32,      /* bytes that are compared at once */
    NYTP_MATCHER_HASH_BITS = 14, /* of an index into by_long and by_short */
    /* Bytes that may be waiting for those behind them, before their token is chosen. */
    NYTP_MATCHER_LOOKAHEAD = NYTP_MATCH_LONGEST + 1 + NYTP_MATCHER_PART,
    /* Bytes before the room: as far back as a reference can lead from the first that waits. */
    NYTP_MATCHER_HISTORY = (NYTP_MATCH_FARTHEST + NYTP_MATCHER_LOOKAHEAD + 63) / 64 * 64,
    NYTP_MATCHER_ROOM = 262144, /* bytes that can be taken before a slide */
    /* Bytes behind the room that comparisons may look at. */
    NYTP_MATCHER_PADDING = 2 * NYTP_MATCHER_PART,
};

/* Holds no pointers: a copy of it is a second matcher in the same state. */
struct nytp_matcher {
    bool remembers_inside; /* three places inside each match are remembered, too */
    uint32_t start; /* position in the stream of window[0], modulo 2^32 */
    uint32_t known; /* bytes of history that there are: a short stream touches little memory */
    uint32_t at, fill; /* in window: the first byte that is in no token, the end */
    /* By hash of some bytes: the position of the last place that was remembered for it. */
    uint32_t by_long[1 << NYTP_MATCHER_HASH_BITS], by_short[1 << NYTP_MATCHER_HASH_BITS];
    /* What came before, up to NYTP_MATCHER_HISTORY bytes, then what comes next. */
    uint8_t window[NYTP_MATCHER_HISTORY + NYTP_MATCHER_ROOM + NYTP_MATCHER_PADDING];
};

/* Begin a stream. The caller has zeroed `matcher`. */
void nytp_matcher_init(struct nytp_matcher *matcher, bool remembers_inside);

/* Where the bytes to come are stored, NYTP_MATCHER_ROOM of them; it is always the same place.
 */
static inline uint8_t *nytp_matcher_room(struct nytp_matcher *matcher)
{
    return matcher->window + NYTP_MATCHER_HISTORY;
}

/* `len` more of the bytes that have been stored there may be made into tokens. */
static inline void nytp_matcher_take(struct nytp_matcher *matcher, size_t len)
{
    matcher->fill += (uint32_t)len;
}

/* Make tokens of what was taken and store them in `tokens`, until there are `max` of them or
 * the bytes are used up. There must be room for max + 1, as a last choice may make two. The
 * last NYTP_MATCHER_LOOKAHEAD bytes are kept for a better choice with those that follow, unless
 * `all` says that nothing does. Returns how many tokens were stored. */
size_t nytp_matcher_run(struct nytp_matcher *matcher, bool all, nytp_token *tokens, size_t max);

/* What was taken becomes history, and there is all the room again. */
void nytp_matcher_slide(struct nytp_matcher *matcher);

#endif
