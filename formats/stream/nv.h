/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Floating point numbers as another perl stored them in memory ("NV"): a size, and a layout
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

/* Returns the likeliest layout of that size (little-endian), or NULL if perl has none. */
const struct nytp_nv_layout *nytp_nv_default(uint32_t size);

/* Returns the first layout of that size in which the bytes are a time in seconds between 1990
 * and 2100, or nytp_nv_default() if there is none. */
const struct nytp_nv_layout *nytp_nv_guess(uint32_t size, const uint8_t *time_bytes);

#endif
