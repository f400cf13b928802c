/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Calls as they were made last, by op: which arc a call belongs to, found with one look instead
 * of one each for its place, its sub and its arc.
 *
 * The op's address only says where to look. What is there holds for a statement, a caller and a
 * callee's body and name, all of which are compared; and none of their addresses can have
 * become another's since, or rec->known_version had changed.
 */
#ifndef NYTP_KNOWN_CALLS_H
#define NYTP_KNOWN_CALLS_H

#include "XS/perl/perl_compat.h"
#include "XS/state/state.h"

struct nytp_known_call {
    const COP *cop; /* the calling statement; NULL: none */
    U32 seq;        /* cop_seq */
    uint32_t line;
    const OP *root; /* the body that was called */
    const void *gv; /* and its name, of which there is more in the last member */
    const struct nytp_rec_sub *caller;
    struct nytp_rec_arc *arc;
    uint64_t version;
    uint64_t own_name; /* nytp_own_name(): so that each is a line of the processor's cache */
};

#define NYTP_KNOWN_CALLS 4096

/* The table, rec->known_calls, which is needed before anything is recorded. False when out of
 * memory. */
bool nytp_known_calls_begin(struct nytp_recorder *rec);
void nytp_known_calls_free(struct nytp_recorder *rec);

/* What is known of the call that PL_op makes, or another's in its place. */
static inline struct nytp_known_call *nytp_known_call(pTHX_ const struct nytp_recorder *rec)
{
    const UV address = PTR2UV(PL_op);
    return &rec->known_calls[(address >> 4 ^ address >> 16) & (NYTP_KNOWN_CALLS - 1)];
}

/* A GV that holds its CV gives it its name for good. One that the CV holds (of anonymous and
 * renamed subs) may have been made for it alone, and another in its place: what it says. */
static inline uint64_t nytp_own_name(const CV *cv)
{
    const GV *const gv = NYTP_CV_RAW_GV(cv);
    if (LIKELY(!CvCVGV_RC(cv)))
        return 0;
    return isGV_with_GP(gv) ? PTR2UV(GvSTASH(gv)) ^ (uint64_t)HEK_HASH(GvNAME_HEK(gv)) << 32
                            : 1;
}

static inline bool nytp_known_call_is(const struct nytp_known_call *known,
                                      const struct nytp_recorder *rec, const COP *cop,
                                      const CV *cv, const struct nytp_rec_sub *caller)
{
    return known->cop == cop && known->seq == cop->cop_seq && known->line == CopLINE(cop) &&
           known->root == CvROOT(cv) && known->gv == NYTP_CV_RAW_GV(cv) &&
           known->caller == caller && known->version == rec->known_version &&
           known->own_name == nytp_own_name(cv);
}

#endif
