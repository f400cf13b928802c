/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A hash index of pointers. The caller hashes and compares; the index finds and grows. Items
 * are removed only by a sweep. The recorder keeps files, subs, bodies and arcs in it. The
 * caller owns the items.
 */
#ifndef NYTP_INDEX_H
#define NYTP_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nytp_index_entry {
    void *item; /* NULL: free */
    uint32_t hash;
};

struct nytp_index {
    struct nytp_index_entry *entries;
    size_t size, used; /* size is 0 or a power of two */
};

/* Walks the items of one hash: set *at to the hash, then call until NULL. */
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

/* Adds an item that is not in the index. Returns false if memory is out. */
bool nytp_index_add(struct nytp_index *index, uint32_t hash, void *item);

/* Removes the items for which stays() returns false; it may free them. Returns false, without
 * calling it, if memory is out. */
bool nytp_index_filter(struct nytp_index *index, bool (*stays)(void *context, void *item),
                       void *context);

/* Frees the memory, and each item with `free_item` unless that is NULL. */
void nytp_index_free(struct nytp_index *index, void (*free_item)(void *item));

void nytp_index_clear(struct nytp_index *index);

uint32_t nytp_hash_bytes(const void *bytes, size_t len);

static inline uint32_t nytp_hash_u64(uint64_t value)
{
    value *= 0x9E3779B97F4A7C15u;
    return (uint32_t)(value >> 32);
}

#endif
