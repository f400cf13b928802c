/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A hash index of pointers; see index.h. Linear probing, at most half full.
 */
#include "index.h"

#include <stdlib.h>
#include <string.h>

static void place(struct nytp_index *index, uint32_t hash, void *item)
{
    size_t at = hash & (index->size - 1);
    while (index->entries[at].item != NULL)
        at = (at + 1) & (index->size - 1);
    index->entries[at] = (struct nytp_index_entry){item, hash};
}

/* Moves the items for which stays() returns true, or with NULL all. */
static bool move(struct nytp_index *index, size_t size,
                 bool (*stays)(void *context, void *item), void *context)
{
    struct nytp_index next = {.size = size};
    next.entries = calloc(next.size, sizeof *next.entries);
    if (next.entries == NULL)
        return false;
    for (size_t i = 0; i < index->size; i++) {
        const struct nytp_index_entry *const entry = &index->entries[i];
        if (entry->item != NULL && (stays == NULL || stays(context, entry->item))) {
            place(&next, entry->hash, entry->item);
            next.used++;
        }
    }
    free(index->entries);
    *index = next;
    return true;
}

bool nytp_index_add(struct nytp_index *index, uint32_t hash, void *item)
{
    if (index->used * 2 >= index->size &&
        !move(index, index->size == 0 ? 256 : index->size * 2, NULL, NULL))
        return false;
    place(index, hash, item);
    index->used++;
    return true;
}

bool nytp_index_filter(struct nytp_index *index, bool (*stays)(void *context, void *item),
                       void *context)
{
    return index->used == 0 || move(index, index->size, stays, context);
}

void nytp_index_clear(struct nytp_index *index)
{
    if (index->size > 0)
        memset(index->entries, 0, index->size * sizeof *index->entries);
    index->used = 0;
}

uint32_t nytp_hash_bytes(const void *bytes, size_t len)
{
    const uint8_t *at = bytes;
    uint64_t hash = len, part;
    for (; len >= sizeof part; at += sizeof part, len -= sizeof part) {
        memcpy(&part, at, sizeof part);
        hash = (hash ^ hash >> 32 ^ part) * 0x9E3779B97F4A7C15u;
    }
    part = 0;
    memcpy(&part, at, len);
    hash = (hash ^ hash >> 32 ^ part) * 0x9E3779B97F4A7C15u;
    return (uint32_t)(hash >> 32 ^ hash);
}

void nytp_index_free(struct nytp_index *index, void (*free_item)(void *item))
{
    for (size_t i = 0; free_item != NULL && i < index->size; i++)
        if (index->entries[i].item != NULL)
            free_item(index->entries[i].item);
    free(index->entries);
    *index = (struct nytp_index){0};
}
