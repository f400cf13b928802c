/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The hash table; see table.h. It grows when two thirds full, so a search always ends.
 */
#include "table.h"

#include <stdlib.h>

static uint32_t hash_key(struct nytp_key k)
{
    uint64_t h = ((uint64_t)k.a << 32 | k.b) * 0x9E3779B97F4A7C15u;
    h = (h ^ (h >> 29) ^ ((uint64_t)k.c << 32 | k.d)) * 0xBF58476D1CE4E5B9u;
    return (uint32_t)(h >> 32);
}

static bool same_key(struct nytp_key x, struct nytp_key y)
{
    return x.a == y.a && x.b == y.b && x.c == y.c && x.d == y.d;
}

static uint32_t find_slot(const struct nytp_table *table, struct nytp_key key)
{
    const uint32_t mask = table->capacity - 1;
    uint32_t i = hash_key(key) & mask;
    while (table->slots[i].value != NYTP_TABLE_NONE && !same_key(table->slots[i].key, key))
        i = (i + 1) & mask;
    return i;
}

static bool resize_table(struct nytp_table *table, uint32_t capacity)
{
    struct nytp_table grown = {.capacity = capacity, .n = table->n};
    grown.slots = malloc((size_t)capacity * sizeof *grown.slots);
    if (grown.slots == NULL)
        return false;
    for (uint32_t i = 0; i < capacity; i++)
        grown.slots[i].value = NYTP_TABLE_NONE;
    for (uint32_t i = 0; i < table->capacity; i++)
        if (table->slots[i].value != NYTP_TABLE_NONE)
            grown.slots[find_slot(&grown, table->slots[i].key)] = table->slots[i];
    free(table->slots);
    *table = grown;
    return true;
}

void nytp_table_free(struct nytp_table *table)
{
    free(table->slots);
    *table = (struct nytp_table){0};
}

uint32_t nytp_table_get(const struct nytp_table *table, struct nytp_key key)
{
    if (table->n == 0)
        return NYTP_TABLE_NONE;
    return table->slots[find_slot(table, key)].value;
}

bool nytp_table_put(struct nytp_table *table, struct nytp_key key, uint32_t value)
{
    if (table->n >= table->capacity - table->capacity / 3) {
        if (table->capacity >= UINT32_C(1) << 30)
            return false;
        if (!resize_table(table, table->capacity == 0 ? 64 : table->capacity * 2))
            return false;
    }
    struct nytp_slot *slot = &table->slots[find_slot(table, key)];
    if (slot->value == NYTP_TABLE_NONE)
        table->n++;
    *slot = (struct nytp_slot){key, value};
    return true;
}

void nytp_table_remove(struct nytp_table *table, struct nytp_key key)
{
    if (table->n == 0)
        return;
    const uint32_t mask = table->capacity - 1;
    uint32_t hole = find_slot(table, key);
    if (table->slots[hole].value == NYTP_TABLE_NONE)
        return;
    table->n--;
    for (uint32_t i = (hole + 1) & mask; table->slots[i].value != NYTP_TABLE_NONE;
         i = (i + 1) & mask) {
        const uint32_t home = hash_key(table->slots[i].key) & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            table->slots[hole] = table->slots[i];
            hole = i;
        }
    }
    table->slots[hole].value = NYTP_TABLE_NONE;
}
