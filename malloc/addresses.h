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

struct nytp_sample;

/* Put an address that is not there, and tell the filter; false when out of memory. */
bool nytp_address_put(const void *address, struct nytp_sample *sample);

/* Take it out; NULL: it was not there. */
struct nytp_sample *nytp_address_take(const void *address);

/* Take out all, each handed to this function. */
void nytp_addresses_clear(void (*taken)(struct nytp_sample *sample));

#endif
