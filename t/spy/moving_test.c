/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A program that goes on while it is looked at: tables that it makes anew at that very moment,
 * and objects of which some are not in their place yet.
 */
#include "spy/perl/attach.h"

#include "t/spy/fake_memory.h"
#include "t/tap.h"

#include <stdlib.h>

enum {
    STRTAB = BASE + 0x10000, /* what lies in 64 kB of its own is read by itself */
    TABLE = BASE + 0x20000,
    NEW_TABLE = BASE + 0x30000,
    ELEMENTS = BASE + 0x40000,
    LONG_ELEMENTS = BASE + 0x50000,
    ARENA = BASE + 0x60000,
    BODY = BASE + 0x70000,
    LIST = BASE + 0x80000, /* a hash or an array, that has the object */
    OLD_PLACE = BASE + 0x90000,
    NEW_PLACE = BASE + 0xa0000,
    OBJECT = BASE + 0xb0000,
    MAIN = BASE + 0xc0000,
    NAMES = BASE + 0xd0000,
    VARIABLES = BASE + 0xe0000,
    INTERPRETER = BASE + 0xf0000,
    EMPTY = BASE + 0x100000, /* buckets, up to the end */
    N_BUCKETS = 64,
    KEY_LEN = 10,
    N_OBJECTS = 1001,
    N_ROOM = 1000, /* elements of LIST */
};

static uint64_t moves_at; /* when this is read, `move` is done, once */
static void (*move)(void);
static uint64_t n_reads;

static void note_read(uint64_t from, size_t len)
{
    n_reads++;
    if (move == NULL || moves_at < from || moves_at - from >= len)
        return;
    void (*const what)(void) = move;
    move = NULL;
    what();
}

/* ---- keys of hashes ---- */

/* A bucket with one key, whose hash belongs there. */
static void put_key(uint64_t table, uint64_t bucket, uint64_t element, uint32_t len,
                    uint64_t hash)
{
    put_u64(table, (int32_t)bucket * 8, element);
    put_u64(element, layout->he_hek, element + 64);
    put(element + 64, 0, hash, 4);
    put(element + 64, layout->hek_len, len, 4);
}

static void put_table(uint64_t table, uint64_t elements, uint32_t len)
{
    for (uint64_t i = 0; i < N_BUCKETS; i++)
        put_key(table, i, elements + i * 128, len, i + N_BUCKETS * 3);
}

static void make_table_anew(void)
{
    put_u64(STRTAB, layout->sv_u, NEW_TABLE);
    put_table(TABLE, LONG_ELEMENTS, 60000);
}

static uint64_t counted_keys(struct nytp_perl *perl)
{
    struct nytp_census census;
    take_census(&census, perl, NYTP_PL_strtab, VARIABLES, STRTAB);
    const uint64_t fixed = (uint64_t)(layout->he_size + layout->hek_key + 2);
    const uint64_t len = census.key_bytes - N_BUCKETS * fixed - (N_BUCKETS - 1) * 8;
    nytp_census_free(&census);
    return len;
}

static void test_keys(struct nytp_perl *perl)
{
    put_hash(STRTAB, TABLE, N_BUCKETS);
    put_u64(STRTAB + 64, layout->hv_keys, N_BUCKETS);
    put_table(TABLE, ELEMENTS, KEY_LEN);
    put_table(NEW_TABLE, ELEMENTS, KEY_LEN);
    ok(counted_keys(perl) == N_BUCKETS * KEY_LEN, "keys of hashes have their length");
    put_key(TABLE, 5, LONG_ELEMENTS + 5 * 128, 60000, 6);
    ok(counted_keys(perl) == N_BUCKETS * KEY_LEN, "a key of another bucket does not count");
    put_key(TABLE, 7, LONG_ELEMENTS + 7 * 128, INT32_MAX, 7);
    ok(counted_keys(perl) == N_BUCKETS * KEY_LEN, "nor does one of two gigabytes");
    moves_at = TABLE;
    move = make_table_anew;
    ok(counted_keys(perl) == N_BUCKETS * KEY_LEN && move == NULL,
       "a table that is made anew meanwhile is looked at once more");
}

/* ---- objects ---- */

static void test_examples(struct nytp_perl *perl)
{
    struct nytp_census census;
    const uint64_t size = (uint64_t)layout->sv_size;
    put(ARENA, layout->sv_refcnt, N_OBJECTS + 1, 4);
    for (uint64_t i = 1; i <= N_OBJECTS; i++) {
        put_u64(ARENA + i * size, layout->sv_any, BODY);
        put(ARENA + i * size, layout->sv_flags,
            (uint64_t)layout->svt_PVMG | (uint32_t)layout->svs_object, 4);
    }
    ok(take_census(&census, perl, NYTP_PL_sv_arenaroot, VARIABLES, ARENA) &&
           census.n_rows == 1 && census.rows[0].n == N_OBJECTS,
       "objects are counted");
    const struct nytp_census_row *const row = &census.rows[0];
    bool are_spread = row->n_examples > NYTP_EXAMPLES / 2 && row->stride == 128;
    for (uint32_t i = 0; i < row->n_examples; i++)
        are_spread &= row->examples[i] == ARENA + (1 + i * row->stride) * size;
    ok(are_spread, "examples are spread over all of them");
    nytp_census_free(&census);
}

