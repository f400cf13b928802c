/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Where the program was when a sampled block was allocated; see alloc_ticks.h.
 *
 * perl may be about to move one of its stacks when it allocates: nothing is looked at but by
 * what the ring's ticks use.
 */
#include "alloc_ticks.h"

#include "XS/state/state.h"
#include "XS/exact/bytes.h"

/* Runs inside malloc(): neither allocates nor touches errno. */
static const void *look(void *context)
{
    struct nytp_alloc_ticks *const allocs = context;
    const struct nytp_ring *const ring = allocs->ring;
    const struct nytp_tick *const last = allocs->n > 0 ? &allocs->ticks[allocs->n - 1] : NULL;
    bool is_same = last != NULL;
    for (int i = 0; i < NYTP_TICK_WORDS && is_same; i++)
        is_same = last->words[i] == *ring->look_at[i];
    if (is_same || allocs->n == NYTP_TICKS_IN_RING)
        return last;
    struct nytp_tick *const tick = &allocs->ticks[allocs->n++];
    for (int i = 0; i < NYTP_TICK_WORDS; i++)
        tick->words[i] = *ring->look_at[i];
    tick->copy.n_calls = -1;
    ring->copy(ring, tick);
    tick->ns = nytp_kernel_clock_ns(ring->clock);
    *ring->asked = 1;
    return tick;
}

struct nytp_alloc_ticks *nytp_alloc_ticks_new(struct nytp_recorder *rec,
                                              const struct nytp_ring *ring)
{
    struct nytp_alloc_ticks *allocs;
    Newxz(allocs, 1, struct nytp_alloc_ticks);
    allocs->ring = ring;
    nytp_bytes_set_look(rec, look, allocs);
    return allocs;
}
