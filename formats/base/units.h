/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The only place where ticks become the unit of an output. Sums stay right: a format that
 * lists a million small times has the same total as one that shows only the total.
 */
#ifndef NYTP_UNITS_H
#define NYTP_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#define NYTP_NS_PER_SEC 1000000000

struct nytp_unit {
    const char *name;      /* "ns", "us", "ms", "s", "ticks" */
    const char *long_name; /* "nanoseconds", …, "ticks" */
    int64_t per_sec;       /* 0 for ticks */
};

/* Finds a unit by short or long name. Returns NULL if unknown. */
const struct nytp_unit *nytp_unit_find(const char *name);

/* A running conversion. The sum of its results is always the rounded sum of its inputs, so a
 * series is off by less than one unit in total. It is exact if a tick is a multiple of the
 * unit (100 ns ticks to ns). */
struct nytp_scale {
    int64_t numerator, denominator; /* value = ticks * numerator / denominator */
    int64_t remainder;              /* in 1/denominator of a unit, carried */
};

void nytp_scale_init(struct nytp_scale *scale, const struct nytp_unit *unit,
                     int64_t ticks_per_sec);

/* Converts, carrying the remainder. */
int64_t nytp_scale_next(struct nytp_scale *scale, int64_t ticks);

/* Converts one value to the nearest, without touching the remainder. */
int64_t nytp_scale_once(const struct nytp_scale *scale, int64_t ticks);

/* Returns the ticks nearest to this many nanoseconds. */
int64_t nytp_ticks_of_ns(int64_t ns, int64_t ticks_per_sec);

/* The greatest common divisor. a and b are at least 0, not both 0. */
int64_t nytp_common_divisor(int64_t a, int64_t b);

/* Returns the nearest integer, or 0 for NaN and absurd values. */
int64_t nytp_whole(double value);

#endif
