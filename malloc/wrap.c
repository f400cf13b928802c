/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * malloc() and its relatives, in front of those of the next allocator (next.h). Each
 * allocation counts down its thread's bytes; each free is tested by the filter. Nearly all
 * continue with a jump to the next allocator. The rare cases are in separate functions
 * (APART), so that the common path saves no registers.
 */
#define _GNU_SOURCE
#include "next.h"
#include "samples.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#define EXPORTED    __attribute__((visibility("default")))
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

#define APART __attribute__((noinline))

/* Returns true if the block reaches the next sample; else counts its bytes, even if the
 * allocation fails later. That is correct: the remaining distance always has the same
 * distribution. */
static inline bool is_sampled(size_t size)
{
    if (UNLIKELY(size >= nytp_bytes_to_sample))
        return true;
    nytp_bytes_to_sample -= size;
    return false;
}

static inline void *sampled(void *block, size_t size)
{
    if (block != NULL)
        nytp_sample_made(block, size);
    return block;
}

static APART void *sampled_malloc(size_t size)
{
    return sampled(nytp_next.malloc(size), size);
}

EXPORTED void *malloc(size_t size)
{
    return is_sampled(size) ? sampled_malloc(size) : nytp_next.malloc(size);
}

static APART void looked_at_free(void *block)
{
    if (nytp_is_early(block))
        return;
    struct nytp_sample *const sample = nytp_sample_of_freed(block);
    if (sample != NULL)
        nytp_sample_freed(sample);
    nytp_next.free(block);
}

EXPORTED void free(void *block)
{
    if (UNLIKELY(nytp_filter_may_hold(block)))
        looked_at_free(block);
    else
        nytp_next.free(block);
}

/* The old block is removed first, since another thread may get its address at once. NULL means
 * that the block was freed if size is 0, else that nothing was done. */
static APART void *looked_at_realloc(void *block, size_t size)
{
    if (nytp_is_early(block))
        return nytp_early_realloc(block, size);
    struct nytp_sample *const sample = nytp_sample_of_freed(block);
    void *const moved = nytp_next.realloc(block, size);
    if (sample != NULL) {
        if (moved == NULL && size != 0)
            nytp_sample_not_freed(block, sample);
        else
            nytp_sample_freed(sample);
    }
    return is_sampled(size) ? sampled(moved, size) : moved;
}

EXPORTED void *realloc(void *block, size_t size)
{
    if (UNLIKELY(nytp_filter_may_hold(block)) || is_sampled(size))
        return looked_at_realloc(block, size);
    return nytp_next.realloc(block, size);
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

/* musl implements these with malloc(), which is ours. That call must not be sampled again. */
static inline uint64_t start_unseen(void)
{
    const uint64_t to_sample = nytp_bytes_to_sample;
    nytp_bytes_to_sample = UINT64_MAX;
    return to_sample;
}

static inline void *made_unseen(uint64_t to_sample, void *block, size_t size)
{
    nytp_bytes_to_sample = to_sample;
    return is_sampled(size) ? sampled(block, size) : block;
}

EXPORTED void *calloc(size_t n, size_t size)
{
    const uint64_t to_sample = start_unseen();
    return made_unseen(to_sample, nytp_next.calloc(n, size), n * size);
}

EXPORTED int posix_memalign(void **block, size_t alignment, size_t size)
{
    const uint64_t to_sample = start_unseen();
    const int status = nytp_next.posix_memalign(block, alignment, size);
    made_unseen(to_sample, status == 0 ? *block : NULL, size);
    return status;
}

EXPORTED void *aligned_alloc(size_t alignment, size_t size)
{
    const uint64_t to_sample = start_unseen();
    return made_unseen(to_sample, nytp_next.aligned_alloc(alignment, size), size);
}

EXPORTED void *memalign(size_t alignment, size_t size)
{
    const uint64_t to_sample = start_unseen();
    return made_unseen(to_sample, nytp_next.memalign(alignment, size), size);
}
