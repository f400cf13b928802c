/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Flame graphs as SVG: boxes in rows, the outermost frame at the bottom, each with a title that
 * viewers show under the pointer. Nobody needs a script to read one.
 */
#ifndef NYTP_FLAME_PICTURE_H
#define NYTP_FLAME_PICTURE_H

#include "formats/model/model.h"
#include "exporters/base/out.h"

#define NYTP_PICTURE_WIDTH     1200 /* pixels, unless the user says otherwise */
#define NYTP_PICTURE_MAX_DEPTH 400  /* rows; what is deeper is not drawn */

struct nytp_picture {
    struct nytp_out *out;
    uint32_t width, depth;  /* pixels; rows above the lowest one */
    uint32_t head;          /* pixels above all rows, for text */
    int decimals;           /* of positions */
    const char *attributes; /* more of the element <svg>, each after a blank; or "" */
};

struct nytp_picture_box {
    double x, width;        /* pixels */
    uint32_t depth;         /* 0 = the lowest row */
    struct nytp_name name;  /* written as far as there is room */
    const char *fill;       /* "#rrggbb" */
    const char *attributes; /* more of the element <rect>, each after a blank; or "" */
};

/* Put the beginning and the end of the element <svg>; boxes come between. */
void nytp_picture_begin(const struct nytp_picture *picture);
void nytp_picture_end(const struct nytp_picture *picture);

/* Put a box. Between these two calls the caller puts the text of its title, escaped. */
void nytp_picture_box_begin(const struct nytp_picture *picture);
void nytp_picture_box_end(const struct nytp_picture *picture,
                          const struct nytp_picture_box *box);

/* A warm colour by the name's package, the same in every picture. */
void nytp_picture_colour(struct nytp_name name, char fill[8]);

/* Length of a sub's package with the "::" behind it; 0 = it has none. */
uint32_t nytp_package_len(struct nytp_name name);
/* The package without that "::". */
struct nytp_name nytp_package_of(struct nytp_name name);

#endif
