/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Distances between samples; see distance.h. The logarithm is computed here, so that no
 * program has to load the mathematical library.
 */
#include "distance.h"

#include <string.h>

void nytp_distance_init(struct nytp_distance *distance, uint64_t mean, uint64_t seed)
{
    distance->mean = mean < 1 ? 1 : mean > NYTP_MOST_MEAN ? NYTP_MOST_MEAN : mean;
    distance->random = seed;
}

/* splitmix64, by Sebastiano Vigna, in the public domain. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* The natural logarithm of a positive, normal number to some 13 digits. It is that of its
 * power of two plus that of the rest m, from 1 to 2: twice the area tangent of (m-1)/(m+1). */
static double logarithm(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int exponent = (int)(bits >> 52) - 1023;
    bits = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1023) << 52;
    double m;
    memcpy(&m, &bits, sizeof m);
    const double z = (m - 1) / (m + 1), square = z * z;
    double sum = 0;
    for (int i = 27; i >= 1; i -= 2)
        sum = sum * square + 1.0 / i;
    return exponent * 0.693147180559945309417 + 2 * z * sum;
}

uint64_t nytp_distance_next(struct nytp_distance *distance)
{
    if (distance->mean <= 1)
        return 0;
    const double uniform = (double)((next_random(&distance->random) >> 11) + 1) * 0x1p-53;
    return (uint64_t)(-logarithm(uniform) * (double)distance->mean) + 1;
}
