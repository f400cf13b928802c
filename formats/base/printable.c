/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Finds what could harm a terminal; see printable.h.
 */
#include "printable.h"

#include <stdbool.h>
#include <string.h>

static bool is_c1(struct nytp_name text, uint32_t at)
{
    return (unsigned char)text.ptr[at] == 0xc2 && at + 1 < text.len &&
           (unsigned char)text.ptr[at + 1] < 0xa0;
}

/* A mark that changes the direction of text (U+200E, U+200F, U+202A to U+202E, U+2066 to
 * U+2069): with it, a name could display the numbers of another. */
static bool is_bidi(struct nytp_name text, uint32_t at)
{
    const unsigned char *c = (const unsigned char *)text.ptr + at;
    if (text.len - at < 3 || c[0] != 0xe2)
        return false;
    return (c[1] == 0x80 && (c[2] == 0x8e || c[2] == 0x8f || (c[2] >= 0xaa && c[2] <= 0xae))) ||
           (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9);
}

uint32_t nytp_unsafe_bytes(struct nytp_name text, uint32_t at)
{
    const unsigned char c = (unsigned char)text.ptr[at];
    if (c < 0x20 || c == 0x7f)
        return 1;
    return is_c1(text, at) ? 2 : is_bidi(text, at) ? 3 : 0;
}

void nytp_make_printable(char *text)
{
    const struct nytp_name whole = {text, (uint32_t)strlen(text)};
    char *to = text;
    for (uint32_t i = 0, unsafe; i<whole.len; i += unsafe> 0 ? unsafe : 1) {
        unsafe = nytp_unsafe_bytes(whole, i);
        *to++ = unsafe > 0 ? '?' : text[i];
    }
    *to = '\0';
}
