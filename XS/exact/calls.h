/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The subroutine profiler: the handlers of perl's calling ops, for hooks.c. open_at_start.c
 * uses their parts for calls that no op of ours began.
 */
#ifndef NYTP_CALLS_H
#define NYTP_CALLS_H

#include "XS/state/frames.h"
#include "XS/perl/perl_compat.h"

struct nytp_recorder;
struct nytp_rec_sub;

/* ---- calling ops; each runs perl's handler and returns the next op ---- */

/* entersub. `cv` is nytp_callee_cv() of the called value: not an xsub, or NULL if perl has to
 * look it up. */
OP *nytp_call_sub(pTHX_ struct nytp_recorder *rec, CV *cv);
OP *nytp_call_goto(pTHX_ struct nytp_recorder *rec, CV *cv);
OP *nytp_call_slowop(pTHX_ struct nytp_recorder *rec, int type);

/* entersub of an xsub. A recently made call is repeated from the table; otherwise `call_new`
 * runs, which calls nytp_call_new_xsub() if the call is to be recorded. */
typedef OP *nytp_xsub_fn(pTHX_ struct nytp_recorder *rec, CV *cv);
OP *nytp_call_xsub(pTHX_ struct nytp_recorder *rec, CV *cv, nytp_xsub_fn *call_new);
OP *nytp_call_new_xsub(pTHX_ struct nytp_recorder *rec, CV *cv, struct nytp_rec_sub *sub);

/* Returns the CV that entersub will call for `sv`, if that shows without side effects, else
 * NULL: perl's look-up may run the program's code (overloading, AUTOLOAD). */
CV *nytp_callee_cv_of_value(pTHX_ SV *sv); /* for any other value */
static inline CV *nytp_callee_cv(pTHX_ SV *sv)
{
    if (isGV_with_GP(sv))
        return GvCVu((GV *)sv);
    /* Only blessed values overload. */
    if (LIKELY(SvROK(sv) && !SvGMAGICAL(sv) && SvTYPE(SvRV(sv)) == SVt_PVCV &&
               !SvOBJECT(SvRV(sv))))
        return (CV *)SvRV(sv);
    return SvTYPE(sv) == SVt_PVCV ? (CV *)sv : nytp_callee_cv_of_value(aTHX_ sv);
}

/* ---- parts of calls, for calls that no op of ours began (open_at_start.h) ---- */

bool nytp_goto_leaves_sub(pTHX); /* `goto &sub` leaves the running sub instead of dying */
/* After a goto that led to `next`: opens a call if that is the beginning of a perl sub. */
void nytp_call_entered(pTHX_ struct nytp_recorder *rec, const OP *next,
                       const struct nytp_call_site *site);

#endif
