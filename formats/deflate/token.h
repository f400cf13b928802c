/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What a deflate stream is made of: literals and references, already split into the symbols
 * that get codes and the bits that follow them as they are (RFC 1951, 3.2.5).
 *
 * The trick: a literal has the fields of a reference, with a distance symbol that no code
 * belongs to, so that counting and encoding need not tell the two apart.
 */
#ifndef NYTP_TOKEN_H
#define NYTP_TOKEN_H

#include <stdint.h>

enum {
    NYTP_MATCH_SHORTEST = 3,
    NYTP_MATCH_LONGEST = 258,
    NYTP_MATCH_FARTHEST = 32768,

    NYTP_END_OF_BLOCK = 256,
    NYTP_FIRST_LENGTH = 257,
    NYTP_N_LENGTHS = 286, /* symbols: literals, the end of a block, lengths */
    NYTP_N_DISTANCES = 30,
    NYTP_NO_DISTANCE = NYTP_N_DISTANCES,
};

/* A literal or a reference in 32 bits. From the lowest: 9 for the symbol of the literal or of
 * the length, 5 for the bits that follow that symbol's code, 5 for the symbol of the distance,
 * 13 for the bits that follow that one's. */
typedef uint32_t nytp_token;

static inline uint32_t nytp_token_length(nytp_token token)
{
    return token & 0x1FF;
}

static inline uint32_t nytp_token_length_bits(nytp_token token)
{
    return token >> 9 & 0x1F;
}

static inline uint32_t nytp_token_distance(nytp_token token)
{
    return token >> 14 & 0x1F;
}

static inline uint32_t nytp_token_distance_bits(nytp_token token)
{
    return token >> 19;
}

static inline nytp_token nytp_token_literal(uint8_t byte)
{
    return byte | (uint32_t)NYTP_NO_DISTANCE << 14;
}

/* How many low bits of a length or distance (from 0) follow its symbol's code as they are. RFC
 * 1951's symbols stand for ranges of values, which double in size every so often: the symbol is
 * made of the value's highest `n_highest` + 1 bits and of how many bits there are below them.
 */
static inline uint32_t nytp_n_extra(uint32_t value, unsigned n_highest)
{
    return 31 - (uint32_t)__builtin_clz(value | 1u << n_highest) - n_highest;
}

/* `len` is NYTP_MATCH_SHORTEST to NYTP_MATCH_LONGEST, `distance` 1 to NYTP_MATCH_FARTHEST. The
 * longest length has a symbol of its own. */
static inline nytp_token nytp_token_match(uint32_t len, uint32_t distance)
{
    const uint32_t n_distance = nytp_n_extra(distance - 1, 1);
    const uint32_t distance_part = (n_distance << 1) + ((distance - 1) >> n_distance);
    const uint32_t distance_bits = (distance - 1) & ((1u << n_distance) - 1);
    const uint32_t above = distance_part << 14 | distance_bits << 19;
    if (len == NYTP_MATCH_LONGEST)
        return (NYTP_N_LENGTHS - 1) | above;
    const uint32_t value = len - NYTP_MATCH_SHORTEST;
    const uint32_t n_length = nytp_n_extra(value, 2);
    const uint32_t length_bits = value & ((1u << n_length) - 1);
    return (NYTP_FIRST_LENGTH + (n_length << 2) + (value >> n_length)) | length_bits << 9 |
           above;
}

/* How many bits follow the code of a symbol: of a literal or length, and of a distance. */
static inline uint8_t nytp_length_n_extra(uint32_t symbol)
{
    const uint32_t i = symbol < NYTP_FIRST_LENGTH ? 0 : symbol - NYTP_FIRST_LENGTH;
    return i < 8 || symbol == NYTP_N_LENGTHS - 1 ? 0 : (uint8_t)(i / 4 - 1);
}

static inline uint8_t nytp_distance_n_extra(uint32_t symbol)
{
    return symbol < 4 ? 0 : (uint8_t)(symbol / 2 - 1);
}

#endif
