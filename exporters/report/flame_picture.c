/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Writes flame graphs as SVG; see flame_picture.h. Text widths are estimated from the width of
 * a usual character, since the viewer's fonts are unknown.
 */
#include "flame_picture.h"

#include "exporters/base/html.h"
#include "formats/base/fnv1a.h"

#include <stdio.h>

#define ROW_HEIGHT      17 /* pixels */
#define MARGIN          4
#define CHARACTER_WIDTH 7

uint32_t nytp_package_len(struct nytp_name name)
{
    uint32_t len = 0;
    for (uint32_t i = 0; i + 1 < name.len && name.ptr[i] != '[' && name.ptr[i] != ' '; i++)
        if (name.ptr[i] == ':' && name.ptr[i + 1] == ':')
            len = i + 2;
    return len;
}

void nytp_picture_colour(struct nytp_name name, char fill[8])
{
    const uint32_t len = nytp_package_len(name);
    const uint32_t hash = nytp_fnv1a_32(name.ptr, len);
    snprintf(fill, 8, "#%02x%02x%02x", (205 + hash % 50) & 0xff, (120 + hash / 50 % 100) & 0xff,
             (60 + hash / 5000 % 60) & 0xff);
}

void nytp_picture_begin(const struct nytp_picture *picture)
{
    const unsigned height = picture->head + (picture->depth + 1) * ROW_HEIGHT + 2 * MARGIN;
    nytp_printf(picture->out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\"%s width=\"%u\" height=\"%u\" "
                "viewBox=\"0 0 %u %u\" font-family=\"monospace\" font-size=\"11\">\n",
                picture->attributes, (unsigned)picture->width, height, (unsigned)picture->width,
                height);
}

void nytp_picture_end(const struct nytp_picture *picture)
{
    nytp_puts(picture->out, "</svg>\n");
}

void nytp_picture_box_begin(const struct nytp_picture *picture)
{
    nytp_puts(picture->out, "<g><title>");
}

/* Writes a position without trailing zeros. */
static void put_position(const struct nytp_picture *picture, const char *before, double pixels)
{
    char text[48];
    int len = snprintf(text, sizeof text, "%.*f", picture->decimals, pixels);
    while (picture->decimals > 0 && text[len - 1] == '0')
        len--;
    len -= text[len - 1] == '.';
    nytp_puts(picture->out, before);
    nytp_put(picture->out, text, (size_t)len);
    nytp_putc(picture->out, '"');
}

static void put_box_text(const struct nytp_picture *picture, const struct nytp_picture_box *box,
                         unsigned y)
{
    const uint32_t room = (uint32_t)(box->width / CHARACTER_WIDTH);
    struct nytp_name name = box->name;
    uint32_t len = 0, n = 0;
    if (room < 3)
        return;
    if (name.len >= room) { /* the package is dropped first */
        const uint32_t package = nytp_package_len(name);
        name = (struct nytp_name){name.ptr + package, name.len - package};
    }
    while (len < name.len && n < room - 1) { /* whole characters of UTF-8 */
        len++;
        while (len < name.len && ((unsigned char)name.ptr[len] & 0xc0) == 0x80)
            len++;
        n++;
    }
    put_position(picture, "<text x=\"", box->x + 3);
    nytp_printf(picture->out, " y=\"%u\">", y + ROW_HEIGHT - 5);
    nytp_xml_text(picture->out, name.ptr, len);
    nytp_puts(picture->out, len < name.len ? "\xe2\x80\xa6</text>" : "</text>");
}

void nytp_picture_box_end(const struct nytp_picture *picture,
                          const struct nytp_picture_box *box)
{
    const unsigned y = picture->head + (picture->depth - box->depth) * ROW_HEIGHT + MARGIN;
    nytp_puts(picture->out, "</title>");
    put_position(picture, "<rect x=\"", box->x);
    nytp_printf(picture->out, " y=\"%u\"", y);
    put_position(picture, " width=\"", box->width);
    nytp_printf(picture->out, " height=\"%d\" fill=\"%s\"%s/>", ROW_HEIGHT - 1, box->fill,
                box->attributes);
    put_box_text(picture, box, y);
    nytp_puts(picture->out, "</g>");
}
