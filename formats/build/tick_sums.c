/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Sums of waiting by place in the calling-context tree; see wait_sums.h.
 */
#include "wait_sums.h"
#include <stdlib.h>

void nytp_wait_sums_free(struct nytp_wait_sums *waits)
{
    nytp_table_free(&waits->by_place);
    free(waits->ticks.at);
    *waits = (struct nytp_wait_sums){0};
}

struct nytp_key nytp_wait_of_line(uint32_t node, uint32_t file, uint32_t line)
{
    return (struct nytp_key){node, file, line, 0};
}

struct nytp_key nytp_wait_of_node(uint32_t node)
{
    return (struct nytp_key){node, 0, 0, 1};
}

bool nytp_wait_sums_add(struct nytp_wait_sums *waits, struct nytp_key place, int64_t ticks)
{
    const uint32_t known = nytp_table_get(&waits->by_place, place);
    if (known != NYTP_TABLE_NONE) {
        waits->ticks.at[known] += ticks;
        return true;
    }
    if (!NYTP_GROW(&waits->ticks) || !nytp_table_put(&waits->by_place, place, waits->ticks.n))
        return false;
    waits->ticks.at[waits->ticks.n++] = ticks;
    return true;
}

int64_t nytp_wait_sums_get(const struct nytp_wait_sums *waits, struct nytp_key place)
{
    const uint32_t known = nytp_table_get(&waits->by_place, place);
    return known == NYTP_TABLE_NONE ? 0 : waits->ticks.at[known];
}

bool nytp_wait_sums_move(struct nytp_wait_sums *waits, struct nytp_key from, struct nytp_key to)
{
    const uint32_t known = nytp_table_get(&waits->by_place, from);
    if (known == NYTP_TABLE_NONE)
        return true;
    nytp_table_remove(&waits->by_place, from);
    return nytp_wait_sums_add(waits, to, waits->ticks.at[known]);
}
