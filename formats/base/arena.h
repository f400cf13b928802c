/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Memory for things that live exactly as long as one another, and arrays that grow.
 *
 * An arena is for many small pieces that are freed all at once, as the text of source lines of
 * a profile: nothing is freed alone, so there is nothing to keep track of. An array that grows
 * one element at a time is for lists whose length is known only when the input has been read.
 */
#ifndef NYTP_ARENA_H
#define NYTP_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nytp_arena;

/* An empty arena; NULL when memory is out. Freeing it frees all that was allocated in it; NULL
 * is accepted. */
struct nytp_arena *nytp_arena_new(void);
void nytp_arena_free(struct nytp_arena *arena);

/* `size` bytes in the arena, aligned to 8 bytes and not initialised. NULL when memory is out;
 * the arena then goes on to work. */
void *nytp_arena_alloc(struct nytp_arena *arena, size_t size);

/* Make room for one more element of an array of `n` elements. `array_ptr` is the address of
 * the pointer to its first element, NULL at first; `*capacity` is how many elements it has
 * room for, 0 at first. The capacity doubles when it is used up, so that n elements cost no
 * more than 2n copies. The array may move; it is the caller's, for free(). False when memory
 * is out or there were to be more than UINT32_MAX elements: the array is then as it was.
 *
 *     if (!nytp_grow(&list, &capacity, n, sizeof *list))
 *         return no_memory();
 *     list[n++] = element; */
static inline bool nytp_grow(void *array_ptr, uint32_t *capacity, uint32_t n,
                             size_t element_size);

/* Make room for `needed` elements at once; else as above. */
bool nytp_reserve(void *array_ptr, uint32_t *capacity, uint64_t needed, size_t element_size);

/* nytp_grow(), when the capacity is used up. */
bool nytp_grow_now(void *array_ptr, uint32_t *capacity, size_t element_size);

static inline bool nytp_grow(void *array_ptr, uint32_t *capacity, uint32_t n,
                             size_t element_size)
{
    return n < *capacity || nytp_grow_now(array_ptr, capacity, element_size);
}

#endif
