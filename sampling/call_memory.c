/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Memory of calls; see call_memory.h.
 */
#include "call_memory.h"

/* The second half of a key. Slots are found by hash. A slot may name a call that another has
 * replaced meanwhile, so each call that is found is compared. */
enum by {
    BY_PAD,
    BY_CALLER,
    BY_DISTANCE,
    BY_PLACE,
    BY_SITE,
};

static uint64_t hash(uint64_t value)
{
    value *= UINT64_C(0x9e3779b97f4a7c15);
    return value ^ value >> 29;
}

static uint32_t slot_of(uint64_t pad, enum by by, uint64_t with)
{
    return (uint32_t)(hash(hash(pad + by) + with) >> 40) % NYTP_CALL_SLOTS;
}

static const struct nytp_seen_call *find(const struct nytp_call_memory *memory, uint64_t pad,
                                         uint64_t stack, uint32_t slot)
{
    const struct nytp_seen_call *const seen = &memory->calls[memory->slots[slot]];
    const bool is_it =
        pad != 0 && seen->caller != 0 && seen->call.pad == pad && seen->call.stack == stack;
    return is_it ? seen : NULL;
}

static int32_t distance_of(const struct nytp_seen_call *seen)
{
    return seen->caller_stack == seen->call.stack ? seen->call.place - seen->caller_place
                                                  : seen->call.place + 1;
}

static uint64_t with_distance(uint64_t caller, int32_t distance)
{
    return hash(caller) + (uint32_t)distance;
}

static uint64_t with_site(const struct nytp_seen_call *seen)
{
    return hash(with_distance(seen->caller, distance_of(seen))) + seen->call.site + seen->line;
}

const struct nytp_seen_call *nytp_seen_with(const struct nytp_call_memory *memory, uint64_t pad,
                                            uint64_t stack)
{
    return find(memory, pad, stack, slot_of(pad, BY_PAD, stack));
}

const struct nytp_seen_call *nytp_seen_from(const struct nytp_call_memory *memory, uint64_t pad,
                                            uint64_t stack, uint64_t caller)
{
    const struct nytp_seen_call *const seen =
        find(memory, pad, stack, slot_of(pad, BY_CALLER, caller));
    return seen != NULL && seen->caller == caller ? seen : NULL;
}

const struct nytp_seen_call *nytp_seen_above(const struct nytp_call_memory *memory,
                                             uint64_t pad, uint64_t stack, uint64_t caller,
                                             int32_t distance)
{
    const struct nytp_seen_call *const seen = find(
        memory, pad, stack, slot_of(pad, BY_DISTANCE, with_distance(caller, distance)));
    return seen != NULL && seen->caller == caller && distance_of(seen) == distance ? seen
                                                                                   : NULL;
}

const struct nytp_seen_call *nytp_seen_at(const struct nytp_call_memory *memory, uint64_t pad,
                                          uint64_t stack, int32_t place)
{
    const struct nytp_seen_call *const seen =
        find(memory, pad, stack, slot_of(pad, BY_PLACE, (uint32_t)place));
    return seen != NULL && seen->call.place == place ? seen : NULL;
}

static bool is_same(const struct nytp_seen_call *a, const struct nytp_seen_call *b)
{
    return a->call.code == b->call.code && a->call.site == b->call.site && a->line == b->line &&
           a->caller == b->caller && a->call.depth == b->call.depth &&
           distance_of(a) == distance_of(b);
}

const struct nytp_seen_call *nytp_seen_same(const struct nytp_call_memory *memory,
                                            const struct nytp_seen_call *wanted)
{
    const uint64_t pad = wanted->call.pad;
    const struct nytp_seen_call *const seen =
        find(memory, pad, wanted->call.stack, slot_of(pad, BY_SITE, with_site(wanted)));
    return seen != NULL && is_same(seen, wanted) ? seen : NULL;
}

static bool is_equal(const struct nytp_seen_call *a, const struct nytp_seen_call *b)
{
    return a->call.pad == b->call.pad && a->call.stack == b->call.stack &&
           a->call.place == b->call.place && a->caller_place == b->caller_place &&
           is_same(a, b);
}

void nytp_remember_call(struct nytp_call_memory *memory, const struct nytp_seen_call *seen)
{
    const uint64_t pad = seen->call.pad;
    const uint32_t slots[] = {
        slot_of(pad, BY_PAD, seen->call.stack),
        slot_of(pad, BY_CALLER, seen->caller),
        slot_of(pad, BY_DISTANCE, with_distance(seen->caller, distance_of(seen))),
        slot_of(pad, BY_PLACE, (uint32_t)seen->call.place),
        slot_of(pad, BY_SITE, with_site(seen)),
    };
    const size_t n = sizeof slots / sizeof *slots;
    size_t same = 0;
    while (same < n && !is_equal(&memory->calls[memory->slots[slots[same]]], seen))
        same++;
    const uint16_t at = same < n ? memory->slots[slots[same]] : memory->next;
    if (same == n)
        memory->next = (uint16_t)((at + 1) % NYTP_CALLS_KEPT);
    memory->calls[at] = *seen;
    for (size_t i = 0; i < n; i++)
        memory->slots[slots[i]] = at;
}
