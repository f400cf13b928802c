/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The places of statements: which file id and line a COP (perl's op for a statement) has.
 *
 * Every event asks for one, so places are kept in a table by the COP's address, each over the
 * one that was there before. perl may free a COP and use its address again: the new one has
 * another cop_seq, by which that is seen.
 */
#ifndef NYTP_PLACES_H
#define NYTP_PLACES_H

#include "XS/state/state.h"

struct nytp_place {
    const COP *cop; /* NULL: none */
    U32 seq;        /* cop_seq: a later COP at this address has another */
    uint32_t fid, line;
    struct nytp_encoded_place encoded; /* of the statement's time records */
};

/* Behind the slots are places that are kept elsewhere: of the statement that is being compiled,
 * of the running one when another has taken its slot, and of one that stopped recording. */
#define NYTP_PLACES         16384
#define NYTP_PLACE_COMPILED (NYTP_PLACES + 0)
#define NYTP_PLACE_RUNNING  (NYTP_PLACES + 1)
#define NYTP_PLACE_PAUSED   (NYTP_PLACES + 2)
#define NYTP_ALL_PLACES     (NYTP_PLACES + 3)

#define NYTP_SAMPLED_PLACES 2048                       /* a power of two; the first of them */
#define NYTP_COP_SHIFT      (sizeof(COP) < 64 ? 5 : 6) /* 2 to this is at most a COP's length */

/* The table, rec->places, which is needed before anything is recorded. False when out of
 * memory. */
bool nytp_places_begin(struct nytp_recorder *rec);
void nytp_places_forget(struct nytp_recorder *rec); /* a new profile has other file ids */
void nytp_places_free(struct nytp_recorder *rec);

/* Find a COP's place anew, and keep it in `slot`; that of the statement which is being compiled
 * is kept elsewhere. If the profile does not know the file, it is told first; `via` as for
 * nytp_file_fid(). */
const struct nytp_place *nytp_place_fill(pTHX_ struct nytp_recorder *rec,
                                         struct nytp_place *slot, const COP *cop,
                                         uint32_t via) NYTP_COLD;

/* Where the place of the COP at this address is kept. Two COPs are at least the size of a COP
 * apart, so the lowest bits of the address tell nothing. */
static inline struct nytp_place *nytp_place_slot(const struct nytp_recorder *rec,
                                                 const COP *cop)
{
    const UV address = PTR2UV(cop);
    return &rec->places[address >> NYTP_COP_SHIFT & (NYTP_PLACES - 1)];
}

/* The same for samples, which meet few statements: the fewer pages of memory they touch, the
 * fewer faults there are. */
static inline struct nytp_place *nytp_sampled_place_slot(const struct nytp_recorder *rec,
                                                         const COP *cop)
{
    const UV address = PTR2UV(cop);
    return &rec->places[address >> NYTP_COP_SHIFT & (NYTP_SAMPLED_PLACES - 1)];
}

/* It will be asked for soon. The table is larger than a processor's nearest cache, and programs
 * come back to a statement after many others. */
static inline void nytp_place_expect(const struct nytp_recorder *rec, const COP *cop)
{
    __builtin_prefetch(nytp_place_slot(rec, cop));
}

/* Whether that is the place of this COP. */
static inline bool nytp_place_is_of(const struct nytp_place *slot, const COP *cop)
{
    return slot->cop == cop && slot->seq == cop->cop_seq && slot->line == CopLINE(cop);
}

/* The place of a COP; valid until the next call. */
static inline const struct nytp_place *nytp_place_of(pTHX_ struct nytp_recorder *rec,
                                                     const COP *cop, uint32_t via)
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

/* From now on the statement in progress is at this place, which is kept until the next call;
 * NULL: there is none. */
static inline void nytp_place_run(struct nytp_recorder *rec, const struct nytp_place *place)
{
    rec->running_place = place;
}

/* Keep the place of the statement in progress, which stops the recording, if there is one; and
 * the place that was kept, as long as it is not forgotten, NULL: none. */
void nytp_place_pause(struct nytp_recorder *rec);
const struct nytp_place *nytp_place_paused(const struct nytp_recorder *rec);
void nytp_place_forget_paused(struct nytp_recorder *rec);

/* The line of a time record is one of the file's: perl's line 0 is shown as line 1. */
static inline uint32_t nytp_line_of_stmt(uint32_t line)
{
    return line == 0 ? 1 : line;
}

#endif
