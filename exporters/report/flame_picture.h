/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Flame graphs as SVG: boxes in rows, the outermost frame at the bottom, each with a title
 * that viewers show under the pointer. They can be read without a script.
 */
#ifndef NYTP_FLAME_PICTURE_H
#define NYTP_FLAME_PICTURE_H

#include "formats/model/model.h"
#include "exporters/base/out.h"

#define NYTP_PICTURE_WIDTH     1200 /* pixels, by default */
#define NYTP_PICTURE_MAX_DEPTH 400  /* rows; deeper frames are not drawn */

struct nytp_picture {
    struct nytp_out *out;
    uint32_t width, depth;  /* pixels; rows above the lowest one */
    uint32_t head;          /* pixels above all rows, for text */
    int decimals;           /* of positions */
    const char *attributes; /* added to the element <svg>, each after a blank; or "" */
};

struct nytp_picture_box {
    double x, width;        /* pixels */
    uint32_t depth;         /* 0 = the lowest row */
    struct nytp_name name;  /* cut to the box */
    const char *fill;       /* "#rrggbb" */
    const char *attributes; /* added to the element <rect>, each after a blank; or "" */
};

/* Write the beginning and the end of the element <svg>; boxes come between. */
void nytp_picture_begin(const struct nytp_picture *picture);
void nytp_picture_end(const struct nytp_picture *picture);

/* Write a box. Between the two calls the caller writes the text of its title, escaped. */
void nytp_picture_box_begin(const struct nytp_picture *picture);
void nytp_picture_box_end(const struct nytp_picture *picture,
                          const struct nytp_picture_box *box);

/* Chooses a warm colour by the name's package, the same in every picture. */
void nytp_picture_colour(struct nytp_name name, char fill[8]);

/* Returns the length of a sub's package with its "::", or 0. */
uint32_t nytp_package_len(struct nytp_name name);

#endif
