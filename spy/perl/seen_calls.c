/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Calls that were seen; see seen_calls.h.
 */
#include "seen_calls.h"

#include "formats/base/arena.h"

#include <stdlib.h>

enum {
    ENOUGH = 3,   /* times that a likely call comes in a row */
    RECENT = 500, /* looks from one to the next */
};

/* What the keys of one pad differ in. What is found is compared: another call may have the same
 * key. */
static uint64_t with_caller(uint64_t caller_pad)
{
    return caller_pad * 3;
}

static uint64_t with_distance(uint64_t caller_pad, int32_t distance)
{
    return caller_pad * 5 + ((uint64_t)(uint32_t)distance << 32) + 1;
}

static uint64_t with_place(int32_t context)
{
    return ((uint64_t)(uint32_t)context << 32) + 2;
}

static int32_t distance_of(const struct nytp_call *call)
{
    return call->context - call->caller_context;
}

static uint64_t with_statement(const struct nytp_call *call)
{
    return with_distance(call->caller_pad, distance_of(call)) + (call->cop + call->line) * 7 +
           3;
}

static struct nytp_key key_of(uint64_t pad, uint64_t info, uint64_t with)
{
    with ^= info;
    return (struct nytp_key){(uint32_t)pad, (uint32_t)(pad >> 32), (uint32_t)with,
                             (uint32_t)(with >> 32)};
}

static const struct nytp_call *find(const struct nytp_seen_calls *calls, uint64_t pad,
                                    uint64_t info, uint64_t with)
{
    const uint32_t at = nytp_table_get(&calls->by, key_of(pad, info, with));
    const struct nytp_call *const call = at == NYTP_TABLE_NONE ? NULL : &calls->all[at];
    return call != NULL && call->pad == pad && call->info == info ? call : NULL;
}

const struct nytp_call *nytp_seen_call(const struct nytp_seen_calls *calls, uint64_t pad,
                                       uint64_t info)
{
    return find(calls, pad, info, 0);
}

const struct nytp_call *nytp_seen_call_from(const struct nytp_seen_calls *calls, uint64_t pad,
                                            uint64_t caller_pad, uint64_t info)
{
    const struct nytp_call *const call = find(calls, pad, info, with_caller(caller_pad));
    return call != NULL && call->caller_pad == caller_pad ? call : NULL;
}

const struct nytp_call *nytp_seen_call_above(const struct nytp_seen_calls *calls, uint64_t pad,
                                             uint64_t caller_pad, int32_t distance,
                                             uint64_t info)
{
    const struct nytp_call *const call =
        find(calls, pad, info, with_distance(caller_pad, distance));
    return call != NULL && call->caller_pad == caller_pad && distance_of(call) == distance
               ? call
               : NULL;
}

const struct nytp_call *nytp_seen_call_at(const struct nytp_seen_calls *calls, uint64_t pad,
                                          int32_t context, uint64_t info)
{
    return find(calls, pad, info, with_place(context));
}

static bool is_same_call(const struct nytp_call *a, const struct nytp_call *b)
{
    return a->info == b->info && a->pad == b->pad && a->cv == b->cv && a->cop == b->cop &&
           a->line == b->line && a->caller_pad == b->caller_pad && a->depth == b->depth &&
           distance_of(a) == distance_of(b);
}

const struct nytp_call *nytp_seen_call_same(const struct nytp_seen_calls *calls,
                                            const struct nytp_call *wanted)
{
    const struct nytp_call *const call =
        find(calls, wanted->pad, wanted->info, with_statement(wanted));
    return call != NULL && is_same_call(call, wanted) ? call : NULL;
}

void nytp_remember_call(struct nytp_seen_calls *calls, const struct nytp_call *call)
{
    const struct nytp_key key = key_of(call->pad, call->info, with_statement(call));
    uint32_t at = nytp_table_get(&calls->by, key);
    if (at == NYTP_TABLE_NONE) {
        if (calls->n == NYTP_MOST_SEEN_CALLS) {
            nytp_table_free(&calls->by);
            calls->n = 0;
        }
        at = calls->n;
        if (!nytp_grow(&calls->all, &calls->capacity, at, sizeof *calls->all) ||
            !nytp_table_put(&calls->by, key, at))
            return;
        calls->n++;
    }
    calls->all[at] = *call;
    nytp_table_put(&calls->by, key_of(call->pad, call->info, 0), at);
    nytp_table_put(&calls->by, key_of(call->pad, call->info, with_caller(call->caller_pad)),
                   at);
    nytp_table_put(
        &calls->by,
        key_of(call->pad, call->info, with_distance(call->caller_pad, distance_of(call))), at);
    nytp_table_put(&calls->by, key_of(call->pad, call->info, with_place(call->context)), at);
}

void nytp_note_likely_call(struct nytp_seen_calls *calls, const struct nytp_call *call,
                           uint64_t look)
{
    const uint64_t hash = (call->pad + call->caller_pad * 3) * UINT64_C(0x9e3779b97f4a7c15);
    struct nytp_likely_call *const likely = &calls->likely[hash >> 56];
    const bool is_next = is_same_call(&likely->call, call) && look - likely->look <= RECENT;
    likely->n = is_next ? likely->n + 1 : 1;
    likely->call = *call;
    likely->look = look;
    if (likely->n >= ENOUGH)
        nytp_remember_call(calls, call);
}

void nytp_seen_calls_free(struct nytp_seen_calls *calls)
{
    free(calls->all);
    nytp_table_free(&calls->by);
    *calls = (struct nytp_seen_calls){0};
}
