/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The table of recent calls; see site_cache.h.
 */
#include "site_cache.h"

#include <sys/mman.h>

static const size_t size_of_table = NYTP_SITE_CACHE_SIZE * sizeof(struct nytp_cached_site);

void *nytp_pages_new(size_t size)
{
    void *const pages =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

bool nytp_site_cache_begin(struct nytp_recorder *rec)
{
    if (rec->cache.sites == NULL)
        rec->cache.sites = nytp_pages_new(size_of_table);
    return rec->cache.sites != NULL;
}

void nytp_site_cache_free(struct nytp_recorder *rec)
{
    if (rec->cache.sites != NULL)
        munmap(rec->cache.sites, size_of_table);
}
