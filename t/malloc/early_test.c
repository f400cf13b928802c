/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What is asked for while the next allocator is being looked for. This dlsym() asks for more
 * than any C library's. It has another name for the compiler, which must not see that dlsym(), a
 * leaf by its declaration, calls back.
 */
#include "malloc/filter.c"
#include "malloc/next.c"

#include "t/tap.h"

#include <stdlib.h>

static void *given[6];
static bool is_zero = true, is_aligned, too_much_is_none;

static void ask(void)
{
    given[0] = nytp_next.malloc(10);
    memset(given[0], 1, 10);
    given[1] = nytp_next.calloc(4, 25);
    for (int i = 0; i < 100; i++)
        is_zero = is_zero && ((char *)given[1])[i] == 0;
    strcpy(given[1], "kept");
    given[2] = nytp_next.memalign(256, 8);
    given[3] = nytp_next.aligned_alloc(64, 64);
    is_aligned = nytp_next.posix_memalign(&given[4], 128, 1) == 0 &&
                 (uintptr_t)given[2] % 256 == 0 && (uintptr_t)given[3] % 64 == 0 &&
                 (uintptr_t)given[4] % 128 == 0;
    given[5] = nytp_next.realloc(NULL, 30);
    nytp_next.free(given[5]);
    too_much_is_none = nytp_next.malloc(NYTP_EARLY_SIZE) == NULL &&
                       nytp_next.calloc(SIZE_MAX / 4 + 2, 4) == NULL &&
                       nytp_next.posix_memalign(&given[5], 65536, 1) == ENOMEM;
}

__asm__(".globl dlsym\n.set dlsym, answer");
static __attribute__((used)) void *answer(void *handle, const char *name)
{
    (void)handle;
    if (given[0] == NULL)
        ask();
    static void *(*const found)(size_t) = malloc;
    void *address = NULL;
    if (strcmp(name, "malloc") == 0)
        memcpy(&address, &found, sizeof address);
    return address;
}

int main(void)
{
    find();
    ok(given[0] != NULL, "it was asked for memory before it was found");
    ok(is_zero, "calloc() gives zeroes");
    ok(is_aligned, "alignments are kept");
    ok(too_much_is_none, "more than there is is none");
    bool early = true;
    for (int i = 0; i < 6; i++)
        early = early && nytp_is_early(given[i]) && nytp_filter_may_hold(given[i]);
    ok(early, "and its blocks are known");
    ok(nytp_next.malloc == malloc, "then it is found");
    char *const copy = nytp_early_realloc(given[1], 200);
    ok(!nytp_is_early(copy) && strcmp(copy, "kept") == 0, "what grows leaves the buffer");
    free(copy);
    return done_testing();
}
