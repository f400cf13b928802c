/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Returns of calls; see returns.h.
 *
 * A return makes all earlier ones at its depth or deeper irrelevant. So the list is sorted by
 * depth and by number at once: the last return up to a depth is the deepest one in the list.
 */
#include "returns.h"

#include "formats/base/arena.h"

#include <stdlib.h>

void nytp_returns_free(struct nytp_returns *returns)
{
    free(returns->list);
    *returns = (struct nytp_returns){0};
}

bool nytp_returns_note(struct nytp_returns *returns, uint32_t depth)
{
    while (returns->n_list > 0 && returns->list[returns->n_list - 1].depth >= depth)
        returns->n_list--;
    if (!nytp_grow(&returns->list, &returns->capacity, returns->n_list, sizeof *returns->list))
        return false;
    returns->list[returns->n_list++] = (struct nytp_returned){depth, ++returns->n};
    return true;
}

bool nytp_returns_since(const struct nytp_returns *returns, uint32_t depth, uint64_t n)
{
    uint32_t low = 0, high = returns->n_list;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (returns->list[middle].depth <= depth)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && returns->list[low - 1].n > n;
}
