/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * An allocator that calls itself by the names that everybody calls, as musl's does: its
 * calloc() calls malloc() and what aligns calls aligned_alloc(), which are libnytp-malloc.so's
 * when that stands in front. The rest is the C library's.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* By which this allocator is known. */
extern const int nytp_calls_malloc;
const int nytp_calls_malloc = 1;

void *calloc(size_t n, size_t size)
{
    if (n != 0 && size > SIZE_MAX / n) {
        errno = ENOMEM;
        return NULL;
    }
    void *const block = malloc(n * size);
    return block == NULL ? NULL : memset(block, 0, n * size);
}

void *memalign(size_t alignment, size_t size)
{
    return aligned_alloc(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    void *const aligned = aligned_alloc(alignment, size);
    if (aligned == NULL)
        return ENOMEM;
    *block = aligned;
    return 0;
}
