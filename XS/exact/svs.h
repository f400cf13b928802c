/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Counts the SVs, perl's values, that the program makes and frees (option memory=1). perl keeps
 * the number of SVs; its change from one event to the next is recorded, as comments
 * (formats/stream/comments/svs_records.h).
 *
 * Bytes (bytes.h) are recorded at the same events. Without the option this costs nothing: if
 * SVs are counted no event is plain; if only bytes are sampled (svs=0), none is while some
 * wait.
 */
#ifndef NYTP_SVS_H
#define NYTP_SVS_H

#include "XS/perl/perl_compat.h"

struct nytp_recorder;

struct nytp_rec_svs {
    IV seen; /* perl's count at the last record, plus our own SVs since */
};

/* Counts from now on. */
void nytp_svs_restart(struct nytp_recorder *rec);

/* Records changes and allocations up to now. Call it only if rec->memory_on. */
void nytp_memory_emit(struct nytp_recorder *rec);

/* Excludes an SV that we have just made. */
static inline void nytp_svs_add_own(struct nytp_rec_svs *svs)
{
    svs->seen++;
}

/* Frees such an SV; NULL is accepted. */
static inline void nytp_svs_free_own(pTHX_ struct nytp_rec_svs *svs, SV *own)
{
    const IV before = (IV)PL_sv_count;
    SvREFCNT_dec(own);
    svs->seen += (IV)PL_sv_count - before;
}

#endif
