/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The subroutine profiler: open calls.
 */
#ifndef NYTP_CALLS_H
#define NYTP_CALLS_H

#include "state.h"

/* entersub. `cv` is nytp_callee_cv() of what it calls: no xsub, and NULL where perl has to
 * look. */
OP *nytp_call_sub(pTHX_ struct nytp_recorder *rec, CV *cv);
OP *nytp_call_xsub(pTHX_ struct nytp_recorder *rec,
                   struct nytp_rec_sub *sub);                /* entersub, too */
OP *nytp_call_goto(pTHX_ struct nytp_recorder *rec, CV *cv); /* goto &sub */
CV *nytp_callee_cv_of_value(pTHX_ SV *sv); /* of what is neither a CV nor a glob */

/* The CV that entersub will call for `sv`, as far as can be told without side effects. */
static inline CV *nytp_callee_cv(pTHX_ SV *sv)
{
    if (LIKELY(isGV_with_GP(sv)))
        return GvCVu((GV *)sv);
    return SvTYPE(sv) == SVt_PVCV ? (CV *)sv : nytp_callee_cv_of_value(aTHX_ sv);
}

OP *nytp_call_slowop(pTHX_ struct nytp_recorder *rec, int type);    /* a builtin */
void nytp_frames_restart(struct nytp_recorder *rec, int64_t ticks); /* open calls begin anew */
void nytp_frames_place(
    pTHX_ struct nytp_recorder *rec); /* their call sites are in the stream */
void nytp_frames_report(struct nytp_recorder *rec, int64_t ticks); /* as if all returned */
void nytp_frames_retract(struct nytp_recorder *rec); /* take the last report's counts back */
void nytp_calls_free(struct nytp_recorder *rec);

#endif
