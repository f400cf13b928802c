/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Lets go of string evals that are over.
 */
#ifndef NYTP_RELEASE_H
#define NYTP_RELEASE_H

#include "state.h"

void nytp_release(pTHX_ struct nytp_recorder *rec);

/* Before a string eval: see now and then what of earlier ones can be freed. */
static inline void nytp_release_if_due(pTHX_ struct nytp_recorder *rec)
{
    if (UNLIKELY(rec->files.by_name.used + rec->subs.n + rec->arcs.used >= rec->release.due_at))
        nytp_release(aTHX_ rec);
}

#endif
