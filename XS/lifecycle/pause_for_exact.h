/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Suspends a sampled profile while an exact one is recorded beside it. It goes on in the same
 * file afterwards; the time between is only in the exact profile.
 *
 * Meanwhile the sampled file has an end, so it is complete whatever happens to the program.
 */
#ifndef NYTP_PAUSE_FOR_EXACT_H
#define NYTP_PAUSE_FOR_EXACT_H

#include "XS/perl/perl_compat.h"

struct nytp_recorder;

/* Suspends sampling. The next profile is an exact one, with ".exact" appended to the sampled
 * one's name; the caller has to begin recording it. */
void nytp_pause_for_exact(pTHX_ struct nytp_recorder *rec);

/* Finishes the exact profile and goes on with the sampled one: recording, or paused if the
 * exact one is. In a child of the process that suspended it, a child's profile begins; the
 * exact one is the parent's. */
void nytp_go_on_sampling(pTHX_ struct nytp_recorder *rec);

#endif
