/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Which blocks are to be looked at before they are freed: a count for each piece of memory, one
 * byte for 256, so that blocks beside each other share a cache line of it. Pieces that are 8
 * MiB apart share a count. Any thread may ask and count at any time.
 */
#ifndef NYTP_MALLOC_FILTER_H
#define NYTP_MALLOC_FILTER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Not to be looked up: what the compiler knows when it is told that nobody else defines it. */
#define NYTP_OWN __attribute__((visibility("hidden")))

#define NYTP_FILTER_COUNTS 32768
extern _Atomic uint8_t nytp_filter_counts[NYTP_FILTER_COUNTS] NYTP_OWN;

static inline uint32_t nytp_filter_at(const void *address)
{
    return (uint32_t)((uintptr_t)address >> 8) % NYTP_FILTER_COUNTS;
}

/* False, as for nearly all: no such block begins here. */
static inline bool nytp_filter_may_hold(const void *address)
{
    return atomic_load_explicit(&nytp_filter_counts[nytp_filter_at(address)],
                                memory_order_relaxed) != 0;
}

/* One more, or one less, begins here. A count of 255 stays what it is. */
void nytp_filter_add(const void *address);
void nytp_filter_remove(const void *address);

#endif
