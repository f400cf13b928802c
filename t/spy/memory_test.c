/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * How memory is read: addresses at either end, how much reading may take, and where no room is
 * to remember what was read.
 */
#include "spy/perl/stack.h"
#include "spy/perl/walker.h"
#include "spy/target/memory.h"

#include "t/tap.h"

#include <sys/resource.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    CALLS = 100,
};

/* Each byte is the lowest of its address; nothing is in the first page or behind the last
 * address. */
static size_t read_addresses(struct nytp_memory *memory, const struct nytp_piece *pieces,
                             size_t n)
{
    (void)memory;
    for (size_t i = 0; i < n; i++) {
        if (pieces[i].from < PAGE || pieces[i].len - 1 > UINT64_MAX - pieces[i].from)
            return i;
        for (size_t k = 0; k < pieces[i].len; k++)
            ((uint8_t *)pieces[i].to)[k] = (uint8_t)(pieces[i].from + k);
    }
    return n;
}

static void test_kept_pages(struct nytp_memory *memory)
{
    uint8_t byte;
    struct nytp_memory *const kept = nytp_memory_cached(memory);
    ok(!nytp_memory_read(kept, 8, &byte, 1), "nothing is at address 8 of kept pages");
    ok(nytp_memory_read(kept, 5 * PAGE + 7, &byte, 1) && byte == 7, "a page is read and kept");
    nytp_memory_cached_free(kept);
}

static void test_last_addresses(struct nytp_memory *memory)
{
    uint8_t to[2][8] = {{0}};
    const struct nytp_piece behind[] = {{UINT64_MAX - 1000, to[0], 8},
                                        {UINT64_MAX - 3, to[1], 8}};
    const struct nytp_piece before[] = {{UINT64_MAX - 1000, to[0], 8},
                                        {UINT64_MAX - 8, to[1], 8}};
    ok(nytp_memory_scattered(memory, behind, 2) == 1,
       "a piece that goes on behind the last address is none");
    ok(nytp_memory_scattered(memory, before, 2) == 2 && to[1][0] == 0xf7 && to[1][7] == 0xfe,
       "one right before it is read");
}

/* How many calls of the system one byte each are made until reading fails. */
static void test_bound(struct nytp_memory *memory, const char *name)
{
    uint64_t work = CALLS * 1100;
    char byte;
    nytp_memory_bound(memory, &work);
    for (int i = 0; i < CALLS * 3; i++)
        nytp_memory_read(memory, (uint64_t)(uintptr_t)&work, &byte, 1);
    ok(nytp_memory_is_spent(memory) && memory->n_calls == CALLS - 1, name);
    nytp_memory_unbound(memory, &work);
    ok(nytp_memory_read(memory, (uint64_t)(uintptr_t)&work, &byte, 1) &&
           memory->n_calls == CALLS,
       "and goes on without that bound");
}

static void test_memory_is_out(void)
{
    static struct nytp_names names;
    static struct nytp_walker walker;
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    setrlimit(RLIMIT_AS, &(struct rlimit){1, limit.rlim_max});
    const bool is_begun = nytp_walker_init(&walker, &names, &(struct nytp_interpreter){0});
    setrlimit(RLIMIT_AS, &limit);
    ok(!is_begun, "no room to remember calls is told");
    nytp_walker_free(&walker);
}

int main(void)
{
    struct nytp_memory memory = {.read = read_addresses, .fd = -1};
    test_memory_is_out();
    test_kept_pages(&memory);
    test_last_addresses(&memory);
    nytp_memory_of_process(&memory, getpid());
    test_bound(&memory, "reading a process ends with the work that it may take");
    nytp_memory_of_process(&memory, getpid());
    if (nytp_memory_by_file(&memory))
        test_bound(&memory, "so does reading it as a file");
    nytp_memory_close(&memory);
    return done_testing();
}
