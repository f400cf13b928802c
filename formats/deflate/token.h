/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The elements of a deflate stream: literals and references, already split into symbols, which
 * get codes, and the plain bits that follow them (RFC 1951, 3.2.5).
 *
 * The trick: a literal has the fields of a reference, with a distance symbol that has no code.
 * So counting and encoding need not distinguish the two.
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
    NYTP_N_LENGTHS = 286, /* literals, end of block, lengths */
    NYTP_N_DISTANCES = 30,
    NYTP_NO_DISTANCE = NYTP_N_DISTANCES,
};

/* A literal or a reference in 32 bits. From the lowest: 9 bits for the symbol of the literal
 * or length, 5 for the bits after its code, 5 for the symbol of the distance, 13 for the bits
 * after that code. */
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

/* Returns how many low bits of a length or distance (from 0) follow its symbol's code. A
 * symbol of RFC 1951 stands for a range of values. It is made of the value's highest
 * `n_highest` + 1 bits and of the number of bits below them. */
static inline uint32_t nytp_n_extra(uint32_t value, unsigned n_highest)
{
    return 31 - (uint32_t)__builtin_clz(value | 1u << n_highest) - n_highest;
}

/* `len` is NYTP_MATCH_SHORTEST to NYTP_MATCH_LONGEST, `distance` 1 to NYTP_MATCH_FARTHEST. The
 * longest length has a separate symbol. */
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

/* The number of bits that follow the code of a symbol. */
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
