/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A hash table from a key of four 32-bit integers to one: the sets and indices of the whole
 * project. Keys with fewer parts leave the others 0.
 *
 * Open addressing with linear probing. Deletion shifts the entries behind back, so that there
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

/* Zeroed = empty. */
struct nytp_table {
    struct nytp_slot *slots;
    uint32_t n, capacity; /* capacity is 0 or a power of two */
};

/* Frees the slots; the table is then empty and can be used again. */
void nytp_table_free(struct nytp_table *table);

/* The value, or NYTP_TABLE_NONE. */
uint32_t nytp_table_get(const struct nytp_table *table, struct nytp_key key);

/* Add or replace. False when memory is out. */
bool nytp_table_put(struct nytp_table *table, struct nytp_key key, uint32_t value);

/* Remove; an absent key is fine. */
void nytp_table_remove(struct nytp_table *table, struct nytp_key key);

#endif
