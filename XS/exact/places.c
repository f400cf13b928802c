/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The places of statements; see places.h.
 */
#include "places.h"

#include "XS/names/files.h"
#include "site_cache.h"

#include <stdatomic.h>
#include <sys/mman.h>

static const size_t size_of_table = NYTP_ALL_PLACES * sizeof(struct nytp_place);

/* Interpreters share COPs but not the ids of files: one recorder of the process sets marks. */
static atomic_flag marks_are_taken = ATOMIC_FLAG_INIT;

/* Page-aligned, so that no entry crosses a cache line. */
bool nytp_places_begin(struct nytp_recorder *rec)
{
    if (rec->cache.places == NULL)
        rec->cache.places = nytp_pages_new(size_of_table);
    if (rec->cache.marked_files == NULL) {
        rec->cache.marked_files = calloc(NYTP_MARKS, sizeof *rec->cache.marked_files);
        rec->cache.marks_cops = !atomic_flag_test_and_set(&marks_are_taken);
    }
    return rec->cache.places != NULL && rec->cache.marked_files != NULL;
}

void nytp_place_mark(struct nytp_recorder *rec, const COP *cop, uint32_t fid)
{
    if (!NYTP_HAS_MARKS || fid >= NYTP_MARKS)
        return;
    const struct nytp_encoded_place encoded = nytp_encode_place(fid, 0);
    struct nytp_marked_file *const file = &rec->cache.marked_files[fid];
    memcpy(&file->bytes, encoded.bytes, sizeof file->bytes);
    file->bits = (uint16_t)(8 * (encoded.len - 1)); /* without the line */
    *nytp_mark_of(cop) = fid;
}

/* ---- counts=1 ---- */

enum {
    AT_ONCE = 256, /* executions between two looks at the clock */
    MOST_COUNTED = 1 << 30,
};

static void put_count(struct nytp_recorder *rec, struct nytp_place *place)
{
    const struct nytp_encoded_place encoded =
        nytp_encode_place(place->fid, nytp_line_of_stmt(place->line));
    nytp_write_times(rec->writer, &encoded, place->count.n - place->count.left);
    place->count.n = place->count.left = 0;
}

/* Empties the list, in order of the first executions. */
static void take_counts(struct nytp_recorder *rec, bool are_put)
{
    uint16_t at = rec->cache.first_counted;
    for (uint32_t n = rec->cache.n_counted; n > 0; n--) {
        struct nytp_place *const place = &rec->cache.places[at];
        at = place->count.next;
        if (are_put)
            put_count(rec, place);
        place->count = (struct nytp_place_count){0};
    }
    rec->cache.n_counted = 0;
}

void nytp_places_put_counts(struct nytp_recorder *rec)
{
    take_counts(rec, true);
}

void nytp_places_end_file(struct nytp_recorder *rec)
{
    take_counts(rec, true);
}

/* The parent records them. */
void nytp_places_fork(struct nytp_recorder *rec)
{
    take_counts(rec, false);
}

bool nytp_place_count_more(struct nytp_recorder *rec, struct nytp_place *place)
{
    const bool was_listed = place->count.is_listed;
    const uint16_t index = (uint16_t)(place - rec->cache.places);
    nytp_guard(rec);
    if (place->count.n > MOST_COUNTED) {
        place->count.left = 0;
        put_count(rec, place);
    }
    place->count.n += AT_ONCE;
    place->count.left = AT_ONCE - 1;
    if (!was_listed) {
        place->count.is_listed = true;
        if (rec->cache.n_counted++ == 0)
            rec->cache.first_counted = index;
        else
            rec->cache.places[rec->cache.last_counted].count.next = index;
        rec->cache.last_counted = index;
    }
    nytp_unguard(rec);
    return was_listed;
}

/* ---- the table ---- */

