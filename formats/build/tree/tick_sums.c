/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Sums of ticks by a key; see tick_sums.h.
 */
#include "tick_sums.h"

#include <stdlib.h>

void nytp_tick_sums_free(struct nytp_tick_sums *sums)
{
    nytp_table_free(&sums->by_key);
    free(sums->at);
    *sums = (struct nytp_tick_sums){0};
}

bool nytp_tick_sums_add(struct nytp_tick_sums *sums, struct nytp_key key, int64_t ticks)
{
    const uint32_t known = nytp_table_get(&sums->by_key, key);
    if (known != NYTP_TABLE_NONE) {
        sums->at[known] += ticks;
        return true;
    }
    if (!NYTP_GROW(sums) || !nytp_table_put(&sums->by_key, key, sums->n))
        return false;
    sums->at[sums->n++] = ticks;
    return true;
}

int64_t nytp_tick_sums_get(const struct nytp_tick_sums *sums, struct nytp_key key)
{
    const uint32_t known = nytp_table_get(&sums->by_key, key);
    return known == NYTP_TABLE_NONE ? 0 : sums->at[known];
}

bool nytp_tick_sums_move(struct nytp_tick_sums *sums, struct nytp_key from, struct nytp_key to)
{
    const uint32_t known = nytp_table_get(&sums->by_key, from);
    if (known == NYTP_TABLE_NONE)
        return true;
    nytp_table_remove(&sums->by_key, from);
    return nytp_tick_sums_add(sums, to, sums->at[known]);
}
