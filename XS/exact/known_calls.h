/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Calls as they were made last, by op: which arc a call belongs to, found with one look instead
 * of one each for its place, its sub and its arc. A call that was made otherwise the time
 * before (another sub; the condition of a loop, which perl comes to from its first and its last
 * statement) is found with a second look, beside the first.
 *
 * The op's address only says where to look. What is there holds for a statement, a caller and
 * what a callee has its name from, all of which are compared. Its arc and its place are still
 * there, too: whoever lets go of one changes rec->known_version, which is compared with them.
 */
#ifndef NYTP_KNOWN_CALLS_H
#define NYTP_KNOWN_CALLS_H

#include "XS/perl/perl_compat.h"
#include "XS/state/state.h"

/* What says which sub is called. */
struct nytp_callee {
    const void *body; /* the root op; of an xsub the CV; NULL: a builtin */
    const void *name; /* the GV or the HEK, of which there is more in the last member */
    uint64_t more;
};

/* Each is a line of the processor's cache. */
struct nytp_known_call {
    const COP *cop; /* the calling statement; NULL: none */
    U32 seq;        /* cop_seq */
    uint32_t line;
    struct nytp_callee callee;
    const struct nytp_rec_sub *caller;
    struct nytp_rec_arc *arc;
    uint64_t version;
};

#define NYTP_KNOWN_CALLS 16384 /* a power of two */

/* The table, rec->known_calls, which is needed before anything is recorded. False when out of
 * memory. */
bool nytp_known_calls_begin(struct nytp_recorder *rec);
void nytp_known_calls_free(struct nytp_recorder *rec);

/* What is known of the call that PL_op makes, or another's in its place. Two ops that call are
 * farther apart than so many bytes. */
static inline struct nytp_known_call *nytp_known_call(pTHX_ const struct nytp_recorder *rec)
{
    const UV address = PTR2UV(PL_op);
    return &rec->known_calls[address >> 6 & (NYTP_KNOWN_CALLS - 1)];
}

/* What was known there before. */
static inline struct nytp_known_call *
nytp_known_call_before(const struct nytp_recorder *rec, const struct nytp_known_call *known)
{
    return &rec->known_calls[(known - rec->known_calls) ^ 1];
}

/* It will be asked for soon, and so will its arc. */
static inline void nytp_known_call_expect(pTHX_ const struct nytp_recorder *rec)
{
    __builtin_prefetch(nytp_known_call(aTHX_ rec)->arc);
}

static inline uint64_t nytp_name_in(const HV *stash, const HEK *name)
{
    return PTR2UV(stash) ^ (uint64_t)HEK_HASH(name) << 32;
}

static inline uint64_t nytp_name_in_gv(const GV *gv)
{
    return gv != NULL && isGV_with_GP(gv) ? nytp_name_in(GvSTASH(gv), GvNAME_HEK(gv)) : 1;
}

/* A GV that holds its CV gives it its name for good. One that the CV holds (of anonymous and
 * renamed subs) may have been made for it alone, and another in its place: what it says. */
static inline struct nytp_callee nytp_callee_of_sub(const CV *cv)
{
    const GV *const gv = NYTP_CV_RAW_GV(cv);
    return (struct nytp_callee){CvROOT(cv), gv,
                                LIKELY(!CvCVGV_RC(cv)) ? 0 : nytp_name_in_gv(gv)};
}

/* Nothing tells when an xsub is freed, with its GV or without: another may have the addresses
 * of both. */
static inline struct nytp_callee nytp_callee_of_xsub(CV *cv)
{
    const GV *const gv = NYTP_CV_RAW_GV(cv);
    return (struct nytp_callee){cv, gv,
                                UNLIKELY(CvNAMED(cv))
                                    ? nytp_name_in(CvSTASH(cv), CvNAME_HEK(cv))
                                    : nytp_name_in_gv(gv)};
}

/* By package and type of op. The stash may be another than it was, or have another name. */
static inline struct nytp_callee nytp_callee_of_builtin(pTHX_ const COP *cop, int type)
{
    PERL_UNUSED_CONTEXT;
    HV *const stash = CopSTASH(cop);
    const bool is_stash = stash != NULL && SvTYPE((const SV *)stash) == SVt_PVHV;
    const HEK *const package = is_stash ? HvNAME_HEK(stash) : NULL;
    const uint64_t hash = package == NULL ? 0 : HEK_HASH(package);
    return (struct nytp_callee){NULL, package, hash << 32 | (unsigned)type};
}

/* Whether it is this callee's, from there; the caller is left to compare. */
static inline bool nytp_known_call_is(const struct nytp_known_call *known,
                                      const struct nytp_recorder *rec, const COP *cop,
                                      const struct nytp_callee *callee)
{
    return known->cop == cop && known->seq == cop->cop_seq && known->line == CopLINE(cop) &&
           known->callee.body == callee->body && known->callee.name == callee->name &&
           known->callee.more == callee->more && known->version == rec->known_version;
}

#endif
