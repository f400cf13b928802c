/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * How many columns of a terminal a text takes.
 */
#ifndef NYTP_COLUMNS_H
#define NYTP_COLUMNS_H

#include "exporter.h"

/* Columns of the character of UTF-8 that begins at text.ptr[at]: 2 if it is wide (wide.def),
 * else 1, also for marks that some terminals put over the character before. 0 where none
 * begins.
 */
uint32_t nytp_columns_at(struct nytp_name text, uint32_t at);

/* Columns of the whole text, which is UTF-8. */
uint32_t nytp_text_width(struct nytp_name text);

/* Returns how many of a line's columns are left behind `used` ones, but at least `least`; 0 =
 * no limit, if there is none for the line. */
static inline uint32_t nytp_columns_left(uint32_t columns, uint32_t used, uint32_t least)
{
    return columns == 0 ? 0 : columns > used + least ? columns - used : least;
}

#endif
