/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * An arena is a list of chunks from malloc(). Each allocation is cut off the newest chunk; a
 * full one is followed by a new one. A large piece gets a private chunk.
 *
 * Where valgrind's headers are present, memory not handed out yet is marked inaccessible, so
 * that memcheck finds a use beyond the end of an allocation.
 */
#include "arena.h"

#include <stdlib.h>
#include <string.h>

#ifdef NYTP_HAVE_VALGRIND
#include <valgrind/memcheck.h>
#else
#define VALGRIND_MAKE_MEM_NOACCESS(at, size)  ((void)0)
#define VALGRIND_MAKE_MEM_UNDEFINED(at, size) ((void)0)
#endif

#define CHUNK_SIZE ((size_t)64 * 1024)

struct chunk {
    struct chunk *next;
    size_t used, size;
    max_align_t bytes[];
};

struct nytp_arena {
    struct chunk *chunks;
};

struct nytp_arena *nytp_arena_new(void)
{
    return calloc(1, sizeof(struct nytp_arena));
}

void nytp_arena_free(struct nytp_arena *arena)
{
    if (arena == NULL)
        return;
    for (struct chunk *c = arena->chunks, *next; c != NULL; c = next) {
        next = c->next;
        free(c);
    }
    free(arena);
}

void *nytp_arena_alloc(struct nytp_arena *arena, size_t size)
{
    size = (size + 7) & ~(size_t)7;
    struct chunk *c = arena->chunks;
    if (c == NULL || c->size - c->used < size) {
        const size_t chunk_size = size > CHUNK_SIZE / 4 ? size : CHUNK_SIZE;
        struct chunk *fresh = malloc(sizeof *fresh + chunk_size);
        if (fresh == NULL)
            return NULL;
        *fresh = (struct chunk){.size = chunk_size};
        VALGRIND_MAKE_MEM_NOACCESS(fresh->bytes, chunk_size);
        if (chunk_size != CHUNK_SIZE && c != NULL) { /* keep filling the current chunk */
            fresh->next = c->next;
            c->next = fresh;
        } else {
            fresh->next = c;
            arena->chunks = fresh;
        }
        c = fresh;
    }
    void *at = (char *)c->bytes + c->used;
    c->used += size;
    VALGRIND_MAKE_MEM_UNDEFINED(at, size);
    return at;
}

bool nytp_reserve(void *array_ptr, uint32_t *capacity, uint64_t needed, size_t element_size)
{
    if (needed <= *capacity)
        return true;
    uint64_t wanted = *capacity == 0 ? 16 : (uint64_t)*capacity * 2;
    if (wanted < needed)
        wanted = needed;
    if (wanted > UINT32_MAX || wanted > SIZE_MAX / element_size)
        return false;
    void *old;
    memcpy(&old, array_ptr, sizeof old);
    void *grown = realloc(old, (size_t)wanted * element_size);
    if (grown == NULL)
        return false;
    memcpy(array_ptr, &grown, sizeof grown);
    *capacity = (uint32_t)wanted;
    return true;
}

bool nytp_reserve_zeroed(void *array_ptr, uint32_t *capacity, uint64_t needed,
                         size_t element_size)
{
    const uint32_t had = *capacity;
    if (needed <= had)
        return true;
    if (!nytp_reserve(array_ptr, capacity, needed, element_size))
        return false;
    char *array;
    memcpy(&array, array_ptr, sizeof array);
    memset(array + had * element_size, 0, (*capacity - had) * element_size);
    return true;
}
