/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A hash table from a key of four 32-bit integers to one. Shorter keys leave the rest 0.
 *
 * Open addressing with linear probing. A deletion shifts the following entries back, so there
 * are no tombstones and a table does not get slower with use.
 */
#ifndef NYTP_TABLE_H
#define NYTP_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#define NYTP_TABLE_NONE UINT32_MAX /* the value of an absent key; cannot be stored */

struct nytp_key {
    uint32_t a, b, c, d;
};

struct nytp_slot {
    struct nytp_key key;
    uint32_t value;
};

/* A zeroed table is empty. */
struct nytp_table {
    struct nytp_slot *slots;
    uint32_t n, capacity; /* capacity is 0 or a power of two */
};

/* Frees the slots. The table is then empty and can be used again. */
void nytp_table_free(struct nytp_table *table);

/* Returns the value, or NYTP_TABLE_NONE. */
uint32_t nytp_table_get(const struct nytp_table *table, struct nytp_key key);

/* Adds or replaces. Returns false if memory is out. */
bool nytp_table_put(struct nytp_table *table, struct nytp_key key, uint32_t value);

/* Removes the key if it is there. */
void nytp_table_remove(struct nytp_table *table, struct nytp_key key);

#endif
