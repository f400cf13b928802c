/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Looking into perl's symbol tables and other hashes without any effect that the program could
 * see.
 */
#ifndef NYTP_STASH_H
#define NYTP_STASH_H

#include "perl_compat.h"

/* The magic of a hash (Variable::Magic's, of a stash) is the program's code: it neither runs in
 * the middle of ours nor sees what we look up. */
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

/* What the hash holds, past its magic; NULL: nothing, or there is no hash. */
SV *nytp_peek(pTHX_ HV *hash, const char *key, size_t len, bool is_utf8);

/* The CV that a name leads to, without a side effect; NULL: none, or perl has to look for it.
 * `stash` is the package of names that tell none. */
CV *nytp_cv_of_name(pTHX_ const char *name, size_t len, bool is_utf8, HV *stash);

#endif
