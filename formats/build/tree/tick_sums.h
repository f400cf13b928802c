/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Sums of ticks by a key. Of a sampled recording they are the waits by place in the
 * calling-context tree (calltree.h): beside the tree, because other recordings have none.
 */
#ifndef NYTP_TICK_SUMS_H
#define NYTP_TICK_SUMS_H

#include "formats/base/arena.h"
#include "formats/base/table.h"

/* Zeroed = empty. */
struct nytp_tick_sums {
    struct nytp_table by_key; /* -> index in the list */
    NYTP_LIST(int64_t);
};

void nytp_tick_sums_free(struct nytp_tick_sums *sums);

/* Functions that return bool: false if memory is out. */
bool nytp_tick_sums_add(struct nytp_tick_sums *sums, struct nytp_key key, int64_t ticks);

/* 0 where nothing was added. */
int64_t nytp_tick_sums_get(const struct nytp_tick_sums *sums, struct nytp_key key);

/* Moves the sum at `from` to that at `to`. */
bool nytp_tick_sums_move(struct nytp_tick_sums *sums, struct nytp_key from, struct nytp_key to);

#endif