/* Moves the running statement's place out of its slot. */
static void keep_running(struct nytp_recorder *rec)
{
    nytp_places_put_counts(rec); /* the copy then starts without counts */
    rec->cache.places[NYTP_PLACE_RUNNING] = *rec->stmt.place;
    rec->stmt.place = &rec->cache.places[NYTP_PLACE_RUNNING];
}

void nytp_places_begin_file(struct nytp_recorder *rec)
{
    take_counts(rec, false); /* forget the counts of a file that could not be written */
    if (rec->run.generation == 1)
        return; /* its pages are untouched */
    if (rec->stmt.place != NULL)
        keep_running(rec);
    Zero(rec->cache.places, NYTP_PLACE_RUNNING, struct nytp_place);
    Zero(rec->cache.marked_files, NYTP_MARKS, struct nytp_marked_file);
    rec->cache.sites_version++;
}

void nytp_place_pause(struct nytp_recorder *rec)
{
    nytp_place_forget_paused(rec);
    nytp_places_put_counts(rec);
    if (rec->stmt.place != NULL)
        rec->cache.places[NYTP_PLACE_PAUSED] = *rec->stmt.place;
}

struct nytp_place *nytp_place_paused(const struct nytp_recorder *rec)
{
    struct nytp_place *const paused = &rec->cache.places[NYTP_PLACE_PAUSED];
    return paused->fid == 0 ? NULL : paused;
}

void nytp_place_forget_paused(struct nytp_recorder *rec)
{
    nytp_places_put_counts(rec);
    rec->cache.places[NYTP_PLACE_PAUSED].fid = 0;
}

void nytp_places_free(struct nytp_recorder *rec)
{
    if (rec->cache.places != NULL)
        munmap(rec->cache.places, size_of_table);
    free(rec->cache.marked_files);
}

static void use_pages(void *table, size_t size, size_t at)
{
    enum {
        PAGE = 4096
    };
    volatile char *const bytes = table;
    for (size_t page = 0; page < 3; page++)
        bytes[(at + size + page * PAGE - PAGE) % size] |= 0;
}

/* The kernel takes long over the first use of a page. So the pages of the tables where this
 * statement, its calls and its neighbours go are used while time is excluded. */
static void use_tables(struct nytp_recorder *rec, const struct nytp_place *slot, const COP *cop)
{
    if (rec->kind != NYTP_EXACT || rec->cache.sites == NULL)
        return;
    use_pages(rec->cache.places, size_of_table,
              (size_t)((const char *)slot - (const char *)rec->cache.places));
    use_pages(rec->cache.sites, NYTP_SITE_CACHE_SIZE * sizeof *rec->cache.sites,
              (PTR2UV(cop) >> 6) % NYTP_SITE_CACHE_SIZE * sizeof *rec->cache.sites);
}

struct nytp_place *nytp_place_fill(pTHX_ struct nytp_recorder *rec, struct nytp_place *slot,
                                   const COP *cop, uint32_t via)
{
    if (cop == &PL_compiling) /* one COP whose file and line change */
        slot = &rec->cache.places[NYTP_PLACE_COMPILED];
    dSAVE_ERRNO;
    nytp_excluded_time_begin(rec);
    if (slot == rec->stmt.place)
        keep_running(rec);
    else if (rec->on.counts)
        put_count(rec, slot); /* its file may be new: before its record */
    slot->fid = nytp_file_fid(aTHX_ rec, nytp_file_of(aTHX_ rec, cop), via);
    slot->line = CopLINE(cop);
    if (!rec->on.counts)
        slot->encoded = nytp_encode_place(slot->fid, nytp_line_of_stmt(slot->line));
    if (slot->cop == NULL && cop != &PL_compiling)
        use_tables(rec, slot, cop);
    if (rec->cache.marks_cops && rec->kind == NYTP_EXACT && cop != &PL_compiling)
        nytp_place_mark(rec, cop, slot->fid);
    slot->seq = cop->cop_seq;
    slot->cop = cop == &PL_compiling ? NULL : cop;
    nytp_excluded_time_end(rec);
    RESTORE_ERRNO;
    return slot;
}
