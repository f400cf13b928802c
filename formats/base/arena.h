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

/* Makes room for `needed` elements of an array in all. `array_ptr` is the address of the
 * pointer to its first element, NULL at first. `*capacity` is the number of elements that fit,
 * 0 at first; it doubles, at least, when it is used up. The array may move; the caller frees it
 * with free(). Returns false if memory is out or the capacity would exceed UINT32_MAX; the
 * array is then unchanged. */
bool nytp_reserve(void *array_ptr, uint32_t *capacity, uint64_t needed, size_t element_size);

/* The same; new elements are zeroed. */
bool nytp_reserve_zeroed(void *array_ptr, uint32_t *capacity, uint64_t needed,
                         size_t element_size);

/* Like nytp_reserve(), for one element more than `n`. */
static inline bool nytp_grow(void *array_ptr, uint32_t *capacity, uint32_t n,
                             size_t element_size)
{
    return n < *capacity || nytp_reserve(array_ptr, capacity, (uint64_t)n + 1, element_size);
}

/* A list: an array that grows by one element, zeroed at first.
 *
 *     if (!NYTP_GROW(&list))
 *         return no_memory();
 *     list.at[list.n++] = element; */
#define NYTP_LIST(type)                                                                        \
    struct {                                                                                   \
        type *at;                                                                              \
        uint32_t n, capacity;                                                                  \
    }
#define NYTP_GROW(list) nytp_grow(&(list)->at, &(list)->capacity, (list)->n, sizeof *(list)->at)

#endif
