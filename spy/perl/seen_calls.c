/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Calls that were seen; see seen_calls.h.
 */
#include "seen_calls.h"

#include "formats/base/arena.h"

#include <stdlib.h>

static struct nytp_key key_of(uint64_t pad, uint64_t info)
{
    return (struct nytp_key){(uint32_t)pad, (uint32_t)(pad >> 32), (uint32_t)info,
                             (uint32_t)(info >> 32)};
}

const struct nytp_call *nytp_seen_call(const struct nytp_seen_calls *calls, uint64_t pad,
                                       uint64_t info)
{
    const uint32_t at = nytp_table_get(&calls->by_pad, key_of(pad, info));
    return at == NYTP_TABLE_NONE ? NULL : &calls->all[at];
}

void nytp_remember_call(struct nytp_seen_calls *calls, uint64_t info,
                        const struct nytp_call *call)
{
    const struct nytp_key key = key_of(call->pad, info);
    const uint32_t known = nytp_table_get(&calls->by_pad, key);
    if (known != NYTP_TABLE_NONE) {
        calls->all[known] = *call;
        return;
    }
    if (calls->n == NYTP_MOST_SEEN_CALLS) {
        nytp_table_free(&calls->by_pad);
        calls->n = 0;
    }
    if (nytp_grow(&calls->all, &calls->capacity, calls->n, sizeof *calls->all) &&
        nytp_table_put(&calls->by_pad, key, calls->n))
        calls->all[calls->n++] = *call;
}

void nytp_seen_calls_free(struct nytp_seen_calls *calls)
{
    free(calls->all);
    nytp_table_free(&calls->by_pad);
    *calls = (struct nytp_seen_calls){0};
}
