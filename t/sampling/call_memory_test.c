/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Memory of calls: the last call of each kind, and room for so many.
 */
#include "sampling/call_memory.h"

#include "t/tap.h"

#include <stdlib.h>

enum {
    STACK = 1000,
    OTHER_STACK,
};

static struct nytp_call_memory *memory;

static struct nytp_seen_call call_of(uint64_t pad, uint64_t caller, int32_t place)
{
    return (struct nytp_seen_call){.call = {.pad = pad,
                                            .stack = STACK,
                                            .code = pad + 1,
                                            .site = caller * 10 + (uint64_t)place,
                                            .place = place},
                                   .caller = caller,
                                   .caller_stack = STACK,
                                   .caller_place = 5};
}

static uint64_t site(const struct nytp_seen_call *seen)
{
    return seen == NULL ? 0 : seen->call.site;
}

static void remember(uint64_t pad, uint64_t caller, int32_t place)
{
    const struct nytp_seen_call seen = call_of(pad, caller, place);
    nytp_remember_call(memory, &seen);
}

static void test_keys(void)
{
    remember(8, 16, 6);
    remember(8, 24, 6);
    ok(site(nytp_seen_from(memory, 8, STACK, 16)) == 166 &&
           site(nytp_seen_from(memory, 8, STACK, 24)) == 246,
       "of one pad the last call from each caller");
    ok(site(nytp_seen_with(memory, 8, STACK)) == 246, "the last of all is the last");
    ok(nytp_seen_from(memory, 8, STACK, 32) == NULL &&
           nytp_seen_from(memory, 8, OTHER_STACK, 16) == NULL &&
           nytp_seen_with(memory, 8, OTHER_STACK) == NULL,
       "from no other caller, in no other stack");
    remember(8, 16, 7);
    ok(site(nytp_seen_above(memory, 8, STACK, 16, 1)) == 166 &&
           site(nytp_seen_above(memory, 8, STACK, 16, 2)) == 167 &&
           nytp_seen_above(memory, 8, STACK, 16, 3) == NULL &&
           nytp_seen_above(memory, 8, STACK, 32, 1) == NULL,
       "of one caller the last call so far above it");
    ok(site(nytp_seen_at(memory, 8, STACK, 6)) == 246 &&
           site(nytp_seen_at(memory, 8, STACK, 7)) == 167 &&
           nytp_seen_at(memory, 8, STACK, 8) == NULL,
       "the last call at each place");
    struct nytp_seen_call same = call_of(8, 16, 6);
    ok(nytp_seen_same(memory, &same) != NULL, "the very call is known again");
    same.call.site++;
    ok(nytp_seen_same(memory, &same) == NULL, "one from another statement is another");
}

static void test_room(void)
{
    uint32_t n = 0;
    for (uint64_t i = 1; i <= 1000; i++)
        remember(i * 64, 16, 6);
    for (uint64_t i = 1; i <= 1000; i++)
        n += site(nytp_seen_from(memory, i * 64, STACK, 16)) == 166;
    ok(n > 750, "three of four of a thousand calls are found by their caller");
    for (uint64_t i = 1001; i <= 1000000; i++)
        remember(i * 64, 16, 6);
    for (n = 0; n < 100; n++)
        remember(n * 64 + 64, 16, 6);
    ok(site(nytp_seen_from(memory, 6400, STACK, 16)) == 166,
       "after a million others a new call is found");
}

int main(void)
{
    memory = calloc(1, sizeof *memory);
    if (memory == NULL)
        return 1;
    test_keys();
    test_room();
    free(memory);
    return done_testing();
}
