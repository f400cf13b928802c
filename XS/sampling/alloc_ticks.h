/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Where the program was when a sampled block was allocated (memory=BYTES beside sample=): noted
 * in malloc(), in the program's own thread, as a tick notes it (XS/platform/ticks.h). A safe
 * point is asked for at once, and the notes become calls there like those of ticks.
 *
 * What is allocated in one operation of one call is at one place, and is noted once.
 */
#ifndef NYTP_ALLOC_TICKS_H
#define NYTP_ALLOC_TICKS_H

#include "XS/platform/ticks.h"

struct nytp_recorder;

struct nytp_alloc_ticks {
    const struct nytp_ring *ring; /* says where to look */
    uint32_t n;                   /* that wait; when there is no more room the last one stands
                                     for all that comes */
    struct nytp_tick ticks[NYTP_TICKS_IN_RING];
};

/* Returns the notes of this recorder's samples, which live as long as both do. Each event of
 * the library has one of them as its `where`. Free them with Safefree() once nobody looks. */
struct nytp_alloc_ticks *nytp_alloc_ticks_new(struct nytp_recorder *rec,
                                              const struct nytp_ring *ring);

/* No event is left that has a note. NULL: there are none. */
static inline void nytp_alloc_ticks_taken(struct nytp_alloc_ticks *allocs)
{
    if (allocs != NULL)
        allocs->n = 0;
}

#endif
