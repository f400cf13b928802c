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

/* What is found by it is compared: another call may have the same. */
static struct nytp_key key_of_both(uint64_t pad, uint64_t caller_pad, uint64_t info)
{
    struct nytp_key key = key_of(pad, caller_pad);
    key.b ^= (uint32_t)info;
    return key;
}

const struct nytp_call *nytp_seen_call(const struct nytp_seen_calls *calls, uint64_t pad,
                                       uint64_t info)
{
    const uint32_t at = nytp_table_get(&calls->by_pad, key_of(pad, info));
    return at == NYTP_TABLE_NONE ? NULL : &calls->all[at];
}

const struct nytp_call *nytp_seen_call_from(const struct nytp_seen_calls *calls, uint64_t pad,
                                            uint64_t caller_pad, uint64_t info)
{
    const uint32_t at = nytp_table_get(&calls->by_pads, key_of_both(pad, caller_pad, info));
    const struct nytp_call *const call = at == NYTP_TABLE_NONE ? NULL : &calls->all[at];
    return call != NULL && call->pad == pad && call->caller_pad == caller_pad ? call : NULL;
}

void nytp_remember_call(struct nytp_seen_calls *calls, uint64_t info,
                        const struct nytp_call *call)
{
    const struct nytp_key both = key_of_both(call->pad, call->caller_pad, info);
    uint32_t at = nytp_table_get(&calls->by_pads, both);
    if (at == NYTP_TABLE_NONE) {
        if (calls->n == NYTP_MOST_SEEN_CALLS) {
            nytp_table_free(&calls->by_pad);
            nytp_table_free(&calls->by_pads);
            calls->n = 0;
        }
        at = calls->n;
        if (!nytp_grow(&calls->all, &calls->capacity, at, sizeof *calls->all) ||
            !nytp_table_put(&calls->by_pads, both, at))
            return;
        calls->n++;
    }
    calls->all[at] = *call;
    nytp_table_put(&calls->by_pad, key_of(call->pad, info), at);
}

void nytp_seen_calls_free(struct nytp_seen_calls *calls)
{
    free(calls->all);
    nytp_table_free(&calls->by_pad);
    nytp_table_free(&calls->by_pads);
    *calls = (struct nytp_seen_calls){0};
}