/* The main program's variable $x is LIST. */
static void put_main_program(void)
{
    const uint64_t list = MAIN + 0x1000, pads = MAIN + 0x2000, pad = MAIN + 0x3000;
    const uint64_t names = NAMES + 0x100, name_of_x = NAMES + 0x200, x = NAMES + 0x300;
    put_u64(put_value(MAIN, layout->svt_PVCV, 0), layout->cv_padlist, list);
    put_u64(list, layout->padlist_array, pads);
    put_u64(list, layout->padlist_max, 1);
    put_u64(pads, 0, names);
    put_u64(pads, 8, pad);
    put_array(pad, pad + 0x200, 2);
    put_u64(pad + 0x200, 8, LIST);
    put_u64(names, layout->padnames_array, NAMES);
    put_u64(names, layout->padnames_fill, 1);
    put_u64(NAMES, 8, name_of_x);
    put_u64(name_of_x, layout->padname_pv, x);
    put(x, 0, '$' | 'x' << 8, 3);
    put_value(OBJECT, layout->svt_PVMG, 0);
}

static void leave_old_place(void)
{
    put_u64(LIST, layout->sv_u, NEW_PLACE);
    memset(bytes + (OLD_PLACE - BASE), 0, (size_t)N_ROOM * 8);
}

static void test_holder(struct nytp_perl *perl, const char *expected, const char *name)
{
    struct nytp_census_row row = {
        .type = "scalar", .class = 1, .n = 100, .examples = {8, OBJECT}, .n_examples = 2};
    struct nytp_census wanted = {.strings = nytp_strings_new(), .rows = &row, .n_rows = 1};
    struct nytp_interpreter of = {.at = {0}};
    put_u64(VARIABLES, 0, MAIN);
    of.at[NYTP_PL_main_cv] = VARIABLES;
    nytp_find_holders(&wanted, perl, &of, 1, NULL);
    is_text(nytp_strings_get(wanted.strings, row.holder).ptr, expected, name);
    nytp_strings_free(wanted.strings);
}

static void test_holders(struct nytp_perl *perl)
{
    const uint64_t element = OBJECT + 0x1000;
    put_main_program();
    put_u64(element, layout->he_val, OBJECT);
    put_hash(LIST, OLD_PLACE, N_ROOM);
    put_u64(OLD_PLACE, 0, BASE + LEN); /* freed: nothing is there */
    put_u64(OLD_PLACE, 8, element);
    put_u64(NEW_PLACE, 8, element);
    test_holder(perl, "my $x{...} in the main program",
                "buckets behind one whose element is gone are looked at");
    moves_at = OLD_PLACE;
    move = leave_old_place;
    test_holder(perl, "my $x{...} in the main program",
                "a hash that is made larger meanwhile is looked at once more");
    put_array(LIST, OLD_PLACE, N_ROOM);
    put_u64(OLD_PLACE, 8, OBJECT);
    put_u64(NEW_PLACE, 8, OBJECT);
    move = leave_old_place;
    test_holder(perl, "my $x[...] in the main program", "so is an array");
}

/* ---- threads ---- */

/* A hash of a million empty buckets, in which perl's threads are looked for five times a
 * second. */
static void test_threads(struct nytp_perl *perl)
{
    struct nytp_target target = {.pid = 1};
    perl->target = &target;
    perl->curinterp = VARIABLES;
    put_u64(VARIABLES, 0, INTERPRETER);
    put_u64(INTERPRETER, layout->variables[NYTP_PL_modglobal], LIST);
    put_hash(LIST, EMPTY, 1 << 20);
    n_reads = 0;
    ok(!nytp_find_interpreters(perl) && n_reads > 50000 && n_reads <= 60000,
       "threads are not looked for without end");
    n_reads = 0;
    ok(!nytp_find_interpreters(perl) && n_reads == 0, "nor again");
    free(perl->interpreters);
}

int main(void)
{
    struct nytp_memory memory = {.read = read_bytes, .fd = -1};
    struct nytp_perl perl = {.memory = &memory};
    if (!take_layout(&perl))
        return 1;
    before_read = note_read;
    test_keys(&perl);
    test_examples(&perl);
    test_holders(&perl);
    test_threads(&perl);
    return done_testing();
}
