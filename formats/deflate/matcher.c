/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * LZ77 for streams of events; see matcher.h.
 *
 * A profile repeats itself for long stretches, broken by single bytes of time. So a search
 * begins where the last match ended, which is where it began the last time round. Places are
 * indexed where a search begins, and rarely inside a match, so that a long match costs little.
 *
 * The first candidate is the last place with the same SHORT bytes; if even that differs, there
 * is no match. The other is the last place with the same LONG bytes. The better one is chosen
 * without a branch, since the processor cannot predict the result of a search.
 *
 * An index entry may be stale or unset. It is then out of reach or refers to another place in
 * the window, which the comparison of bytes finds out.
 */
#include "matcher.h"

#include <assert.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum {
    SHORT = 6, /* bytes compared for an entry of by_short */
    LONG = 16, /* the same for by_long */
    PART = NYTP_MATCHER_PART,
    N_PARTS = 4, /* of a match: the ends of all parts but the last are indexed */
    UNSEARCHED = 512, /* a stream up to here touches no index: each page of one costs a fault */
};

static_assert((int)NYTP_MATCHER_HISTORY > (int)NYTP_MATCH_FARTHEST,
              "0 is no place in a new stream");

struct match {
    uint32_t len, distance; /* len 0: none */
};

static uint64_t read_u64(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

/* Hashes the first SHORT bytes. The multipliers are odd and have no pattern, so that the
 * products spread the bytes over the highest bits. */
static uint32_t hash_short(const uint8_t *bytes)
{
    const uint64_t value = read_u64(bytes) << (64 - 8 * SHORT);
    return (uint32_t)(value * 0x9E3779B97F4A7C15u >> (64 - NYTP_MATCHER_HASH_BITS));
}

static uint32_t hash_long(const uint8_t *bytes)
{
    const uint64_t hash =
        read_u64(bytes) * 0x9E3779B97F4A7C15u + read_u64(bytes + 8) * 0xC2B2AE3D27D4EB4Fu;
    return (uint32_t)(hash >> (64 - NYTP_MATCHER_HASH_BITS));
}

/* Returns how many of the next PART bytes are equal before the first difference. */
#if defined(__SSE2__)
static inline uint32_t common_of_part(const uint8_t *left, const uint8_t *right)
{
    const __m128i *const a = (const __m128i *)left;
    const __m128i *const b = (const __m128i *)right;
    const __m128i low = _mm_cmpeq_epi8(_mm_loadu_si128(a), _mm_loadu_si128(b));
    const __m128i high = _mm_cmpeq_epi8(_mm_loadu_si128(a + 1), _mm_loadu_si128(b + 1));
    const uint64_t equal =
        (uint32_t)_mm_movemask_epi8(low) | (uint64_t)(uint32_t)_mm_movemask_epi8(high) << 16;
    return (uint32_t)__builtin_ctzll(~equal);
}
#else
static inline uint32_t common_of_part(const uint8_t *left, const uint8_t *right)
{
    for (uint32_t len = 0; len < PART; len += 8) {
        const uint64_t difference = read_u64(left + len) ^ read_u64(right + len);
        if (difference != 0)
            return len + (uint32_t)(__builtin_ctzll(difference) >> 3);
    }
    return PART;
}
#endif

/* Returns how many of the first `max` bytes are equal before the first difference. The first
 * `len` are known to be. Reads up to PART bytes behind `max`. */
static inline uint32_t common_len(const uint8_t *left, const uint8_t *right, uint32_t len,
                                  uint32_t max)
{
    uint32_t part;
    do {
        part = common_of_part(left + len, right + len);
        len += part;
    } while (part == PART && len < max);
    return len < max ? len : max;
}

/* Chooses without a branch, which the processor could mispredict. The empty assembly keeps the
 * compiler from making one: it cannot know where the value came from. */
static inline uint64_t choose_value(bool condition, uint64_t yes, uint64_t no)
{
    uint64_t chosen = condition ? yes : no;
    __asm__("" : "+r"(chosen));
    return chosen;
}

/* Returns the distance from `now` back to `position`, or `otherwise` if that is out of reach.
 * An unset entry is out of reach: positions begin behind NYTP_MATCHER_HISTORY. */
static inline uint64_t distance_to(uint32_t now, uint32_t position, uint64_t otherwise)
{
    const uint32_t distance = now - position;
    return choose_value(distance - 1 < NYTP_MATCH_FARTHEST, distance, otherwise);
}

/* The longest possible match at `at`, limited by the bytes that are there. */
static inline uint32_t longest_at(const struct nytp_matcher *matcher, uint32_t at)
{
    const uint32_t left = matcher->fill - at;
    return left < NYTP_MATCH_LONGEST ? left : NYTP_MATCH_LONGEST;
}

/* Returns the distance to the last place with these SHORT bytes, or 0. Indexes `at` instead. */
static inline uint64_t exchange_short(struct nytp_matcher *matcher, uint32_t at)
{
    const uint8_t *const here = matcher->window + at;
    const uint32_t now = matcher->start + at;
    uint32_t *const newest = &matcher->by_short[hash_short(here)];
    const uint64_t distance = distance_to(now, *newest, 0);
    *newest = now;
    const uint64_t difference = read_u64(here) ^ read_u64(here - distance);
    const bool is_none = ((difference << (64 - 8 * SHORT)) | (distance == 0)) != 0;
    return is_none ? 0 : distance;
}

/* A match may have begun among the last `n_literals` tokens, whose searches did not find this
 * candidate. Returns how many of them are part of it; looks at seven. */
static inline uint32_t literals_in(const struct nytp_matcher *matcher, uint32_t at,
                                   struct match match, uint32_t n_literals)
{
    const uint8_t *const here = matcher->window + at, *const there = here - match.distance;
    const uint32_t known = at - match.distance - (NYTP_MATCHER_HISTORY - matcher->known);
    uint32_t most = NYTP_MATCH_LONGEST - match.len;
    most = most < n_literals ? most : n_literals;
    most = most < known ? most : known;
    const uint64_t difference = read_u64(here - 8) ^ read_u64(there - 8);
    const uint32_t n = (uint32_t)__builtin_clzll(difference | 1) >> 3;
    return n < most ? n : most;
}

static inline struct match search(struct nytp_matcher *matcher, uint32_t at)
{
    const uint64_t by_short = exchange_short(matcher, at);
    const uint32_t max = longest_at(matcher, at);
    if (by_short == 0 || max < SHORT)
        return (struct match){0};
    const uint8_t *const here = matcher->window + at;
    const uint32_t now = matcher->start + at;
    uint32_t *const newest = &matcher->by_long[hash_long(here)];
    const uint64_t by_long = distance_to(now, *newest, by_short);
    *newest = now;
    const uint32_t len_short = common_of_part(here - by_short, here);
    const uint32_t len_long = common_of_part(here - by_long, here);
    const uint64_t distance = choose_value(len_long > len_short, by_long, by_short);
    uint32_t len = (uint32_t)choose_value(len_long > len_short, len_long, len_short);
    if (len == PART)
        len = common_len(here - distance, here, PART, max);
    return (struct match){len < max ? len : max, (uint32_t)distance};
}

/* Indexes a fixed number of places in the match, whatever its length: nothing to mispredict. */
static inline void remember_some(struct nytp_matcher *matcher, uint32_t at, uint32_t len)
{
    for (uint32_t part = 1; part < N_PARTS; part++) {
        const uint32_t inside = at + len * part / N_PARTS;
        matcher->by_short[hash_short(matcher->window + inside)] = matcher->start + inside;
    }
}

static size_t make_tokens(struct nytp_matcher *matcher, uint32_t end, nytp_token *tokens,
                          size_t max)
{
    uint32_t at = matcher->at, n_literals = 0;
    size_t n = 0;
    while (n < max && at < end) {
        const struct match match = search(matcher, at);
        if (match.len == 0) {
            tokens[n++] = nytp_token_literal(matcher->window[at++]);
            n_literals++;
            continue;
        }
        const uint32_t earlier = literals_in(matcher, at, match, n_literals);
        n -= earlier;
        n_literals = 0;
        tokens[n++] = nytp_token_match(match.len + earlier, match.distance);
        remember_some(matcher, at, match.len);
        at += match.len;
    }
    matcher->at = at;
    return n;
}

void nytp_matcher_init(struct nytp_matcher *matcher)
{
    matcher->at = matcher->fill = NYTP_MATCHER_HISTORY;
}

void nytp_matcher_slide(struct nytp_matcher *matcher)
{
    const uint32_t gone = matcher->fill - NYTP_MATCHER_HISTORY;
    const uint32_t known = matcher->known + gone;
    matcher->known = known < NYTP_MATCHER_HISTORY ? known : NYTP_MATCHER_HISTORY;
    uint8_t *const history = matcher->window + NYTP_MATCHER_HISTORY - matcher->known;
    memmove(history, history + gone, matcher->known);
    matcher->start += gone;
    matcher->at -= gone;
    matcher->fill -= gone;
}

/* ---- a stream too short for matches ---- */

static bool is_short(const struct nytp_matcher *matcher)
{
    return matcher->start + matcher->fill <= NYTP_MATCHER_HISTORY + UNSEARCHED;
}

static size_t make_literals(struct nytp_matcher *matcher, uint32_t end, nytp_token *tokens,
                            size_t max)
{
    size_t n = 0;
    while (n < max && matcher->at < end)
        tokens[n++] = nytp_token_literal(matcher->window[matcher->at++]);
    return n;
}

size_t nytp_matcher_run(struct nytp_matcher *matcher, bool all, nytp_token *tokens, size_t max)
{
    const uint32_t kept = all ? 0 : NYTP_MATCHER_LOOKAHEAD;
    if (all) /* comparisons read behind the end */
        memset(matcher->window + matcher->fill, 0, NYTP_MATCHER_PADDING);
    if (matcher->fill - matcher->at <= kept)
        return 0;
    const uint32_t end = matcher->fill - kept;
    if (is_short(matcher))
        return make_literals(matcher, end, tokens, max);
    return make_tokens(matcher, end, tokens, max);
}
