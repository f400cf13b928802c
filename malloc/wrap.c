/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * malloc() and its relatives, in front of those of the next allocator (next.h). While nobody
 * takes samples, each looks at one word and goes on. The others count down the bytes of their
 * thread, and look for what is freed among what was sampled.
 */
#define _GNU_SOURCE
#include "next.h"
#include "samples.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#define EXPORTED    __attribute__((visibility("default")))
#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

#define APART __attribute__((noinline))

static inline bool nobody_watches(void)
{
    return LIKELY(atomic_load_explicit(&nytp_watchers, memory_order_relaxed) == 0);
}

static inline void *made(void *block, size_t size)
{
    if (LIKELY(block != NULL) && UNLIKELY((nytp_bytes_left -= (int64_t)size) < 0))
        nytp_sample_made(block, size);
    return block;
}

/* What stands apart leaves the way past it without anything to save. */
static APART void *watched_malloc(size_t size)
{
    return made(nytp_next.malloc(size), size);
}

EXPORTED void *malloc(size_t size)
{
    return nobody_watches() ? nytp_next.malloc(size) : watched_malloc(size);
}

/* musl's allocator calls malloc(), which is ours, for these: no other block. */
static inline int64_t start_unseen(void)
{
    const int64_t left = nytp_bytes_left;
    nytp_bytes_left = INT64_MAX;
    return left;
}

static inline void *made_unseen(int64_t left, void *block, size_t size)
{
    nytp_bytes_left = left;
    return made(block, size);
}

static APART void *watched_calloc(size_t n, size_t size)
{
    const int64_t left = start_unseen();
    return made_unseen(left, nytp_next.calloc(n, size), n * size);
}

EXPORTED void *calloc(size_t n, size_t size)
{
    return nobody_watches() ? nytp_next.calloc(n, size) : watched_calloc(n, size);
}

static APART void watched_free(void *block)
{
    if (UNLIKELY(nytp_is_early(block)))
        return;
    struct nytp_sample *const sample = nytp_sample_of_freed(block);
    if (UNLIKELY(sample != NULL))
        nytp_sample_freed(sample);
    nytp_next.free(block);
}

EXPORTED void free(void *block)
{
    if (nobody_watches())
        nytp_next.free(block);
    else
        watched_free(block);
}

/* The old block is taken out before it is gone, for another thread may be given its address at
 * once. NULL for a size of 0 says that it was freed, for another that nothing was done. */
static APART void *watched_realloc(void *block, size_t size)
{
    if (UNLIKELY(nytp_is_early(block)))
        return nytp_early_realloc(block, size);
    struct nytp_sample *const sample = nytp_sample_of_freed(block);
    void *const moved = nytp_next.realloc(block, size);
    if (UNLIKELY(sample != NULL)) {
        if (moved == NULL && size != 0)
            nytp_sample_not_freed(block, sample);
        else
            nytp_sample_freed(sample);
    }
    return made(moved, size);
}

EXPORTED void *realloc(void *block, size_t size)
{
    return nobody_watches() ? nytp_next.realloc(block, size) : watched_realloc(block, size);
}

EXPORTED void *reallocarray(void *block, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, bytes);
}

static APART int watched_posix_memalign(void **block, size_t alignment, size_t size)
{
    const int64_t left = start_unseen();
    const int status = nytp_next.posix_memalign(block, alignment, size);
    made_unseen(left, status == 0 ? *block : NULL, size);
    return status;
}

EXPORTED int posix_memalign(void **block, size_t alignment, size_t size)
{
    return nobody_watches() ? nytp_next.posix_memalign(block, alignment, size)
                            : watched_posix_memalign(block, alignment, size);
}

static APART void *watched_aligned_alloc(size_t alignment, size_t size)
{
    const int64_t left = start_unseen();
    return made_unseen(left, nytp_next.aligned_alloc(alignment, size), size);
}

EXPORTED void *aligned_alloc(size_t alignment, size_t size)
{
    return nobody_watches() ? nytp_next.aligned_alloc(alignment, size)
                            : watched_aligned_alloc(alignment, size);
}

static APART void *watched_memalign(size_t alignment, size_t size)
{
    const int64_t left = start_unseen();
    return made_unseen(left, nytp_next.memalign(alignment, size), size);
}

EXPORTED void *memalign(size_t alignment, size_t size)
{
    return nobody_watches() ? nytp_next.memalign(alignment, size)
                            : watched_memalign(alignment, size);
}
