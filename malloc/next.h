/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The allocator behind ours. It is found by dlsym(), which may allocate itself: what is asked
 * for before it is found comes from a buffer and stays there.
 */
#ifndef NYTP_MALLOC_NEXT_H
#define NYTP_MALLOC_NEXT_H

#include "filter.h"

#include <stddef.h>

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

#define NYTP_EARLY_SIZE 16384
extern char nytp_early[NYTP_EARLY_SIZE] NYTP_OWN;

/* The block is in the buffer. The filter holds all of them. */
static inline bool nytp_is_early(const void *block)
{
    return (uintptr_t)block - (uintptr_t)nytp_early < NYTP_EARLY_SIZE;
}

/* A copy in memory of the next allocator, which grows or shrinks as realloc() would do it. */
void *nytp_early_realloc(void *block, size_t size);

#endif
