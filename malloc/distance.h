/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The number of bytes until the next sample. Distances are random and exponentially
 * distributed, so that one sample says nothing about the next.
 */
#ifndef NYTP_MALLOC_DISTANCE_H
#define NYTP_MALLOC_DISTANCE_H

#include <stdint.h>

/* Larger means are reduced to this. */
#define NYTP_MOST_MEAN (INT64_C(1) << 50)

struct nytp_distance {
    uint64_t mean;
    uint64_t random; /* state of the generator */
};

/* `seed` may be anything; different seeds give different sequences. */
void nytp_distance_init(struct nytp_distance *distance, uint64_t mean, uint64_t seed);

/* Returns a distance in bytes. The block that reaches it, together with the blocks before it,
 * is sampled. Returns 0, for every block, if the mean is 1. */
uint64_t nytp_distance_next(struct nytp_distance *distance);

#endif
