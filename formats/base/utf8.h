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

/* Is this byte one of a character's that is not its first? */
static inline bool nytp_utf8_inside(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* The bytes of the character that begins at `at`, of which `left` bytes are there, at least 1;
 * 0 where none does, and `character` is untouched then. */
size_t nytp_utf8_decode(const char *at, size_t left, uint32_t *character);

/* Write a character's bytes, at most NYTP_UTF8_MOST; returns how many. */
size_t nytp_utf8_encode(uint32_t character, char *to);

bool nytp_utf8_valid(const char *bytes, size_t len);

/* The largest length up to `most` that does not end inside a character of this text. */
size_t nytp_utf8_whole(const char *text, size_t len, size_t most);

#endif
