/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * BLAKE2b (RFC 7693) without a key.
 */
#include "blake2b.h"

#include <string.h>

enum {
    BLOCK = 128,
    ROUNDS = 12,
};

/* Section 2.6. */
static const uint64_t start[8] = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};

/* Section 2.7. Rounds 10 and 11 use the first two again. */
static const uint8_t order[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static uint64_t rotated(uint64_t x, unsigned n)
{
    return x >> n | x << (64 - n);
}

static uint64_t word_at(const uint8_t *bytes)
{
    return (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 |
           (uint64_t)bytes[3] << 24 | (uint64_t)bytes[4] << 32 | (uint64_t)bytes[5] << 40 |
           (uint64_t)bytes[6] << 48 | (uint64_t)bytes[7] << 56;
}

#define MIX(a, b, c, d, x, y)                                                                  \
    do {                                                                                       \
        v[a] += v[b] + (x);                                                                    \
        v[d] = rotated(v[d] ^ v[a], 32);                                                       \
        v[c] += v[d];                                                                          \
        v[b] = rotated(v[b] ^ v[c], 24);                                                       \
        v[a] += v[b] + (y);                                                                    \
        v[d] = rotated(v[d] ^ v[a], 16);                                                       \
        v[c] += v[d];                                                                          \
        v[b] = rotated(v[b] ^ v[c], 63);                                                       \
    } while (0)

/* `n` counts the bytes of the text up to the end of this block. */
static void add_block(uint64_t h[8], const uint8_t *block, uint64_t n, int is_last)
{
    uint64_t m[16], v[16];
    for (unsigned i = 0; i < 16; i++)
        m[i] = word_at(block + 8 * i);
    memcpy(v, h, sizeof start);
    memcpy(v + 8, start, sizeof start);
    v[12] ^= n;
    v[14] ^= is_last ? UINT64_MAX : 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        const uint8_t *const s = order[i % 10];
        MIX(0, 4, 8, 12, m[s[0]], m[s[1]]);
        MIX(1, 5, 9, 13, m[s[2]], m[s[3]]);
        MIX(2, 6, 10, 14, m[s[4]], m[s[5]]);
        MIX(3, 7, 11, 15, m[s[6]], m[s[7]]);
        MIX(0, 5, 10, 15, m[s[8]], m[s[9]]);
        MIX(1, 6, 11, 12, m[s[10]], m[s[11]]);
        MIX(2, 7, 8, 13, m[s[12]], m[s[13]]);
        MIX(3, 4, 9, 14, m[s[14]], m[s[15]]);
    }
    for (unsigned i = 0; i < 8; i++)
        h[i] ^= v[i] ^ v[i + 8];
}

void nytp_blake2b(const void *text, size_t len, uint8_t sum[NYTP_BLAKE2B_BYTES])
{
    const uint8_t *const bytes = text;
    uint8_t last[BLOCK] = {0};
    uint64_t h[8];
    size_t at = 0;
    memcpy(h, start, sizeof h);
    h[0] ^= 0x01010000 ^ NYTP_BLAKE2B_BYTES; /* no key; a fan-out and depth of 1 */
    for (; len - at > BLOCK; at += BLOCK)
        add_block(h, bytes + at, at + BLOCK, 0);
    if (len > at)
        memcpy(last, bytes + at, len - at);
    add_block(h, last, len, 1);
    for (unsigned i = 0; i < NYTP_BLAKE2B_BYTES; i++)
        sum[i] = (uint8_t)(h[i / 8] >> 8 * (i % 8));
}
