/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The allocator behind ours. It is found by dlsym(), which may itself allocate. Blocks
 * allocated before it is found are in a buffer and stay there.
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

/* All of these may be called at any time. */
extern struct nytp_next nytp_next NYTP_OWN;

#define NYTP_EARLY_SIZE 16384
extern char nytp_early[NYTP_EARLY_SIZE] NYTP_OWN;

/* Returns true if the block is in the buffer. The filter holds all such blocks. */
static inline bool nytp_is_early(const void *block)
{
    return (uintptr_t)block - (uintptr_t)nytp_early < NYTP_EARLY_SIZE;
}

/* Copies a block of the buffer to memory of the next allocator, resized as by realloc(). */
void *nytp_early_realloc(void *block, size_t size);

#endif
