/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A filter for blocks that need a look before they are freed. It has one count, of one byte,
 * for each 256 bytes of memory, so that neighbouring blocks share a cache line of it.
 * Addresses that are 8 MiB apart share a count. Any thread may test and count at any time.
 */
#ifndef NYTP_MALLOC_FILTER_H
#define NYTP_MALLOC_FILTER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Hidden symbols need no look-up at run time. */
#define NYTP_OWN __attribute__((visibility("hidden")))

#define NYTP_FILTER_COUNTS 32768
extern _Atomic uint8_t nytp_filter_counts[NYTP_FILTER_COUNTS] NYTP_OWN;

static inline uint32_t nytp_filter_at(const void *address)
{
    return (uint32_t)((uintptr_t)address >> 8) % NYTP_FILTER_COUNTS;
}

/* Returns false if no such block begins here, as is usual. */
static inline bool nytp_filter_may_hold(const void *address)
{
    return atomic_load_explicit(&nytp_filter_counts[nytp_filter_at(address)],
                                memory_order_relaxed) != 0;
}

/* Counts a block that begins here. A count of 255 stays. */
void nytp_filter_add(const void *address);
void nytp_filter_remove(const void *address);

#endif
