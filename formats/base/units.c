/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Ticks to units; see units.h. The remainder of one value is carried to the next. The carry
 * begins at half a unit, so that each running sum is rounded to the nearest and not cut.
 */
#include "units.h"

#include <math.h>

#include <string.h>

static const struct nytp_unit units[] = {
    {"ns", "nanoseconds", 1000000000},
    {"us", "microseconds", 1000000},
    {"ms", "milliseconds", 1000},
    {"s", "seconds", 1},
    {"ticks", "ticks", 0},
};

const struct nytp_unit *nytp_unit_find(const char *name)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(name, units[i].name) == 0 || strcmp(name, units[i].long_name) == 0)
            return &units[i];
    return NULL;
}

int64_t nytp_common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

void nytp_scale_init(struct nytp_scale *scale, const struct nytp_unit *unit,
                     int64_t ticks_per_sec)
{
    int64_t numerator = unit->per_sec;
    int64_t denominator = ticks_per_sec > 0 ? ticks_per_sec : 1;
    if (unit->per_sec == 0)
        numerator = denominator = 1;
    const int64_t divisor = nytp_common_divisor(numerator, denominator);
    numerator /= divisor;
    denominator /= divisor;
    /* An absurd clock of more than 4 GHz: gives up exactness to stay in range. */
    while (denominator > UINT32_MAX) {
        denominator /= 2;
        numerator = numerator > 1 ? numerator / 2 : 1;
    }
    scale->numerator = numerator;
    scale->denominator = denominator;
    scale->remainder = denominator / 2;
}

/* floor((ticks * numerator + carry) / denominator) in 64 bits. numerator <= 10^9 and
 * denominator < 2^32, so the product of the rest fits. The result saturates. */
static int64_t convert_ticks(const struct nytp_scale *scale, int64_t ticks, int64_t carry,
                             int64_t *rest)
{
    int64_t whole = ticks / scale->denominator;
    int64_t part = ticks % scale->denominator;
    if (part < 0) {
        part += scale->denominator;
        whole--;
    }
    const int64_t sum = part * scale->numerator + carry;
    *rest = sum % scale->denominator;
    int64_t value;
    if (__builtin_mul_overflow(whole, scale->numerator, &value) ||
        __builtin_add_overflow(value, sum / scale->denominator, &value))
        return ticks < 0 ? INT64_MIN : INT64_MAX;
    return value;
}

int64_t nytp_scale_next(struct nytp_scale *scale, int64_t ticks)
{
    return convert_ticks(scale, ticks, scale->remainder, &scale->remainder);
}

int64_t nytp_scale_once(const struct nytp_scale *scale, int64_t ticks)
{
    int64_t rest;
    return convert_ticks(scale, ticks, scale->denominator / 2, &rest);
}

int64_t nytp_whole(double value)
{
    if (!(value > -9e18 && value < 9e18))
        return 0;
    return (int64_t)llround(value);
}

int64_t nytp_ticks_of_ns(int64_t ns, int64_t ticks_per_sec)
{
    return nytp_whole((double)ns * (double)ticks_per_sec / NYTP_NS_PER_SEC);
}
