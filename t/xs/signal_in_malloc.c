/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * For LD_PRELOAD: an allocator in which a signal ends the program, while it gets a block of 5
 * MB or more. Who allocates or frees anything in the handler would wait for the allocator's
 * lock; here it says so. Nothing is ever freed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROOM     ((size_t)1 << 28)
#define LARGE    5000000
#define LEAST    16
#define EXPORTED __attribute__((visibility("default")))

static _Atomic(char *) arena;
static atomic_size_t used;
static _Thread_local volatile sig_atomic_t is_inside __attribute__((tls_model("initial-exec")));

static void check(const char *what)
{
    if (is_inside && write(STDERR_FILENO, what, strlen(what)) < 0)
        _exit(9);
}

static char *room(void)
{
    char *at = atomic_load(&arena), *none = NULL;
    if (at != NULL)
        return at;
    at = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
              -1, 0);
    if (!atomic_compare_exchange_strong(&arena, &none, at)) /* another thread was first */
        munmap(at, ROOM);
    return atomic_load(&arena);
}

/* The block's size lies before it. */
static void *block_of(size_t size, size_t alignment)
{
    const size_t align = alignment < LEAST ? LEAST : alignment;
    if (size > ROOM / 2 || align > ROOM / 2) {
        errno = ENOMEM;
        return NULL;
    }
    const size_t at = atomic_fetch_add(&used, LEAST + align + size);
    char *const begin = room();
    if (at + LEAST + align + size > ROOM) {
        errno = ENOMEM;
        return NULL;
    }
    char *const block = (char *)(((uintptr_t)(begin + at) + LEAST + align - 1) / align * align);
    memcpy(block - LEAST, &size, sizeof size);
    if (size >= LARGE && !is_inside) {
        is_inside = 1;
        raise(SIGTERM);
        is_inside = 0;
    }
    return block;
}

static size_t size_of(const void *block)
{
    size_t size;
    memcpy(&size, (const char *)block - LEAST, sizeof size);
    return size;
}

EXPORTED void *malloc(size_t size)
{
    check("malloc() in the signal\n");
    return block_of(size, LEAST);
}

EXPORTED void free(void *block)
{
    if (block != NULL)
        check("free() in the signal\n");
}

EXPORTED void *calloc(size_t n, size_t size)
{
    check("calloc() in the signal\n");
    if (n != 0 && size > SIZE_MAX / n) {
        errno = ENOMEM;
        return NULL;
    }
    return block_of(n * size, LEAST); /* new pages are zero */
}

EXPORTED void *realloc(void *block, size_t size)
{
    check("realloc() in the signal\n");
    void *const moved = block_of(size, LEAST);
    const size_t before = block == NULL ? 0 : size_of(block);
    if (moved != NULL && block != NULL)
        memcpy(moved, block, before < size ? before : size);
    return moved;
}

EXPORTED void *aligned_alloc(size_t alignment, size_t size)
{
    return block_of(size, alignment);
}

EXPORTED void *memalign(size_t alignment, size_t size)
{
    return block_of(size, alignment);
}

EXPORTED int posix_memalign(void **block, size_t alignment, size_t size)
{
    *block = block_of(size, alignment);
    return *block == NULL ? ENOMEM : 0;
}

EXPORTED size_t malloc_usable_size(void *block)
{
    return block == NULL ? 0 : size_of(block);
}
