/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The allocator behind ours. It is found by dlsym(), which may allocate itself: what is asked
 * for before it is found comes from a buffer and stays there.
 */
#ifndef NYTP_MALLOC_NEXT_H
#define NYTP_MALLOC_NEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Not to be looked up: what the compiler knows when it is told that nobody else defines it. */
#define NYTP_OWN __attribute__((visibility("hidden")))

struct nytp_next {
    void *(*malloc)(size_t size);
    void *(*calloc)(size_t n, size_t size);
    void *(*realloc)(void *block, size_t size);
    void (*free)(void *block);
    int (*posix_memalign)(void **block, size_t alignment, size_t size);
    void *(*aligned_alloc)(size_t alignment, size_t size);
    void *(*memalign)(size_t alignment, size_t size);
};

/* Each may be called at any time. */
extern struct nytp_next nytp_next NYTP_OWN;

/* 0: calls of the program go straight on. Up by one for each queue that is open, and for a
 * buffer from which something was taken: then blocks are looked at before they are freed. */
extern _Atomic int nytp_watchers NYTP_OWN;

#define NYTP_EARLY_SIZE 16384
extern char nytp_early[NYTP_EARLY_SIZE] NYTP_OWN;

/* The block is in the buffer. */
static inline bool nytp_is_early(const void *block)
{
    return (uintptr_t)block - (uintptr_t)nytp_early < NYTP_EARLY_SIZE;
}

/* A copy in memory of the next allocator, which grows or shrinks as realloc() would do it. */
void *nytp_early_realloc(void *block, size_t size);

#endif
