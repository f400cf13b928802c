/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The places of statements: file id and line of a COP (perl's op for a statement).
 *
 * Every event needs one, so places are cached in a table by the COP's address. perl may free a
 * COP and reuse its address; the new one has another cop_seq.
 */
#ifndef NYTP_PLACES_H
#define NYTP_PLACES_H

#include "XS/state/state.h"

#include "XS/names/tables.h"

/* Extra slots behind the table: the statement being compiled, the running one if another took
 * its slot, and the one that stopped recording. */
#define NYTP_PLACES         16384
#define NYTP_PLACE_COMPILED (NYTP_PLACES + 0)
#define NYTP_PLACE_RUNNING  (NYTP_PLACES + 1)
#define NYTP_PLACE_PAUSED   (NYTP_PLACES + 2)
#define NYTP_ALL_PLACES     (NYTP_PLACES + 3)

/* A recorder marks COPs that have run with the ids of their files, if perl leaves room for that
 * (perl_compat.h). Threads share COPs but not ids, so their recorders use the table alone. */
#define NYTP_HAS_MARKS (NYTP_COP_HAS_ROOM && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
#define NYTP_MARKS     4096 /* a power of two; files with higher ids are not marked */

/* The id of a file as it is encoded: up to 16 bits, the first byte lowest. 0 bits: the open
 * profile does not know the file by a mark. */
struct nytp_marked_file {
    uint16_t bytes, bits;
};

#define NYTP_SAMPLED_PLACES 2048                       /* a power of two; the first slots */
#define NYTP_COP_SHIFT      (sizeof(COP) < 64 ? 5 : 6) /* 2 to this is at most sizeof(COP) */

/* Allocates rec->cache.places, needed before recording. Returns false if memory is out. */
bool nytp_places_begin(struct nytp_recorder *rec);

/* Finds a COP's place and stores it in `slot`, or in the extra slot if it is being compiled.
 * Records the file first if the profile does not know it; `via` as for nytp_file_fid(). */
struct nytp_place *nytp_place_fill(pTHX_ struct nytp_recorder *rec, struct nytp_place *slot,
                                   const COP *cop, uint32_t via) NYTP_COLD;

/* Allows more executions to be noted. Returns whether there were any before. */
bool nytp_place_count_more(struct nytp_recorder *rec, struct nytp_place *place) NYTP_COLD;

/* Records all executions so far: a TIME record without ticks for each. */
void nytp_places_put_counts(struct nytp_recorder *rec);

/* Returns the slot for a COP's address. COPs are at least a COP's size apart, so the lowest
 * address bits are dropped. */
static inline struct nytp_place *nytp_place_slot(const struct nytp_recorder *rec,
                                                 const COP *cop)
{
    const UV address = PTR2UV(cop);
    return &rec->cache.places[address >> NYTP_COP_SHIFT & (NYTP_PLACES - 1)];
}

/* The same for samples, which meet few statements: fewer pages cause fewer page faults. */
static inline struct nytp_place *nytp_sampled_place_slot(const struct nytp_recorder *rec,
                                                         const COP *cop)
{
    const UV address = PTR2UV(cop);
    return &rec->cache.places[address >> NYTP_COP_SHIFT & (NYTP_SAMPLED_PLACES - 1)];
}

/* Prefetches the slot. The table is larger than the nearest cache, and programs return to a
 * statement after many others. */
static inline void nytp_place_expect(const struct nytp_recorder *rec, const COP *cop)
{
    if (!NYTP_HAS_MARKS)
        __builtin_prefetch(nytp_place_slot(rec, cop));
}

static inline bool nytp_place_is_of(const struct nytp_place *slot, const COP *cop)
{
    return slot->cop == cop && slot->seq == cop->cop_seq && slot->line == CopLINE(cop);
}

/* Returns the place of a COP; valid until the next call. */
static inline struct nytp_place *nytp_place_of(pTHX_ struct nytp_recorder *rec, const COP *cop,
                                               uint32_t via)
{
    struct nytp_place *const slot = nytp_place_slot(rec, cop);
    if (LIKELY(nytp_place_is_of(slot, cop)))
        return slot;
    return nytp_place_fill(aTHX_ rec, slot, cop, via);
}

static inline const struct nytp_place *nytp_sampled_place_of(pTHX_ struct nytp_recorder *rec,
                                                             const COP *cop, uint32_t via)
{
    struct nytp_place *const slot = nytp_sampled_place_slot(rec, cop);
    return nytp_place_is_of(slot, cop) ? slot : nytp_place_fill(aTHX_ rec, slot, cop, via);
}

/* Sets the place of the statement in progress, or NULL. It is kept until the next call. */
static inline void nytp_place_run(struct nytp_recorder *rec, struct nytp_place *place)
{
    rec->stmt.place = place;
}

/* Marks a COP with its file's id. The file must be recorded in the open profile. */
void nytp_place_mark(struct nytp_recorder *rec, const COP *cop, uint32_t fid);

static inline uint32_t *nytp_mark_of(const COP *cop)
{
    return (uint32_t *)((char *)cop + NYTP_COP_ROOM);
}

/* Sets the statement in progress if its place is known, else returns false. A COP with a mark
 * needs no look-up in the table, which is large and displaces the program's own data from the
 * caches. */
static NYTP_INLINED bool nytp_place_run_known(struct nytp_recorder *rec, const COP *cop)
{
    const uint32_t line = CopLINE(cop);
    if (NYTP_HAS_MARKS) {
        const uint32_t mark = *nytp_mark_of(cop);
        const struct nytp_marked_file file = rec->cache.marked_files[mark % NYTP_MARKS];
        if (LIKELY(file.bits != 0 && line - 1 < 0x3fff)) {
            struct nytp_place *const marked = &rec->stmt.marked;
            const bool has_two = line >= 0x80;
            const uint64_t encoded =
                has_two ? __builtin_bswap16((uint16_t)(0x8000 | line)) : line;
            const uint64_t both = file.bytes | encoded << file.bits;
            marked->cop = cop;
            marked->fid = mark;
            marked->line = line;
            memcpy(marked->encoded.bytes, &both, sizeof both);
            marked->encoded.len = (uint8_t)(file.bits / 8 + 1 + has_two);
            nytp_place_run(rec, marked);
            return true;
        }
    }
    struct nytp_place *const slot = nytp_place_slot(rec, cop);
    if (UNLIKELY(!nytp_place_is_of(slot, cop)))
        return false;
    nytp_place_run(rec, slot);
    return true;
}

/* Returns whether the statement in progress is of this COP. */
static inline bool nytp_place_runs(const struct nytp_recorder *rec, const COP *cop)
{
    const struct nytp_place *const place = rec->stmt.place;
    if (place != &rec->stmt.marked)
        return place != NULL && nytp_place_is_of(place, cop);
    return place->cop == cop && place->fid == *nytp_mark_of(cop) && place->line == CopLINE(cop);
}

/* Notes an execution. Returns true now and then: it is time to look at the clock. */
static inline bool nytp_place_count(struct nytp_recorder *rec, struct nytp_place *place)
{
    const bool is_used_up = __builtin_sub_overflow(place->count.left, 1u, &place->count.left);
    return UNLIKELY(is_used_up) && nytp_place_count_more(rec, place);
}

/* nytp_place_pause() keeps the place of the statement in progress, which stops the recording.
 * nytp_place_paused() returns it, or NULL if there is none or it was forgotten. */
void nytp_place_pause(struct nytp_recorder *rec);
struct nytp_place *nytp_place_paused(const struct nytp_recorder *rec);
void nytp_place_forget_paused(struct nytp_recorder *rec);

/* Line 0 of perl is shown as line 1. */
static inline uint32_t nytp_line_of_stmt(uint32_t line)
{
    return line == 0 ? 1 : line;
}

#endif
