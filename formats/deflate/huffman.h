/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Prefix codes of least length for symbols with given counts. Deflate describes a code by its
 * lengths alone (RFC 1951, 3.2.2).
 */
#ifndef NYTP_HUFFMAN_H
#define NYTP_HUFFMAN_H

#include <stddef.h>
#include <stdint.h>

enum {
    NYTP_HUFFMAN_MOST = 288,   /* symbols */
    NYTP_HUFFMAN_LONGEST = 15, /* bits */
};

struct nytp_code {
    uint16_t bits;   /* the lowest is read first */
    uint8_t len;     /* 0: the symbol does not occur */
    uint8_t n_extra; /* bits that follow the code; set by the caller */
};

/* Builds a complete code for `n` symbols with no code longer than `longest`. At least two
 * symbols get a code: counts of 0 are raised to 1 if necessary. Does not touch `n_extra`. */
void nytp_huffman_build(const uint32_t *counts, size_t n, unsigned longest,
                        struct nytp_code *codes);

/* Sets the bits of all codes from their lengths. */
void nytp_huffman_number(struct nytp_code *codes, size_t n);

#endif
