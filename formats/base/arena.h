/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Arenas, and arrays that grow.
 *
 * An arena holds many small pieces that are freed all at once, such as the source lines of a
 * profile. An array that grows by one element holds a list whose length is known only when the
 * input has been read.
 */
#ifndef NYTP_ARENA_H
#define NYTP_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nytp_arena;

/* Returns an empty arena, or NULL if memory is out. Freeing an arena frees everything
 * allocated in it; NULL is accepted. */
struct nytp_arena *nytp_arena_new(void);
void nytp_arena_free(struct nytp_arena *arena);

/* Returns `size` uninitialised bytes, aligned to 8 bytes, or NULL if memory is out. */
void *nytp_arena_alloc(struct nytp_arena *arena, size_t size);

/* The slow half of nytp_grow(): the capacity is used up. */
bool nytp_grow_now(void *array_ptr, uint32_t *capacity, size_t element_size);

/* Makes room for one more element of an array of `n` elements. `array_ptr` is the address of
 * the pointer to its first element, NULL at first. `*capacity` is the number of elements that
 * fit, 0 at first; it doubles when it is used up. The array may move; the caller frees it with
 * free(). Returns false if memory is out or the capacity would exceed UINT32_MAX; the array
 * is then unchanged.
 *
 *     if (!nytp_grow(&list, &capacity, n, sizeof *list))
 *         return no_memory();
 *     list[n++] = element; */
static inline bool nytp_grow(void *array_ptr, uint32_t *capacity, uint32_t n,
                             size_t element_size)
{
    return n < *capacity || nytp_grow_now(array_ptr, capacity, element_size);
}

/* The same, with room for `needed` elements in all. */
bool nytp_reserve(void *array_ptr, uint32_t *capacity, uint64_t needed, size_t element_size);

#endif
