/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The allocator behind ours; see next.h. Until it is found, nytp_next holds functions that
 * look for it and then call it. While they look, they allocate from the buffer.
 */
#define _GNU_SOURCE
#include "next.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

/* dlsym() of glibc up to 2.33 allocates 32 bytes to note an error; others nothing. */
_Alignas(64) char nytp_early[NYTP_EARLY_SIZE];
static size_t taken;
/* Volatile: glibc declares dlsym() as a leaf, so a compiler may think that it calls nothing here. */
static volatile bool looking;

/* The size precedes each block. Only the program's first thread, before main(), comes here. */
static void *take(size_t alignment, size_t size)
{
    if (alignment < 16)
        alignment = 16;
    if (alignment > 4096 || size > sizeof nytp_early)
        return NULL;
    const uintptr_t end = (uintptr_t)nytp_early + sizeof nytp_early;
    const uintptr_t at = ((uintptr_t)nytp_early + taken + sizeof size + alignment - 1) &
                         ~(uintptr_t)(alignment - 1);
    if (at > end || size > end - at)
        return NULL;
    taken = at + size - (uintptr_t)nytp_early;
    memcpy((char *)at - sizeof size, &size, sizeof size);
    nytp_filter_add((char *)at);
    return (char *)at;
}

void *nytp_early_realloc(void *block, size_t size)
{
    size_t old;
    memcpy(&old, (char *)block - sizeof old, sizeof old);
    void *const copy = nytp_next.malloc(size);
    if (copy != NULL)
        memcpy(copy, block, old < size ? old : size);
    return copy;
}

static void find(void);

static void *early_malloc(size_t size)
{
    find();
    return looking ? take(16, size) : nytp_next.malloc(size);
}

/* The buffer is zeroed, and no part of it is used twice. */
static void *early_calloc(size_t n, size_t size)
{
    find();
    if (!looking)
        return nytp_next.calloc(n, size);
    return n != 0 && size > SIZE_MAX / n ? NULL : take(16, n * size);
}

static void *early_realloc(void *block, size_t size)
{
    find();
    if (!looking)
        return nytp_next.realloc(block, size);
    return block == NULL ? take(16, size) : nytp_early_realloc(block, size);
}

static void early_free(void *block)
{
    find();
    if (!looking)
        nytp_next.free(block);
}

static int early_posix_memalign(void **block, size_t alignment, size_t size)
{
    find();
    if (!looking)
        return nytp_next.posix_memalign(block, alignment, size);
    void *const taken_block = take(alignment, size);
    if (taken_block == NULL)
        return ENOMEM;
    *block = taken_block;
    return 0;
}

static void *early_aligned_alloc(size_t alignment, size_t size)
{
    find();
    return looking ? take(alignment, size) : nytp_next.aligned_alloc(alignment, size);
}

static void *early_memalign(size_t alignment, size_t size)
{
    find();
    return looking ? take(alignment, size) : nytp_next.memalign(alignment, size);
}

struct nytp_next nytp_next = {
    .malloc = early_malloc,
    .calloc = early_calloc,
    .realloc = early_realloc,
    .free = early_free,
    .posix_memalign = early_posix_memalign,
    .aligned_alloc = early_aligned_alloc,
    .memalign = early_memalign,
};

/* If LD_PRELOAD puts the C library before us, none comes behind us: then it is the first one.
 * POSIX lets a function pointer fit into dlsym()'s result; C does not. */
static void look_up(void *function, const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL)
        found = dlsym(RTLD_DEFAULT, name);
    if (found != NULL)
        memcpy(function, &found, sizeof found);
}

/* At the first call, or else while the library is loaded. There is no other thread yet. */
__attribute__((constructor)) static void find(void)
{
    if (looking || nytp_next.malloc != early_malloc)
        return;
    looking = true;
    struct nytp_next found = nytp_next;
    look_up(&found.malloc, "malloc");
    look_up(&found.calloc, "calloc");
    look_up(&found.realloc, "realloc");
    look_up(&found.free, "free");
    look_up(&found.posix_memalign, "posix_memalign");
    look_up(&found.aligned_alloc, "aligned_alloc");
    look_up(&found.memalign, "memalign");
    nytp_next = found;
    looking = false;
}
