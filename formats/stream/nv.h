/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Floating point numbers as another perl left them in memory (its "NV"): a size, and a layout
 * that the file does not name.
 */
#ifndef NYTP_NV_H
#define NYTP_NV_H

#include <stdint.h>

struct nytp_nv_layout {
    const char *name;
    uint32_t size; /* bytes */
    double (*decode)(const uint8_t *bytes);
};

/* The likeliest layout of that size (little-endian, as of this machine's family); NULL when
 * the size is none that a perl has. */
const struct nytp_nv_layout *nytp_nv_default(uint32_t size);

/* The first layout of that size in which the bytes are a time of day between the years 1990
 * and 2100 in seconds since the epoch; nytp_nv_default() when there is none. */
const struct nytp_nv_layout *nytp_nv_guess(uint32_t size, const uint8_t *time_bytes);

#endif
