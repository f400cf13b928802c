/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * LZ77: bytes in, literals and references to earlier bytes out, within the limits of deflate.
 *
 * The caller stores bytes in the room, counts them with nytp_matcher_take(), and gets tokens
 * from nytp_matcher_run(). When the room is used up, nytp_matcher_slide() turns its bytes into
 * history.
 */
#ifndef NYTP_MATCHER_H
#define NYTP_MATCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "token.h"

enum {
    NYTP_MATCHER_PART = 32,      /* bytes that are compared at once */
    NYTP_MATCHER_HASH_BITS = 14, /* of an index of by_long, by_short */
    /* Bytes that may wait for those behind them before their token is chosen. */
    NYTP_MATCHER_LOOKAHEAD = NYTP_MATCH_LONGEST + 1 + NYTP_MATCHER_PART,
    /* Bytes before the room: the first waiting byte may refer back this far, and eight bytes
     * before that are compared, too. */
    NYTP_MATCHER_HISTORY = (8 + NYTP_MATCH_FARTHEST + NYTP_MATCHER_LOOKAHEAD + 63) / 64 * 64,
    NYTP_MATCHER_ROOM = 262144, /* bytes that can be taken before a slide */
    /* Bytes behind the room that comparisons may read. */
    NYTP_MATCHER_PADDING = 2 * NYTP_MATCHER_PART,
};

/* Holds no pointers: a copy is a second matcher in the same state. */
struct nytp_matcher {
    uint32_t start;    /* position in the stream of window[0], modulo 2^32 */
    uint32_t known;    /* valid bytes of history: a short stream touches little memory */
    uint32_t at, fill; /* in window: first byte without token, end */
    /* The last position seen with this hash of its first bytes. */
    uint32_t by_long[1 << NYTP_MATCHER_HASH_BITS], by_short[1 << NYTP_MATCHER_HASH_BITS];
    /* History, then the room. */
    uint8_t window[NYTP_MATCHER_HISTORY + NYTP_MATCHER_ROOM + NYTP_MATCHER_PADDING];
};

/* Begins a stream. The caller has zeroed `matcher`. */
void nytp_matcher_init(struct nytp_matcher *matcher);

/* Returns the room for NYTP_MATCHER_ROOM bytes, always the same place. */
static inline uint8_t *nytp_matcher_room(struct nytp_matcher *matcher)
{
    return matcher->window + NYTP_MATCHER_HISTORY;
}

/* Adds the next `len` bytes of the room to those that become tokens. */
static inline void nytp_matcher_take(struct nytp_matcher *matcher, size_t len)
{
    matcher->fill += (uint32_t)len;
}

/* Stores tokens for the bytes taken, until there are `max` of them or the bytes are used up.
 * `tokens` needs room for max + 1, since the last choice may make two. Keeps the last
 * NYTP_MATCHER_LOOKAHEAD bytes for a better choice later, unless `all` says that no more bytes
 * follow. Returns the number of tokens. */
size_t nytp_matcher_run(struct nytp_matcher *matcher, bool all, nytp_token *tokens, size_t max);

/* Turns the bytes taken into history and empties the room. */
void nytp_matcher_slide(struct nytp_matcher *matcher);

#endif
