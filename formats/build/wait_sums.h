/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What a sampled recording says of waiting, by place in the calling-context tree: of the time
 * of a line, or of a call that runs no lines (a builtin, an xsub), what was no processor time.
 * Kept beside the tree, since recordings that are not sampled have none of it.
 *
 * A wait may be negative: the two clocks are not read at the same moment.
 */
#ifndef NYTP_WAIT_SUMS_H
#define NYTP_WAIT_SUMS_H

#include "formats/base/table.h"

#include <stdbool.h>
#include <stdint.h>

/* Zeroed = empty. */
struct nytp_wait_sums {
    struct nytp_table by_place; /* (node, file, line, whether of the whole node) -> ticks[] */
    int64_t *ticks;
    uint32_t n, capacity;
};

void nytp_wait_sums_free(struct nytp_wait_sums *waits);

/* Of a line of a node. All that return bool: false when memory is out. */
struct nytp_key nytp_wait_of_line(uint32_t node, uint32_t file, uint32_t line);

/* Of a node without lines. */
struct nytp_key nytp_wait_of_node(uint32_t node);

bool nytp_wait_sums_add(struct nytp_wait_sums *waits, struct nytp_key place, int64_t ticks);

/* 0 where nothing was added. */
int64_t nytp_wait_sums_get(const struct nytp_wait_sums *waits, struct nytp_key place);

/* What was at `from`, which is then empty, is added to what is at `to`. */
bool nytp_wait_sums_move(struct nytp_wait_sums *waits, struct nytp_key from,
                         struct nytp_key to);

#endif
