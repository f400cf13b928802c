/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Sums of waiting in a sampled recording, by place in the calling-context tree: the part of the
 * time of a line, or of a call without lines (a builtin, an xsub), that was no processor time.
 * They are beside the tree, because other recordings have none.
 *
 * A wait may be negative: the two clocks are not read at the same moment.
 */
#ifndef NYTP_WAIT_SUMS_H
#define NYTP_WAIT_SUMS_H

#include "formats/base/arena.h"
#include "formats/base/table.h"

#include <stdbool.h>
#include <stdint.h>

/* Zeroed = empty. */
struct nytp_wait_sums {
    struct nytp_table by_place; /* (node, file, line, whether of the whole node) -> ticks[] */
    NYTP_LIST(int64_t) ticks;
};

void nytp_wait_sums_free(struct nytp_wait_sums *waits);

/* Returns the key of a line of a node. Functions that return bool: false if memory is out. */
struct nytp_key nytp_wait_of_line(uint32_t node, uint32_t file, uint32_t line);

/* Returns the key of a node without lines. */
struct nytp_key nytp_wait_of_node(uint32_t node);

bool nytp_wait_sums_add(struct nytp_wait_sums *waits, struct nytp_key place, int64_t ticks);

/* 0 where nothing was added. */
int64_t nytp_wait_sums_get(const struct nytp_wait_sums *waits, struct nytp_key place);

/* Moves the sum at `from` to that at `to`. */
bool nytp_wait_sums_move(struct nytp_wait_sums *waits, struct nytp_key from,
                         struct nytp_key to);

#endif
