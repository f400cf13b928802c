/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Which calls a time line keeps: what a list of sizes in the order of their rank says, whether
 * they are known all at once or come one by one.
 */
#include "formats/build/gather/span_budget.h"
#include "t/tap.h"

#include <stdlib.h>

#define MOST_CALLS 5000

struct call {
    uint64_t length;
    uint32_t depth, number;
};

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)(random_state >> 8) * n >> 24);
}

/* Lengths as in `kind`: few, so that most calls have the same as others; of every magnitude; or
 * growing, so that what was kept first goes later. */
static void make_calls(struct call *calls, uint32_t n, int kind)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t lengths[] = {random_below(5),
                                    ((uint64_t)random_below(1 << 20) << 43) >> random_below(63),
                                    random_below(100) + i / 2};
        calls[i] = (struct call){lengths[kind], random_below(4), i};
    }
}

static int by_rank(const void *x, const void *y)
{
    const struct call *a = x, *b = y;
    if (a->length != b->length)
        return a->length > b->length ? -1 : 1;
    if (a->depth != b->depth)
        return a->depth < b->depth ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

static int by_number(const void *x, const void *y)
{
    const struct call *a = x, *b = y;
    return a->number < b->number ? -1 : a->number > b->number;
}

static struct nytp_span_size size_of(const struct call *call)
{
    return (struct nytp_span_size){call->length, call->depth};
}

static uint32_t cut_calls(struct call *calls, uint32_t n, uint32_t most,
                          struct nytp_span_cut *cut)
{
    static struct nytp_span_size sizes[MOST_CALLS];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        sizes[i] = size_of(&calls[i]);
    if (!nytp_span_cut_find(cut, sizes, n, most))
        abort();
    for (uint32_t i = 0; i < n; i++)
        if (nytp_span_cut_keeps(cut, sizes[i]))
            calls[kept++] = calls[i];
    return kept;
}

/* As a time line does while its calls come: they are cut when there are twice as many. */
static uint32_t keep_one_by_one(const struct call *calls, uint32_t n, uint32_t most,
                                struct call *kept)
{
    struct nytp_span_cut cut = NYTP_NO_SPAN_CUT;
    uint32_t n_kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (nytp_span_cut_keeps(&cut, size_of(&calls[i])))
            kept[n_kept++] = calls[i];
        if (n_kept == 2 * most)
            n_kept = cut_calls(kept, n_kept, most, &cut);
    }
    return n_kept > most ? cut_calls(kept, n_kept, most, &cut) : n_kept;
}

static void test_kind(int kind, const char *name)
{
    static struct call calls[MOST_CALLS], ranked[MOST_CALLS], kept[MOST_CALLS];
    bool same = true;
    for (int round = 0; round < rounds(200); round++) {
        const uint32_t n = 2 + random_below(MOST_CALLS - 2);
        const uint32_t most = 1 + random_below(round % 2 == 0 ? n - 1 : 20);
        make_calls(calls, n, kind);
        memcpy(ranked, calls, n * sizeof *calls);
        qsort(ranked, n, sizeof *ranked, by_rank);
        const uint32_t n_kept = keep_one_by_one(calls, n, most, kept);
        const uint32_t wanted = most < n ? most : n;
        qsort(ranked, wanted, sizeof *ranked, by_number);
        same &= n_kept == wanted && memcmp(kept, ranked, wanted * sizeof *kept) == 0;
    }
    printf("%sok %d - %s: the first by rank stay, in their order\n", same ? "" : "not ",
           ++n_tests, name);
}

int main(void)
{
    test_kind(0, "few lengths");
    test_kind(1, "lengths of all magnitudes");
    test_kind(2, "growing lengths");
    return done_testing();
}
