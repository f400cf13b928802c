/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The set of sampled addresses, with addresses that share the hash or the list of one another
 * and of no block at all: free(NULL) and realloc(NULL, size) look for that one.
 */
#include "malloc/addresses.c"
#include "t/tap.h"

#include <stdlib.h>

struct nytp_next nytp_next = {.malloc = malloc};

/* The n-th address, from 1 up, whose hash has none of these bits. */
static const void *address_without(uint32_t bits, int n)
{
    uintptr_t address = 0;
    while (n > 0)
        if ((nytp_address_hash((const void *)(address += 16)) & bits) == 0)
            n--;
    return (const void *)address;
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
    const uint32_t list = (N_LISTS - 1) << 15, counted = NYTP_ADDRESS_COUNTS - 1;
    const void *const first = address_without(list, 1), *const second =
                                                            address_without(list, 2);
    ok(list_of(nytp_address_hash(NULL)) == list_of(nytp_address_hash(first)) && first != second,
       "two addresses in the list of NULL");
    ok(nytp_address_put(first, sample(a)) && nytp_address_put(second, sample(b)), "put");
    ok(nytp_address_take(first) == sample(a), "taken");
    ok(nytp_address_take(first) == NULL, "and gone");

    const void *const third = address_without(counted, 1);
    ok(nytp_address_put(third, sample(b)) && nytp_address_may_be_there(NULL),
       "one that counts where NULL would");
    ok(nytp_address_take(NULL) == NULL, "NULL is never there, also beside a free entry");
    ok(nytp_address_take(second) == sample(b), "the second is still there");
    ok(nytp_address_put(first, sample(b)), "an entry is used again");
    nytp_addresses_clear(cleared);
    ok(n_cleared == 2 && nytp_address_take(first) == NULL && nytp_address_take(third) == NULL &&
           !nytp_address_may_be_there(NULL),
       "cleared: each is handed over once");
    return done_testing();
}
