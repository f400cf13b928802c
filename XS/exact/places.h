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

/* With counts=1: executions of a statement that are not recorded yet. */
struct nytp_place_count {
    uint32_t n, left; /* n - left executions came */
    uint16_t next;    /* index of the next place in the list of these */
    bool is_listed;
};

struct nytp_place {
    const COP *cop;
    U32 seq; /* a later COP at this address has another */
    uint32_t fid, line;
    union {
        struct nytp_encoded_place encoded; /* for the statement's time records */
        struct nytp_place_count count;     /* with counts=1 */
    };
};

/* Extra slots behind the table: the statement being compiled, the running one if another took
 * its slot, and the one that stopped recording. */
#define NYTP_PLACES         16384
#define NYTP_PLACE_COMPILED (NYTP_PLACES + 0)
#define NYTP_PLACE_RUNNING  (NYTP_PLACES + 1)
#define NYTP_PLACE_PAUSED   (NYTP_PLACES + 2)
#define NYTP_ALL_PLACES     (NYTP_PLACES + 3)

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
