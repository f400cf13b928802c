/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * UTF-8 as RFC 3629 allows it: no overlong forms, no surrogates, nothing above U+10FFFF.
 */
#ifndef NYTP_UTF8_H
#define NYTP_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    NYTP_UTF8_MOST = 4, /* bytes of a character */
};

/* Is this a byte of a character other than its first? */
static inline bool nytp_utf8_inside(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Returns the length of the character at `at`, or 0 if none begins there; `character` is then
 * untouched. `left` is the number of bytes there, at least 1. */
size_t nytp_utf8_decode(const char *at, size_t left, uint32_t *character);

/* Writes at most NYTP_UTF8_MOST bytes; returns how many. */
size_t nytp_utf8_encode(uint32_t character, char *to);

bool nytp_utf8_valid(const char *bytes, size_t len);

/* Returns the largest length up to `most` that does not end inside a character. */
size_t nytp_utf8_whole(const char *text, size_t len, size_t most);

#endif
