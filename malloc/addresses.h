/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Which addresses are sampled, and what is known of each. Lock-free: any thread may put and
 * take at any time, and one that stops half-way (a fork's other threads) keeps nobody.
 *
 * It holds an address as long as the block is allocated, so only the thread that allocates it
 * puts it, and only the one that frees it takes it.
 */
#ifndef NYTP_MALLOC_ADDRESSES_H
#define NYTP_MALLOC_ADDRESSES_H

#include "next.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct nytp_sample;

/* How many of the sampled addresses have this hash; one at 255 stays there. */
#define NYTP_ADDRESS_COUNTS 32768
extern _Atomic uint8_t nytp_address_counts[NYTP_ADDRESS_COUNTS] NYTP_OWN;

static inline uint32_t nytp_address_hash(const void *address)
{
    return (uint32_t)(((uintptr_t)address >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 32);
}

/* False: the address is not there, as for nearly all. */
static inline bool nytp_address_may_be_there(const void *address)
{
    const uint32_t hash = nytp_address_hash(address);
    return atomic_load_explicit(&nytp_address_counts[hash % NYTP_ADDRESS_COUNTS],
                                memory_order_relaxed) != 0;
}

/* Put an address that is not there; false when out of memory. */
bool nytp_address_put(const void *address, struct nytp_sample *sample);

/* Take it out; NULL: it was not there. */
struct nytp_sample *nytp_address_take(const void *address);

/* Take out all, each handed to this function. */
void nytp_addresses_clear(void (*taken)(struct nytp_sample *sample));

#endif
