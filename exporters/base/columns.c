/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * How many columns of a terminal a text takes; see columns.h. The C library's wcwidth() would
 * need a locale, and output depends on none.
 */
#include "columns.h"

#include "formats/base/bisect.h"
#include "formats/base/utf8.h"

static const struct {
    uint32_t first, last;
} wide[] = {
#define NYTP_WIDE(first, last) {first, last},
#include "wide.def"
#undef NYTP_WIDE
};

static bool is_wide(uint32_t character)
{
    uint32_t low = 0;
    NYTP_BISECT(low, sizeof wide / sizeof *wide, middle, character > wide[middle].last);
    return low < sizeof wide / sizeof *wide && character >= wide[low].first;
}

uint32_t nytp_columns_at(struct nytp_name text, uint32_t at)
{
    if (nytp_utf8_inside(text.ptr[at]))
        return 0;
    uint32_t character = 0;
    nytp_utf8_decode(text.ptr + at, text.len - at, &character);
    return is_wide(character) ? 2 : 1;
}

uint32_t nytp_text_width(struct nytp_name text)
{
    uint32_t width = 0;
    for (uint32_t i = 0; i < text.len; i++)
        width += nytp_columns_at(text, i);
    return width;
}
