/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The statement profiler, and the places of statements.
 */
#ifndef NYTP_STMTS_H
#define NYTP_STMTS_H

#include "state.h"

void nytp_stmt_begin(pTHX_ struct nytp_recorder *rec, const COP *cop);
void nytp_stmt_return(pTHX_ struct nytp_recorder *rec); /* control came back into PL_curcop */
void nytp_stmt_end(pTHX_ struct nytp_recorder *rec);    /* recording ends in this statement */
void nytp_stmt_drop(struct nytp_recorder *rec);         /* forget the one in progress */
/* Recording stops in this statement, and goes on: its record comes when it goes on. */
void nytp_stmt_pause(pTHX_ struct nytp_recorder *rec);
void nytp_stmt_resume(pTHX_ struct nytp_recorder *rec);
const struct nytp_place *nytp_place_fill(pTHX_ struct nytp_recorder *rec, const COP *cop,
                                         uint32_t via) NYTP_COLD;

/* Where the place of the COP at this address is kept. COPs are longer than 64 bytes. */
static inline struct nytp_place *nytp_place_slot(const struct nytp_recorder *rec,
                                                 const COP *cop)
{
    const UV address = PTR2UV(cop);
    return &rec->places[(address >> 6 ^ address >> 20) & (NYTP_PLACES - 1)];
}

/* fid and line of a COP. */
static inline const struct nytp_place *nytp_place_of(pTHX_ struct nytp_recorder *rec,
                                                     const COP *cop, uint32_t via)
{
    const struct nytp_place *const slot = nytp_place_slot(rec, cop);
    if (LIKELY(slot->cop == cop && slot->seq == cop->cop_seq && slot->line == CopLINE(cop)))
        return slot;
    return nytp_place_fill(aTHX_ rec, cop, via);
}

#endif
