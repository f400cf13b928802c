/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * LZ77 for streams of events; see matcher.h.
 *
 * A profile repeats itself for long stretches, broken by single bytes of time, so a search
 * begins where the last match ended, which is where it began the last time round. Places are
 * therefore remembered where a search begins, and only seldom inside a match, mostly by their
 * first bytes alone, so that a long match costs next to nothing. The last place with the same
 * SHORT bytes is tried first: where even that differs there is no match. Then come, newest
 * first, those with as many bytes the same as the effort says, which are few and each a good
 * one.
 *
 * Searches that find little are the costly ones, as the processor foresees nothing of what they
 * do: where times are noise a single candidate of each kind is looked at.
 *
 * An entry of the tables may be stale or was never written: then it is out of reach, or stands
 * for some other place in the window, and the comparison of bytes finds out.
 */
#include "matcher.h"

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Compiled anew for each effort that is a constant. */
#define ALWAYS_INLINE __attribute__((always_inline)) static inline

enum {
    SHORT = 5,
};

struct match {
    uint32_t len, distance; /* len 0: none */
};

/* The first byte is the lowest. */
static uint64_t read_u64(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
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

#if defined(__SSE2__)

/* How many of the next 32 bytes are equal before the first that is not. */
static inline uint32_t common_of_32(const uint8_t *left, const uint8_t *right)
{
    const __m128i *const a = (const __m128i *)left;
    const __m128i *const b = (const __m128i *)right;
    const __m128i low = _mm_cmpeq_epi8(_mm_loadu_si128(a), _mm_loadu_si128(b));
    const __m128i high = _mm_cmpeq_epi8(_mm_loadu_si128(a + 1), _mm_loadu_si128(b + 1));
    const uint64_t equal =
        (uint32_t)_mm_movemask_epi8(low) | (uint64_t)(uint32_t)_mm_movemask_epi8(high) << 16;
    return (uint32_t)__builtin_ctzll(~equal);
}

/* common_len() where most lengths are short and each is another: there are fewer branches to
 * guess. Looks at up to 31 bytes behind `max`. */
static inline uint32_t common_len_short(const uint8_t *left, const uint8_t *right, uint32_t max)
{
    uint32_t len = 0, part;
    do {
        part = common_of_32(left + len, right + len);
        len += part;
    } while (part == 32 && len < max);
    return len < max ? len : max;
}

#else

static inline uint32_t common_len_short(const uint8_t *left, const uint8_t *right, uint32_t max)
{
    return common_len(left, right, max);
}

#endif

/* How far back the byte at `position` is, seen from `now`; 0: out of reach. */
static uint32_t distance_to(uint32_t now, uint32_t position, uint32_t reach)
{
    const uint32_t distance = now - position;
    return distance <= reach ? distance : 0;
}

/* Make the place known to later searches. Returns the distance to the one before it in its
 * chain. */
ALWAYS_INLINE uint32_t remember_long(struct nytp_matcher *matcher, const uint8_t *here,
                                     uint32_t now, const struct nytp_matcher_effort effort)
{
    uint32_t *const newest = &matcher->by_long[hash_long(here, effort.alike)];
    const uint32_t distance = distance_to(now, *newest, NYTP_MATCH_FARTHEST - 1);
    if (effort.depth > 1)
        matcher->previous[now % NYTP_MATCH_FARTHEST] = (uint16_t)distance;
    *newest = now;
    return distance;
}

/* The longest match for the bytes at `at`, which become known to later searches. */
ALWAYS_INLINE struct match search(struct nytp_matcher *matcher, uint32_t at,
                                  const struct nytp_matcher_effort effort)
{
    const uint8_t *const here = matcher->window + at;
    const uint32_t now = matcher->start + at;
    const uint32_t before = at - matcher->oldest;
    const uint32_t reach = before < NYTP_MATCH_FARTHEST ? before : NYTP_MATCH_FARTHEST;
    uint32_t *const newest_short = &matcher->by_short[hash_short(here)];
    uint32_t distance = distance_to(now, *newest_short, reach);
    *newest_short = now;
    const uint64_t difference = read_u64(here) ^ read_u64(here - distance);
    if (distance == 0 || difference << (64 - 8 * SHORT) != 0)
        return (struct match){0};

    const uint32_t left = matcher->fill - at;
    const uint32_t max = left < NYTP_MATCH_LONGEST ? left : NYTP_MATCH_LONGEST;
    struct match best = {common_len_short(here - distance, here, max), distance};
    const uint32_t enough = max < effort.enough ? max : effort.enough;
    uint32_t step = remember_long(matcher, here, now, effort);
    distance = 0;
    for (uint32_t n = effort.depth; n > 0 && step > 0 && best.len < enough; n--) {
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
        if (effort.depth > 1)
            step = matcher->previous[(now - distance) % NYTP_MATCH_FARTHEST];
    }
    return best.len < SHORT ? (struct match){0} : best;
}

ALWAYS_INLINE void remember_inside(struct nytp_matcher *matcher, uint32_t len,
                                   const struct nytp_matcher_effort effort)
{
    const uint32_t step = effort.step;
    if (step == 0)
        return;
    for (uint32_t at = matcher->at + 1; at < matcher->at + len; at += step) {
        const uint8_t *const here = matcher->window + at;
        const uint32_t now = matcher->start + at;
        matcher->by_short[hash_short(here)] = now;
        if (effort.by_long)
            remember_long(matcher, here, now, effort);
    }
}

ALWAYS_INLINE size_t run(struct nytp_matcher *matcher, bool all, nytp_token *tokens, size_t max,
                         const struct nytp_matcher_effort effort)
{
    const uint32_t kept = all ? 0 : NYTP_MATCHER_LOOKAHEAD;
    size_t n = 0;
    while (n < max && matcher->fill - matcher->at > kept) {
        struct match match = search(matcher, matcher->at, effort);
        if (match.len > 0 && match.len < effort.lazy) {
            const struct match next = search(matcher, matcher->at + 1, effort);
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
        remember_inside(matcher, match.len, effort);
        matcher->at += match.len;
    }
    return n;
}

void nytp_matcher_init(struct nytp_matcher *matcher, struct nytp_matcher_effort effort)
{
    matcher->effort = effort;
    matcher->oldest = matcher->at = matcher->fill = NYTP_MATCHER_HISTORY;
}

void nytp_matcher_slide(struct nytp_matcher *matcher)
{
    const uint32_t gone = matcher->fill - NYTP_MATCHER_HISTORY;
    memmove(matcher->window, matcher->window + gone, NYTP_MATCHER_HISTORY);
    matcher->start += gone;
    matcher->oldest -= gone < matcher->oldest ? gone : matcher->oldest;
    matcher->at -= gone;
    matcher->fill -= gone;
}

size_t nytp_matcher_run(struct nytp_matcher *matcher, bool all, nytp_token *tokens, size_t max)
{
    const struct nytp_matcher_effort effort = matcher->effort;
    if (all) /* what lies behind the end is looked at, too */
        memset(matcher->window + matcher->fill, 0, NYTP_MATCHER_PADDING);
    if (effort.depth == 1 && effort.alike == 16 && effort.lazy == 0)
        return run(matcher, all, tokens, max,
                   (struct nytp_matcher_effort){
                       .depth = 1, .alike = 16, .enough = effort.enough, .step = effort.step});
    return run(matcher, all, tokens, max, effort);
}
