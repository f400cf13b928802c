/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A table of recent calls by op. It gives a call's arc with one look-up, instead of one each
 * for its place, sub and arc. A second look-up beside the first finds the call that the op made
 * before: of another sub, or from another statement (a loop's condition is reached from the
 * first and the last statement).
 *
 * The op's address only selects the entry. An entry is valid for one statement, one caller and
 * the data that names the callee; all are compared. Whoever frees an arc or a place raises
 * rec->cache.sites_version, and whoever frees a sub's body its version (state.h). Their sum is
 * compared, too: it cannot be the same again.
 */
#ifndef NYTP_SITE_CACHE_H
#define NYTP_SITE_CACHE_H

#include "XS/perl/perl_compat.h"
#include "XS/state/state.h"

struct nytp_callee {
    const void *body; /* the root op; the CV for an xsub; NULL for a builtin */
    const void *name; /* the GV or HEK, which `more` completes */
    uint64_t more;
};

/* One line of the processor's cache each. */
struct nytp_cached_site {
    const COP *cop; /* the calling statement; NULL: none */
    U32 seq;        /* cop_seq */
    uint32_t line;
    struct nytp_callee callee;
    const struct nytp_rec_sub *caller;
    struct nytp_rec_arc *arc;
    uint64_t version;
};

#define NYTP_SITE_CACHE_SIZE 16384 /* a power of two */

/* Returns zeroed pages for a table, for munmap(), or NULL if memory is out. */
void *nytp_pages_new(size_t size);

/* Allocates rec->cache.sites, needed before recording. Returns false if memory is out. */
bool nytp_site_cache_begin(struct nytp_recorder *rec);

/* Returns the entry for the call that PL_op makes; another call may be in it. Calling ops are
 * at least 64 bytes apart. */
static inline struct nytp_cached_site *nytp_cached_site(pTHX_ const struct nytp_recorder *rec)
{
    const UV address = PTR2UV(PL_op);
    return &rec->cache.sites[address >> 6 & (NYTP_SITE_CACHE_SIZE - 1)];
}

/* Returns the entry beside it, for the call before. */
static inline struct nytp_cached_site *
nytp_cached_site_before(const struct nytp_recorder *rec, const struct nytp_cached_site *known)
{
    return &rec->cache.sites[(known - rec->cache.sites) ^ 1];
}

/* Prefetches the entry's arc. */
static inline void nytp_cached_site_expect(pTHX_ const struct nytp_recorder *rec)
{
    __builtin_prefetch(nytp_cached_site(aTHX_ rec)->arc);
}

static inline uint64_t nytp_name_in(const HV *stash, const HEK *name)
{
    return PTR2UV(stash) ^ (uint64_t)HEK_HASH(name) << 32;
}

static inline uint64_t nytp_name_in_gv(const GV *gv)
{
    return gv != NULL && isGV_with_GP(gv) ? nytp_name_in(GvSTASH(gv), GvNAME_HEK(gv)) : 1;
}

/* A GV that holds its CV names it for good. A GV that the CV holds (anonymous and renamed subs)
 * may be replaced by another at the same address, so its name is compared. */
static inline struct nytp_callee nytp_callee_of_sub(const CV *cv)
{
    const GV *const gv = NYTP_CV_RAW_GV(cv);
    return (struct nytp_callee){CvROOT(cv), gv,
                                LIKELY(!CvCVGV_RC(cv)) ? 0 : nytp_name_in_gv(gv)};
}

/* Nothing reports that an xsub or its GV is freed. Another may get both addresses. */
static inline struct nytp_callee nytp_callee_of_xsub(CV *cv)
{
    const GV *const gv = NYTP_CV_RAW_GV(cv);
    return (struct nytp_callee){cv, gv,
                                UNLIKELY(CvNAMED(cv))
                                    ? nytp_name_in(CvSTASH(cv), CvNAME_HEK(cv))
                                    : nytp_name_in_gv(gv)};
}

/* Identified by package and type of op. The stash may be replaced or renamed. */
static inline struct nytp_callee nytp_callee_of_builtin(pTHX_ const COP *cop, int type)
{
    PERL_UNUSED_CONTEXT;
    HV *const stash = CopSTASH(cop);
    const bool is_stash = stash != NULL && SvTYPE((const SV *)stash) == SVt_PVHV;
    const HEK *const package = is_stash ? HvNAME_HEK(stash) : NULL;
    const uint64_t hash = package == NULL ? 0 : HEK_HASH(package);
    return (struct nytp_callee){NULL, package, hash << 32 | (unsigned)type};
}

static inline uint64_t nytp_sites_version(const struct nytp_recorder *rec, const void *body)
{
    return rec->cache.sites_version + *nytp_body_version((struct nytp_recorder *)rec, body);
}

/* Returns whether the entry is for this callee and `cop`; the caller is not compared. */
static inline bool nytp_cached_site_is(const struct nytp_cached_site *known,
                                       const struct nytp_recorder *rec, const COP *cop,
                                       const struct nytp_callee *callee)
{
    return known->cop == cop && known->seq == cop->cop_seq && known->line == CopLINE(cop) &&
           known->callee.body == callee->body && known->callee.name == callee->name &&
           known->callee.more == callee->more &&
           known->version == nytp_sites_version(rec, callee->body);
}

#endif
