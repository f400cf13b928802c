/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A hash index of pointers. The caller hashes and compares; the index only finds and grows.
 * Nothing is ever removed but in one sweep. The recorder finds files, subs, bodies and arcs by
 * it; who puts an item in owns it.
 */
#ifndef NYTP_INDEX_H
#define NYTP_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nytp_index_entry {
    void *item; /* NULL: free place */
    uint32_t hash;
};

struct nytp_index {
    struct nytp_index_entry *entries;
    size_t size, used; /* size is 0 or a power of two */
};

/* Walk the items of one hash: set *at to the hash, then call until NULL. */
static inline void *nytp_index_next(const struct nytp_index *index, uint32_t hash, size_t *at)
{
    while (index->size > 0) {
        const struct nytp_index_entry *const entry = &index->entries[*at & (index->size - 1)];
        if (entry->item == NULL)
            return NULL;
        ++*at;
        if (entry->hash == hash)
            return entry->item;
    }
    return NULL;
}

/* Add an item that is not there yet. False when out of memory. */
bool nytp_index_add(struct nytp_index *index, uint32_t hash, void *item);

/* Forget the items for which stays() says no; it may free them. False, and nothing was asked,
 * when out of memory. */
bool nytp_index_filter(struct nytp_index *index, bool (*stays)(void *context, void *item),
                       void *context);

/* Free the memory, and each item with `free_item` unless that is NULL. */
void nytp_index_free(struct nytp_index *index, void (*free_item)(void *item));

/* Forget all items; the memory is kept. */
void nytp_index_clear(struct nytp_index *index);

/* Hashes for the items, of bytes and of a number. */
uint32_t nytp_hash_bytes(const void *bytes, size_t len);

static inline uint32_t nytp_hash_u64(uint64_t value)
{
    value *= 0x9E3779B97F4A7C15u;
    return (uint32_t)(value >> 32);
}

#endif
