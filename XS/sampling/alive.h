/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Tests of addresses that a tick copied; nothing is dereferenced untested.
 *
 * perl keeps the heads of all its SVs in memory that stays until the interpreter goes: what was
 * an SV once can be looked at for ever, to see what it is now. Whether an address is one is
 * asked of the kernel once.
 */
#ifndef NYTP_ALIVE_H
#define NYTP_ALIVE_H

#include "XS/state/state.h"

enum {
    NYTP_KNOWN_SVS = 4096, /* a power of two */
};

/* All zero at first. */
struct nytp_known_svs {
    const void *all[NYTP_KNOWN_SVS]; /* addresses of SVs, by hash */
};

void nytp_know_sv(struct nytp_known_svs *known, const void *sv);

/* The sub at this address; NULL: there is none. */
CV *nytp_live_cv(struct nytp_known_svs *known, const void *address);

/* Returns the sub that entersub calls through this sub, glob or reference, or NULL. */
CV *nytp_live_callee(struct nytp_known_svs *known, const void *address);

/* The pad of a sub's call at this depth of recursion, as in PL_comppad, or NULL. */
PAD *nytp_pad_at(CV *cv, I32 depth);

/* Returns whether a statement can be dereferenced. */
bool nytp_is_live_cop(pTHX_ const struct nytp_recorder *rec, const COP *cop);

#endif
