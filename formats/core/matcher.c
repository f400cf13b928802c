/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * LZ77 for streams of events; see matcher.h.
 *
 * A profile repeats itself for long stretches, broken by single bytes of time, so a search
 * begins where the last match ended, which is where it began the last time round. Places are
 * therefore remembered where a search begins, and only seldom inside a match, so that a long
 * match costs next to nothing. The last place with the same SHORT bytes is tried first: where
 * even that differs there is no match. Then come, newest first, those with as many bytes the
 * same as the effort says, which are few and each a good one.
 *
 * An entry of the tables may be stale or was never written: then it is out of reach, or stands
 * for some other place in the window, and the comparison of bytes finds out.
 */
#include "matcher.h"

#include <string.h>

enum {
    SHORT = 5,
    LOOKAHEAD = NYTP_MATCH_LONGEST + 1 + NYTP_MATCHER_MOST_ALIKE,
};

struct match {
    uint32_t len, distance; /* len 0: none */
};

static uint64_t read_u64(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static uint32_t hash_short(const uint8_t *bytes)
{
    const uint64_t value = read_u64(bytes) << (64 - 8 * SHORT);
    return (uint32_t)(value * 0x9E3779B97F4A7C15u >> (64 - NYTP_MATCHER_HASH_BITS));
}

static uint32_t hash_long(const uint8_t *bytes, uint32_t len)
{
    uint64_t hash = read_u64(bytes) * 0x9E3779B97F4A7C15u;
    for (uint32_t i = 8; i < len; i += 8)
        hash = (hash ^ hash >> 29 ^ read_u64(bytes + i)) * 0xC2B2AE3D27D4EB4Fu;
    return (uint32_t)(hash >> (64 - NYTP_MATCHER_HASH_BITS));
}

static inline uint32_t common_len(const uint8_t *left, const uint8_t *right, uint32_t max)
{
    uint32_t len = 0;
    for (; len + 8 <= max; len += 8) {
        const uint64_t difference = read_u64(left + len) ^ read_u64(right + len);
        if (difference != 0)
            return len + (uint32_t)(__builtin_ctzll(difference) >> 3);
    }
    while (len < max && left[len] == right[len])
        len++;
    return len;
}

/* How far back the byte at `position` is, seen from `now`; 0: out of reach. */
static uint32_t distance_to(uint32_t now, uint32_t position, uint32_t reach)
{
    const uint32_t distance = now - position;
    return distance <= reach ? distance : 0;
}

/* Make the place known to later searches. Returns the distance to the one
 * before it in its chain. */
static inline uint32_t remember_long(struct nytp_matcher *matcher, const uint8_t *here,
                                     uint32_t now)
{
    uint32_t *const newest = &matcher->by_long[hash_long(here, matcher->effort.alike)];
    const uint32_t distance = distance_to(now, *newest, NYTP_MATCH_FARTHEST - 1);
    matcher->previous[now % NYTP_MATCH_FARTHEST] = (uint16_t)distance;
    *newest = now;
    return distance;
}

/* The longest match for the bytes at `at`, which become known to later searches. Inlined by
 * force: half of the compressor's time is spent here. */
__attribute__((always_inline)) static inline struct match search(struct nytp_matcher *matcher,
                                                                 uint32_t at)
{
    const uint8_t *const here = matcher->window + at;
    const uint32_t now = matcher->start + at;
    const uint32_t reach = at < NYTP_MATCH_FARTHEST ? at : NYTP_MATCH_FARTHEST;
    uint32_t *const newest_short = &matcher->by_short[hash_short(here)];
    uint32_t distance = distance_to(now, *newest_short, reach);
    *newest_short = now;
    const uint64_t difference = read_u64(here) ^ read_u64(here - distance);
    if (distance == 0 || difference << (64 - 8 * SHORT) != 0)
        return (struct match){0};

    const uint32_t left = matcher->fill - at;
    const uint32_t max = left < NYTP_MATCH_LONGEST ? left : NYTP_MATCH_LONGEST;
    struct match best = {common_len(here - distance, here, max), distance};
    const uint32_t enough = max < matcher->effort.enough ? max : matcher->effort.enough;
    uint32_t step = remember_long(matcher, here, now);
    distance = 0;
    for (uint32_t n = matcher->effort.depth; n > 0 && step > 0 && best.len < enough; n--) {
        distance += step;
        if (distance > reach)
            break;
        const uint8_t *const there = here - distance;
        /* Eight bytes without which it is no longer than the best. */
        const uint32_t last = best.len < 8 ? 0 : best.len - 7;
        if (read_u64(there + last) == read_u64(here + last)) {
            const uint32_t len = common_len(there, here, max);
            if (len > best.len)
                best = (struct match){len, distance};
        }
        step = matcher->previous[(now - distance) % NYTP_MATCH_FARTHEST];
    }
    return best.len < SHORT ? (struct match){0} : best;
}

static void remember_inside(struct nytp_matcher *matcher, uint32_t len)
{
    const uint32_t step = matcher->effort.step;
    if (step == 0)
        return;
    for (uint32_t at = matcher->at + 1; at < matcher->at + len; at += step) {
        const uint8_t *const here = matcher->window + at;
        const uint32_t now = matcher->start + at;
        remember_long(matcher, here, now);
        matcher->by_short[hash_short(here)] = now;
    }
}

/* Keep what references can reach, make room behind it. */
static void slide(struct nytp_matcher *matcher)
{
    const uint32_t gone = matcher->at - NYTP_MATCH_FARTHEST;
    memmove(matcher->window, matcher->window + gone, matcher->fill - gone);
    matcher->start += gone;
    matcher->at -= gone;
    matcher->fill -= gone;
}

size_t nytp_matcher_feed(struct nytp_matcher *matcher, const uint8_t *bytes, size_t len)
{
    const size_t size = sizeof matcher->window - NYTP_MATCHER_PADDING;
    if (len > size - matcher->fill && matcher->at > NYTP_MATCH_FARTHEST)
        slide(matcher);
    const size_t room = size - matcher->fill;
    const size_t n = len < room ? len : room;
    memcpy(matcher->window + matcher->fill, bytes, n);
    matcher->fill += (uint32_t)n;
    return n;
}

size_t nytp_matcher_run(struct nytp_matcher *matcher, bool all, nytp_token *tokens, size_t max)
{
    const uint32_t kept = all ? 0 : LOOKAHEAD;
    size_t n = 0;
    while (n < max && matcher->fill - matcher->at > kept) {
        struct match match = search(matcher, matcher->at);
        if (match.len > 0 && match.len < matcher->effort.lazy) {
            const struct match next = search(matcher, matcher->at + 1);
            if (next.len > match.len) {
                tokens[n++] = nytp_token_literal(matcher->window[matcher->at++]);
                match = next;
            }
        }
        if (match.len == 0) {
            tokens[n++] = nytp_token_literal(matcher->window[matcher->at++]);
            continue;
        }
        tokens[n++] = nytp_token_match(match.len, match.distance);
        remember_inside(matcher, match.len);
        matcher->at += match.len;
    }
    return n;
}
