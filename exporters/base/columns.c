/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * How many columns of a terminal a text takes; see columns.h. The C library's wcwidth() would
 * need a locale, and output depends on none.
 */
#include "columns.h"

static const struct {
    uint32_t first, last;
} wide[] = {
#define NYTP_WIDE(first, last) {first, last},
#include "wide.def"
#undef NYTP_WIDE
};

static bool is_wide(uint32_t character)
{
    size_t low = 0, high = sizeof wide / sizeof *wide;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (character > wide[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sizeof wide / sizeof *wide && character >= wide[low].first;
}

uint32_t nytp_columns_at(struct nytp_name text, uint32_t at)
{
    const unsigned char *c = (const unsigned char *)text.ptr + at;
    const uint32_t left = text.len - at;
    if ((c[0] & 0xc0) == 0x80)
        return 0;
    uint32_t character = 0;
    if (c[0] >= 0xf0 && left >= 4)
        character = (c[0] & 7u) << 18 | (c[1] & 63u) << 12 | (c[2] & 63u) << 6 | (c[3] & 63u);
    else if (c[0] >= 0xe0 && left >= 3)
        character = (c[0] & 15u) << 12 | (c[1] & 63u) << 6 | (c[2] & 63u);
    return is_wide(character) ? 2 : 1;
}

uint32_t nytp_text_width(struct nytp_name text)
{
    uint32_t width = 0;
    for (uint32_t i = 0; i < text.len; i++)
        width += nytp_columns_at(text, i);
    return width;
}
