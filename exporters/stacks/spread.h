/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * How the calls of a sub differ (--spread): the middle one, the long ones, and whether the last
 * ones take longer than the first. From the time line, so that a recording without single calls
 * (calls=0), or a selection, has none of it.
 */
#ifndef NYTP_SPREAD_H
#define NYTP_SPREAD_H

#include "exporters/base/exporter.h"

/* Ticks, -1 = not known. A time line leaves out the shortest calls when there are too many:
 * what these would decide is not known. */
struct nytp_spread {
    int64_t median, p95, max;
    int64_t first, last; /* the median of the first and the last tenth, of at least ten calls */
};

/* By sub, to be freed with free(); returns NULL if memory is out. */
struct nytp_spread *nytp_spread_by_sub(const struct nytp_profile *profile);

/* Put a row for each of at most `wanted` subs, those with the most time of their own, then one
 * for the rest. False with out's sticky error set. */
bool nytp_put_spread(const struct nytp_profile *profile,
                     const struct nytp_export_options *options, uint32_t wanted,
                     struct nytp_out *out);

#endif
