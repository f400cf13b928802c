/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A hash table of pointers; see table.h. Linear probing, at most half full.
 */
#include "table.h"

#include <stdlib.h>
#include <string.h>

static void place(struct nytp_table *table, uint32_t hash, void *item)
{
    size_t at = hash & (table->size - 1);
    while (table->items[at] != NULL)
        at = (at + 1) & (table->size - 1);
    table->items[at] = item;
    table->hashes[at] = hash;
}

static bool grow(struct nytp_table *table)
{
    struct nytp_table larger = {.size = table->size == 0 ? 256 : table->size * 2};
    larger.items = calloc(larger.size, sizeof *larger.items);
    larger.hashes = malloc(larger.size * sizeof *larger.hashes);
    if (larger.items == NULL || larger.hashes == NULL) {
        free(larger.items);
        free(larger.hashes);
        return false;
    }
    for (size_t i = 0; i < table->size; i++)
        if (table->items[i] != NULL)
            place(&larger, table->hashes[i], table->items[i]);
    larger.used = table->used;
    free(table->items);
    free(table->hashes);
    *table = larger;
    return true;
}

bool nytp_table_add(struct nytp_table *table, uint32_t hash, void *item)
{
    if (table->used * 2 >= table->size && !grow(table))
        return false;
    place(table, hash, item);
    table->used++;
    return true;
}

void nytp_table_clear(struct nytp_table *table)
{
    if (table->size > 0)
        memset(table->items, 0, table->size * sizeof *table->items);
    table->used = 0;
}

uint32_t nytp_hash_bytes(const void *bytes, size_t len)
{
    const uint8_t *at = bytes;
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ at[i]) * 0x100000001B3u;
    return (uint32_t)(hash >> 32 ^ hash);
}
