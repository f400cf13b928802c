/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The set of sampled addresses; see addresses.h. It is a hash table of lists. Entries are
 * added at the head and never removed; an entry whose address was taken is reused. So a list
 * is as long as the most addresses it held at one time, and any thread may walk it at any
 * time.
 */
#include "addresses.h"

#include <stddef.h>

struct entry {
    struct entry *next;
    _Atomic uintptr_t address; /* FREE, RESERVED while it changes, or an address */
    struct nytp_sample *sample;
};

enum {
    FREE = 0,
    RESERVED = 1,
    N_LISTS = 65536
};

static struct entry *_Atomic lists[N_LISTS];

static struct entry *_Atomic *list_of(const void *address)
{
    const uint64_t hash = ((uintptr_t)address >> 4) * UINT64_C(0x9E3779B97F4A7C15);
    return &lists[hash >> 47 & (N_LISTS - 1)];
}

static bool reserve(struct entry *entry, uintptr_t from)
{
    return atomic_load_explicit(&entry->address, memory_order_relaxed) == from &&
           atomic_compare_exchange_strong(&entry->address, &from, RESERVED);
}

static struct entry *reserved_entry(struct entry *_Atomic *list)
{
    for (struct entry *e = atomic_load(list); e != NULL; e = e->next)
        if (reserve(e, FREE))
            return e;
    struct entry *const added = nytp_next.malloc(sizeof *added);
    if (added == NULL)
        return NULL;
    added->next = atomic_load(list);
    atomic_init(&added->address, RESERVED);
    while (!atomic_compare_exchange_weak(list, &added->next, added))
        ;
    return added;
}

bool nytp_address_put(const void *address, struct nytp_sample *sample)
{
    struct entry *const entry = reserved_entry(list_of(address));
    if (entry == NULL)
        return false;
    entry->sample = sample;
    nytp_filter_add(address);
    atomic_store_explicit(&entry->address, (uintptr_t)address, memory_order_release);
    return true;
}

static struct nytp_sample *take(struct entry *entry, uintptr_t address)
{
    if (!reserve(entry, address))
        return NULL;
    struct nytp_sample *const sample = entry->sample;
    atomic_store_explicit(&entry->address, FREE, memory_order_release);
    nytp_filter_remove((const void *)address);
    return sample;
}

/* A program may free NULL, which is the address in a free entry. */
struct nytp_sample *nytp_address_take(const void *address)
{
    if (address == NULL)
        return NULL;
    struct entry *e = atomic_load(list_of(address));
    for (; e != NULL; e = e->next) {
        struct nytp_sample *const sample = take(e, (uintptr_t)address);
        if (sample != NULL)
            return sample;
    }
    return NULL;
}

void nytp_addresses_clear(void (*taken)(struct nytp_sample *sample))
{
    for (uint32_t i = 0; i < N_LISTS; i++) {
        for (struct entry *e = atomic_load(&lists[i]); e != NULL; e = e->next) {
            const uintptr_t address = atomic_load(&e->address);
            struct nytp_sample *const sample = address > RESERVED ? take(e, address) : NULL;
            if (sample != NULL)
                taken(sample);
        }
    }
}
