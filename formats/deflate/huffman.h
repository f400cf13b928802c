/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Prefix codes of least length for symbols that occur as often as counted, in the form in
 * which deflate (RFC 1951, 3.2.2) tells them: by their lengths alone.
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
    uint16_t bits;   /* the first to be read is the lowest */
    uint8_t len;     /* 0: the symbol does not occur */
    uint8_t n_extra; /* for the user: how many bits of its own follow the code */
};

/* A complete code without codes longer than `longest`, which `n` symbols must fit. Two symbols
 * at least get one: counts of 0 are raised to 1 where it takes that. `n_extra` is left alone.
 */
void nytp_huffman_build(const uint32_t *counts, size_t n, unsigned longest,
                        struct nytp_code *codes);

/* Given all lengths, the bits that follow from them. */
void nytp_huffman_number(struct nytp_code *codes, size_t n);

#endif
