/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The places of statements; see places.h.
 */
#include "places.h"

#include "XS/names/files.h"

#include <sys/mman.h>

/* Behind the last slot is one more, for the statement that is being compiled. */
static const size_t size_of_table = (NYTP_PLACES + 1) * sizeof(struct nytp_place);

/* In pages of its own, so that no entry lies across two lines of the processor's cache. */
bool nytp_places_begin(struct nytp_recorder *rec)
{
    if (rec->places != NULL)
        return true;
    void *const pages =
        mmap(NULL, size_of_table, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return false;
    rec->places = pages;
    return true;
}

void nytp_places_forget(struct nytp_recorder *rec)
{
    Zero(rec->places, NYTP_PLACES + 1, struct nytp_place);
}

void nytp_places_free(struct nytp_recorder *rec)
{
    if (rec->places != NULL)
        munmap(rec->places, size_of_table);
}

const struct nytp_place *nytp_place_fill(pTHX_ struct nytp_recorder *rec,
                                         struct nytp_place *slot, const COP *cop, uint32_t via)
{
    if (cop == &PL_compiling) /* one COP whose file and line change */
        slot = &rec->places[NYTP_PLACES];
    dSAVE_ERRNO;
    nytp_aside_begin(rec);
    slot->fid = nytp_file_fid(aTHX_ rec, nytp_file_named(aTHX_ rec, CopFILE(cop)), via);
    slot->line = CopLINE(cop);
    slot->encoded = nytp_encode_place(slot->fid, nytp_line_of_stmt(slot->line));
    slot->seq = cop->cop_seq;
    slot->cop = cop == &PL_compiling ? NULL : cop;
    nytp_aside_end(rec);
    RESTORE_ERRNO;
    return slot;
}
