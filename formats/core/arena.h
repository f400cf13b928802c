/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Memory that is freed all at once, and growable arrays.
 */
#ifndef NYTP_ARENA_H
#define NYTP_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nytp_arena;

struct nytp_arena *nytp_arena_new(void);
void nytp_arena_free(struct nytp_arena *arena);

/* 8-byte aligned, uninitialised; NULL when memory is out. */
void *nytp_arena_alloc(struct nytp_arena *arena, size_t size);

/* Make room for one more element of an array of n elements: doubles the capacity when it is
 * full. False when memory is out, the array is then as it was.
 *     if (!nytp_grow(&list, &capacity, n, sizeof *list)) … */
bool nytp_grow(void *array_ptr, uint32_t *capacity, uint32_t n, size_t element_size);

#endif
