/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The places of statements; see places.h.
 */
#include "places.h"

#include "XS/names/files.h"

#include <sys/mman.h>

static const size_t size_of_table = NYTP_ALL_PLACES * sizeof(struct nytp_place);

/* Page-aligned, so that no entry crosses a cache line. */
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

/* Moves the running statement's place out of its slot. */
static void keep_running(struct nytp_recorder *rec)
{
    rec->places[NYTP_PLACE_RUNNING] = *rec->running_place;
    rec->running_place = &rec->places[NYTP_PLACE_RUNNING];
}

void nytp_places_begin_file(struct nytp_recorder *rec)
{
    if (rec->generation == 1)
        return; /* its pages are untouched */
    if (rec->running_place != NULL)
        keep_running(rec);
    Zero(rec->places, NYTP_PLACE_RUNNING, struct nytp_place);
    rec->site_cache_version++;
}

void nytp_place_pause(struct nytp_recorder *rec)
{
    nytp_place_forget_paused(rec);
    if (rec->running_place != NULL)
        rec->places[NYTP_PLACE_PAUSED] = *rec->running_place;
}

const struct nytp_place *nytp_place_paused(const struct nytp_recorder *rec)
{
    const struct nytp_place *const paused = &rec->places[NYTP_PLACE_PAUSED];
    return paused->fid == 0 ? NULL : paused;
}

void nytp_place_forget_paused(struct nytp_recorder *rec)
{
    rec->places[NYTP_PLACE_PAUSED].fid = 0;
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
        slot = &rec->places[NYTP_PLACE_COMPILED];
    dSAVE_ERRNO;
    nytp_excluded_time_begin(rec);
    if (slot == rec->running_place)
        keep_running(rec);
    slot->fid = nytp_file_fid(aTHX_ rec, nytp_file_of(aTHX_ rec, cop), via);
    slot->line = CopLINE(cop);
    slot->encoded = nytp_encode_place(slot->fid, nytp_line_of_stmt(slot->line));
    slot->seq = cop->cop_seq;
    slot->cop = cop == &PL_compiling ? NULL : cop;
    nytp_excluded_time_end(rec);
    RESTORE_ERRNO;
    return slot;
}
