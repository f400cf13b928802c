/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Counts of blocks that need a look before they are freed; see filter.h.
 */
#include "filter.h"

_Atomic uint8_t nytp_filter_counts[NYTP_FILTER_COUNTS];

static void count(const void *address, int by)
{
    _Atomic uint8_t *const counted = &nytp_filter_counts[nytp_filter_at(address)];
    uint8_t old = atomic_load_explicit(counted, memory_order_relaxed);
    while (old != UINT8_MAX &&
           !atomic_compare_exchange_weak(counted, &old, (uint8_t)(old + by)))
        ;
}

void nytp_filter_add(const void *address)
{
    count(address, 1);
}

void nytp_filter_remove(const void *address)
{
    count(address, -1);
}
