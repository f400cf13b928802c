/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The set of sampled addresses and its filter, with addresses that share the count or the list
 * of one another and of no block at all: free(NULL) and realloc(NULL, size) look for that one.
 */
#include "malloc/addresses.c"
#include "malloc/filter.c"
#include "t/tap.h"

#include <stdlib.h>

struct nytp_next nytp_next = {.malloc = malloc};

/* The n-th address, from 1 up, that stands in the list of NULL. */
static const void *address_in_list(int n)
{
    uintptr_t address = 0;
    while (n > 0)
        if (list_of((const void *)(address += 16)) == list_of(NULL))
            n--;
    return (const void *)address;
}

/* The n-th piece of memory, from 1 up, whose blocks count where NULL would. */
static const void *address_counted(uintptr_t n)
{
    return (const void *)(n * NYTP_FILTER_COUNTS * 256);
}

static struct nytp_sample *sample(char *name)
{
    return (struct nytp_sample *)name;
}

static int n_cleared;

static void cleared(struct nytp_sample *gone)
{
    n_cleared += *(char *)gone == 'b';
}

int main(void)
{
    char a[] = "a", b[] = "b";
    const void *const first = address_in_list(1), *const second = address_in_list(2);
    ok(nytp_address_put(first, sample(a)) && nytp_address_put(second, sample(b)), "put");
    ok(nytp_address_take(first) == sample(a), "taken");
    ok(nytp_address_take(first) == NULL, "and gone");

    const void *const third = address_counted(1);
    ok(!nytp_filter_may_hold(NULL) && nytp_address_put(third, sample(b)) &&
           nytp_filter_may_hold(NULL),
       "one that counts where NULL would");
    ok(nytp_address_take(NULL) == NULL, "NULL is never there, also beside a free entry");
    ok(nytp_address_take(second) == sample(b), "the second is still there");
    ok(nytp_address_put(first, sample(b)), "an entry is used again");
    nytp_addresses_clear(cleared);
    ok(n_cleared == 2 && nytp_address_take(first) == NULL && nytp_address_take(third) == NULL &&
           !nytp_filter_may_hold(NULL),
       "cleared: each is handed over once");

    for (int i = 0; i < 300; i++)
        nytp_filter_add(third);
    for (int i = 0; i < 300; i++)
        nytp_filter_remove(third);
    ok(nytp_filter_may_hold(third), "a count that was once full says no for nobody any more");
    return done_testing();
}
