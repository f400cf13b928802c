/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Ticks become the unit of an output here and nowhere else, in such a way that sums stay
 * right: a format that lists a million small times shows the same total as one that shows only
 * the total.
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

/* By short or long name; NULL if unknown. */
const struct nytp_unit *nytp_unit_find(const char *name);

/* A running conversion that keeps totals: the sum of what it returned is always the rounded
 * value of the sum of the ticks put in, so a series of conversions is off by less than one
 * unit in total. Exact, without remainder, when the unit is a multiple of the tick
 * (100 ns ticks to ns). */
struct nytp_scale {
    int64_t numerator, denominator; /* value = ticks * numerator / denominator */
    int64_t remainder;              /* in 1/denominator of a unit, carried */
};

void nytp_scale_init(struct nytp_scale *scale, const struct nytp_unit *unit,
                     int64_t ticks_per_sec);

/* Convert, carrying the remainder. */
int64_t nytp_scale_next(struct nytp_scale *scale, int64_t ticks);

/* Convert one value alone, rounded to nearest, without touching the remainder. */
int64_t nytp_scale_once(const struct nytp_scale *scale, int64_t ticks);

/* Nanoseconds as ticks, the nearest. */
int64_t nytp_ticks_of_ns(int64_t ns, int64_t ticks_per_sec);

/* The greatest; of numbers from 0, not both 0. */
int64_t nytp_common_divisor(int64_t a, int64_t b);

/* The nearest integer; what is no number, or absurd, is 0. */
int64_t nytp_whole(double value);

#endif
