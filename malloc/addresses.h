/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The set of sampled addresses, each with its sample. Lock-free: any thread may put and take
 * at any time, and a thread that stops half-way (in a fork) blocks nobody.
 *
 * An address is in the set while its block is allocated. So only the thread that allocates the
 * block puts it, and only the one that frees it takes it.
 */
#ifndef NYTP_MALLOC_ADDRESSES_H
#define NYTP_MALLOC_ADDRESSES_H

#include "next.h"

struct nytp_sample;

/* Adds a new address, also to the filter. Returns false if memory is out. */
bool nytp_address_put(const void *address, struct nytp_sample *sample);

/* Removes an address. Returns its sample, or NULL if it was not in the set. */
struct nytp_sample *nytp_address_take(const void *address);

/* Removes all addresses and passes their samples to `taken`. */
void nytp_addresses_clear(void (*taken)(struct nytp_sample *sample));

#endif
