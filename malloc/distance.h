/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * How many bytes until the next sample: random distances, exponentially distributed, so that
 * where the last sample fell says nothing about the next.
 */
#ifndef NYTP_MALLOC_DISTANCE_H
#define NYTP_MALLOC_DISTANCE_H

#include <stdint.h>

/* Means above this are taken for it. */
#define NYTP_MOST_MEAN (INT64_C(1) << 50)

struct nytp_distance {
    uint64_t mean;
    uint64_t random; /* state of the generator */
};

/* `seed` may be anything; other seeds give other sequences. */
void nytp_distance_init(struct nytp_distance *distance, uint64_t mean, uint64_t seed);

/* The next block of at least as many bytes, less those of the blocks before it, is sampled: 0,
 * always, where the mean is 1. */
uint64_t nytp_distance_next(struct nytp_distance *distance);

#endif
