/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * How long accept() waited, where calls do not tell; see accept_waits.h.
 */
#include "accept_waits.h"

#include <stdlib.h>

void nytp_accept_waits_free(struct nytp_accept_waits *waits)
{
    free(waits->held.at);
    free(waits->open.at);
    nytp_tick_sums_free(&waits->by_line);
    *waits = (struct nytp_accept_waits){0};
}

bool nytp_is_accept(struct nytp_name name)
{
    return nytp_name_ends(name, "CORE:accept") || nytp_name_ends(name, "CORE::accept");
}

bool nytp_accept_waits_hold(struct nytp_accept_waits *waits, struct nytp_held_call call,
                            bool is_accept)
{
    if (!NYTP_GROW(&waits->held))
        return false;
    if (is_accept)
        waits->accept = waits->held.n;
    waits->held.at[waits->held.n++] = call;
    return true;
}

bool nytp_accept_waits_note(struct nytp_accept_waits *waits, uint32_t file, uint32_t line,
                            int64_t ticks)
{
    int64_t rest = ticks - waits->leaf_ticks;
    for (uint32_t i = 0; i < waits->held.n; i++)
        if (waits->held.at[i].is_leaf)
            rest -= waits->held.at[i].incl_ticks;
    if (rest <= 0)
        return true;
    waits->held.at[waits->accept].incl_ticks = waits->held.at[waits->accept].excl_ticks = rest;
    return nytp_tick_sums_add(&waits->by_line, (struct nytp_key){file, line, 0, 0}, rest);
}

bool nytp_accept_waits_return(struct nytp_accept_waits *waits, uint32_t depth,
                              int64_t own_ticks, int64_t *ticks)
{
    *ticks = 0;
    while (waits->open.n > 0 && waits->open.at[waits->open.n - 1].depth > depth)
        *ticks += waits->open.at[--waits->open.n].ticks;
    const int64_t sum = *ticks + own_ticks;
    if (sum == 0)
        return true;
    if (waits->open.n == 0 || waits->open.at[waits->open.n - 1].depth < depth) {
        if (!NYTP_GROW(&waits->open))
            return false;
        waits->open.at[waits->open.n].depth = depth;
        waits->open.at[waits->open.n++].ticks = 0;
    }
    waits->open.at[waits->open.n - 1].ticks += sum;
    return true;
}
