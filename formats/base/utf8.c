/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The only decoder of UTF-8; see utf8.h.
 */
#include "utf8.h"

#include <string.h>

size_t nytp_utf8_decode(const char *text, size_t left, uint32_t *character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char first = (unsigned char)text[0];
    if (first < 0x80) {
        *character = first;
        return 1;
    }
    if (first < 0xc2 || first > 0xf4)
        return 0;
    const size_t len = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (len > left)
        return 0;
    uint32_t value = first & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if (!nytp_utf8_inside(text[i]))
            return 0;
        value = value << 6 | ((unsigned char)text[i] & 0x3fu);
    }
    if (value < least[len] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
        return 0;
    *character = value;
    return len;
}

size_t nytp_utf8_encode(uint32_t character, char *to)
{
    if (character < 0x80) {
        to[0] = (char)character;
        return 1;
    }
    const size_t len = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (size_t i = len - 1; i > 0; i--, character >>= 6)
        to[i] = (char)(0x80 | (character & 0x3f));
    to[0] = (char)((0xf00u >> len & 0xf0) | character);
    return len;
}

bool nytp_utf8_valid(const char *bytes, size_t len)
{
    const char *at = bytes, *const end = bytes + len;
    uint32_t character;
    while (at < end) {
        const size_t step = nytp_utf8_decode(at, (size_t)(end - at), &character);
        if (step == 0)
            return false;
        at += step;
        uint64_t word; /* most text is ASCII: eight at a time */
        while (step == 1 && end - at >= 8 &&
               (memcpy(&word, at, 8), (word & UINT64_C(0x8080808080808080)) == 0))
            at += 8;
    }
    return true;
}

size_t nytp_utf8_whole(const char *text, size_t len, size_t most)
{
    if (most >= len)
        return len;
    while (most > 0 && nytp_utf8_inside(text[most]))
        most--;
    return most;
}
