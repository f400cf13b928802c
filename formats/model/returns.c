/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Returns of calls; see returns.h.
 *
 * A return makes all earlier ones at its depth or deeper irrelevant. So the list is sorted by
 * depth and by number at once: the last return up to a depth is the deepest one in the list.
 */
#include "returns.h"

#include "formats/base/bisect.h"

#include <stdlib.h>

void nytp_returns_free(struct nytp_returns *returns)
{
    free(returns->last.at);
    *returns = (struct nytp_returns){0};
}

bool nytp_returns_note(struct nytp_returns *returns, uint32_t depth)
{
    while (returns->last.n > 0 && returns->last.at[returns->last.n - 1].depth >= depth)
        returns->last.n--;
    if (!NYTP_GROW(&returns->last))
        return false;
    returns->last.at[returns->last.n++] = (struct nytp_returned){depth, ++returns->n};
    return true;
}

bool nytp_returns_since(const struct nytp_returns *returns, uint32_t depth, uint64_t n)
{
    uint32_t low = 0;
    NYTP_BISECT(low, returns->last.n, middle, returns->last.at[middle].depth <= depth);
    return low > 0 && returns->last.at[low - 1].n > n;
}
