/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * How many SVs, perl's values, the program makes and frees (option memory=1). perl counts those
 * that there are, for itself; here it is told by how many they became more or fewer from one
 * event to the next, as comments (formats/stream/comments/svs_records.h).
 *
 * Bytes (bytes.h) are told at the same events. It costs nothing where it is not asked for:
 * where SVs are counted no event is a plain one, and where bytes are sampled alone (svs=0) none
 * while some wait.
 */
#ifndef NYTP_SVS_H
#define NYTP_SVS_H

#include "XS/perl/perl_compat.h"

struct nytp_recorder;

/* The part of the state that belongs to svs.c. */
struct nytp_rec_svs {
    IV seen; /* perl's count when it was last told, and our own SVs since */
};

/* What comes from now on counts. */
void nytp_svs_restart(struct nytp_recorder *rec);

/* Tell what changed up to now, and what was allocated; to be called only where rec->memory_on.
 */
void nytp_memory_tell(struct nytp_recorder *rec);

/* An SV that we have just made is none of the program's. */
static inline void nytp_svs_add_own(struct nytp_rec_svs *svs)
{
    svs->seen++;
}

/* Let go of such an SV; NULL: nothing. */
static inline void nytp_svs_free_own(pTHX_ struct nytp_rec_svs *svs, SV *own)
{
    const IV before = (IV)PL_sv_count;
    SvREFCNT_dec(own);
    svs->seen += (IV)PL_sv_count - before;
}

#endif
