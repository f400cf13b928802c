/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Look-ups in perl's symbol tables and other hashes without side effects that the program could
 * see.
 */
#ifndef NYTP_STASH_H
#define NYTP_STASH_H

#include "perl_compat.h"

/* The magic of a hash (Variable::Magic's, of a stash) is the program's code: it must not run
 * inside ours nor see our look-ups. */
static inline U32 nytp_magic_off(HV *hash)
{
    const U32 magic = SvMAGICAL(hash);
    SvFLAGS(hash) &= ~magic;
    return magic;
}

static inline void nytp_magic_on(HV *hash, U32 magic)
{
    SvFLAGS(hash) |= magic;
}

/* Returns the hash's value without its magic, or NULL if there is none or no hash. */
SV *nytp_peek(pTHX_ HV *hash, const char *key, size_t len, bool is_utf8);

/* Returns the CV of a name, or NULL if perl has to search for it; `stash`: for short names. */
CV *nytp_cv_of_name(pTHX_ const char *name, size_t len, bool is_utf8, HV *stash);

/* Makes the xsub of this full name, if there is one, run `ours`, which has to call *real. */
void nytp_xsub_redirect(pTHX_ const char *name, XSUBADDR_t ours, XSUBADDR_t *real);

#endif
