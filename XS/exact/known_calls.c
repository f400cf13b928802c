/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The table of recent calls; see known_calls.h.
 */
#include "known_calls.h"

#include <sys/mman.h>

static const size_t size_of_table = NYTP_KNOWN_CALLS * sizeof(struct nytp_known_call);

bool nytp_known_calls_begin(struct nytp_recorder *rec)
{
    if (rec->known_calls != NULL)
        return true;
    void *const pages =
        mmap(NULL, size_of_table, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return false;
    rec->known_calls = pages;
    return true;
}

void nytp_known_calls_free(struct nytp_recorder *rec)
{
    if (rec->known_calls != NULL)
        munmap(rec->known_calls, size_of_table);
}
