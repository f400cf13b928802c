/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Memory that cannot be perl's, such as a damaged core file has: lists in a circle, and arrays
 * that are longer than all memory or lie one over the other. The census and the search for
 * holders end with what can be read; an alarm ends this program where they go on and on.
 */
#include "spy/perl/moment.h"

#include "t/spy/fake_memory.h"
#include "t/tap.h"

#include <stdlib.h>
#include <unistd.h>

enum {
    PATIENCE = 100, /* seconds, of which a thousandth is enough */
    ARENA = BASE,
    ARENA_SLOTS = 1000,
    STASH = BASE + 0x40000, /* values: a head, a body and what that leads to */
    MAIN = BASE + 0x50000,
    NAMES = BASE + 0x60000,
    OPS = BASE + 0x70000,
    LIST = BASE + 0x100000,   /* of addresses of the arrays */
    ARRAYS = BASE + 0x800000, /* up to the end but for the variables */
    N_ARRAYS = (0x800000 - 4096) / 128,
    VARIABLES = BASE + LEN - 4096,
    NOWHERE = BASE + LEN + 0x10000,
};

static void test_arenas_in_a_circle(struct nytp_perl *perl)
{
    struct nytp_census counted;
    put_u64(ARENA, layout->sv_any, ARENA);
    put(ARENA, layout->sv_refcnt, ARENA_SLOTS, 4);
    ok(take_census(&counted, perl, NYTP_PL_sv_arenaroot, VARIABLES, ARENA) &&
           counted.n <= 2 * ARENA_SLOTS,
       "arenas in a circle");
    nytp_census_free(&counted);
}

static void test_a_hash(struct nytp_perl *perl, uint64_t buckets, uint64_t n, uint64_t most,
                        const char *name)
{
    struct nytp_reader reader = {.perl = perl, .layout = layout};
    struct nytp_elements elements;
    uint64_t hek, value, seen = 0;
    put_hash(STASH, buckets, n);
    const uint64_t n_rounds = (uint64_t)rounds(1000);
    for (uint64_t i = 0; i < n_rounds; i++)
        for (nytp_elements_begin(&elements, &reader, STASH);
             nytp_elements_next(&elements, &hek, &value);)
            seen++;
    ok(seen <= n_rounds * most, name);
}

/* Whether the search ends where all pads of the main program are `pad`, of one variable $x. */
static void test_pads(struct nytp_perl *perl, uint64_t pad, const char *name)
{
    struct nytp_census_row row = {
        .type = "hash", .class = 1, .n = 100, .examples = {8}, .n_examples = 1};
    struct nytp_census wanted = {.strings = nytp_strings_new(), .rows = &row, .n_rows = 1};
    struct nytp_interpreter of = {.at = {0}};
    const uint64_t list = MAIN + 0x1000, pads = MAIN + 0x2000;
    const uint64_t names = NAMES + 0x100, name_of_x = NAMES + 0x200, x = NAMES + 0x300;
    put_u64(put_value(MAIN, layout->svt_PVCV, 0), layout->cv_padlist, list);
    put_u64(list, layout->padlist_array, pads);
    put_u64(list, layout->padlist_max, 100);
    put_u64(pads, 0, names);
    for (int32_t i = 1; i <= 100; i++)
        put_u64(pads, i * 8, pad);
    put_u64(names, layout->padnames_array, NAMES);
    put_u64(NAMES, 0, name_of_x);
    put_u64(name_of_x, layout->padname_pv, x);
    put(x, 0, '$' | 'x' << 8, 3);
    put_u64(VARIABLES, 0, MAIN);
    of.at[NYTP_PL_main_cv] = VARIABLES;
    ok(nytp_find_holders(&wanted, perl, &of, 1, NULL) && row.holder == 0, name);
    nytp_strings_free(wanted.strings);
}

/* Arrays whose elements are all bytes of all of them, and one that has them all. */
static void put_arrays_of_everything(void)
{
    const uint64_t n = is_slow() ? 300 : N_ARRAYS;
    for (uint64_t i = 0; i < n; i++) {
        put_array(ARRAYS + i * 128, ARRAYS, n * 16);
        put_u64(LIST, (int32_t)i * 8, ARRAYS + i * 128);
    }
    put_array(STASH, LIST, n);
    put_u64(STASH, 0x100, STASH);
    put_array(STASH + 0x200, STASH + 0x100, 1);
}

/* The memory of a call's op is something else's by now: a child is its own next one. */
static void test_children_in_a_circle(struct nytp_perl *perl)
{
    static struct nytp_names names;
    static struct nytp_walker walker;
    const uint64_t call = OPS, child = OPS + 0x100;
    const struct nytp_spied_moment moment = {.op = call, .curcop = OPS + 0x200};
    const unsigned type = (unsigned)layout->op_entersub;
    nytp_name_cache_init(&names, perl);
    walker.names = &names;
    put(call, layout->op_type, type, 4);
    put_u64(call, layout->op_type + 8, child);
    put(child, layout->op_type, 1 << 14, 4); /* op_moresib */
    put_u64(child, layout->op_next + 8, child);
    ok(nytp_op_type_at(&walker, &moment) == type && nytp_callee_of(&walker, &moment, true) == 0,
       "children of a call in a circle");
    nytp_name_cache_free(&names);
}

int main(void)
{
    struct nytp_memory memory = {.read = read_bytes, .fd = -1};
    struct nytp_perl perl = {.memory = &memory};
    if (!take_layout(&perl))
        return 1;
    alarm(PATIENCE);
    test_arenas_in_a_circle(&perl);
    test_a_hash(&perl, NOWHERE, 1 << 28, 0, "a hash whose buckets are not there");
    put_u64(ARRAYS, 0, ARRAYS + 8); /* an element, and it is its own successor */
    put_u64(ARRAYS + 8, 0, ARRAYS + 8);
    test_a_hash(&perl, ARRAYS, 1 << 28, 1000, "a chain in a circle");
    test_children_in_a_circle(&perl);
    put_array(STASH, NOWHERE, 1 << 26);
    test_pads(&perl, STASH, "pads that are not there");
    put_arrays_of_everything();
    test_pads(&perl, STASH + 0x200, "arrays that all lie over each other");
    return done_testing();
}
