/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The subroutine profiler: which calls are open, and what becomes of them. hooks.c calls it for
 * perl's ops that call; open_at_start.c for calls that no op of ours began.
 *
 * Each open call has a frame (frames.h), in rec->frames, the innermost last. When it ends, its
 * time is added to its arc (arcs.h) and a SUB_RETURN record is written, if options ask for one.
 * For every call inclusive time = exclusive time + the inclusive times of the calls that it
 * made, exactly.
 */
#ifndef NYTP_CALLS_H
#define NYTP_CALLS_H

#include "XS/state/frames.h"
#include "XS/perl/perl_compat.h"

struct nytp_recorder;
struct nytp_rec_sub;

/* ---- ops that call; each runs perl's handler and returns the next op ---- */

/* entersub. `cv` is nytp_callee_cv() of what it calls: no xsub, and NULL where perl has to
 * look. */
OP *nytp_call_sub(pTHX_ struct nytp_recorder *rec, CV *cv);
OP *nytp_call_goto(pTHX_ struct nytp_recorder *rec, CV *cv);     /* goto &sub */
OP *nytp_call_slowop(pTHX_ struct nytp_recorder *rec, int type); /* a builtin */

/* entersub of an xsub: the call, if there was the same one lately; else what `call_new` does,
 * which is nytp_call_new_xsub() if the call is to be recorded. */
typedef OP *nytp_xsub_fn(pTHX_ struct nytp_recorder *rec, CV *cv);
OP *nytp_call_xsub(pTHX_ struct nytp_recorder *rec, CV *cv, nytp_xsub_fn *call_new);
OP *nytp_call_new_xsub(pTHX_ struct nytp_recorder *rec, CV *cv, struct nytp_rec_sub *sub);

/* The CV that entersub will call for `sv`, as far as can be told without side effects; NULL:
 * perl has to look, which may run the program's code (overloading, AUTOLOAD). */
CV *nytp_callee_cv_of_value(pTHX_ SV *sv); /* of any other */
static inline CV *nytp_callee_cv(pTHX_ SV *sv)
{
    if (isGV_with_GP(sv))
        return GvCVu((GV *)sv);
    /* What is not blessed overloads nothing. */
    if (LIKELY(SvROK(sv) && !SvGMAGICAL(sv) && SvTYPE(SvRV(sv)) == SVt_PVCV &&
               !SvOBJECT(SvRV(sv))))
        return (CV *)SvRV(sv);
    return SvTYPE(sv) == SVt_PVCV ? (CV *)sv : nytp_callee_cv_of_value(aTHX_ sv);
}

/* ---- what calls consist of, for calls that no op of ours began (open_at_start.h) ---- */

struct nytp_call_site nytp_call_site_now(pTHX_ struct nytp_recorder *rec);
void nytp_frame_open(struct nytp_recorder *rec, struct nytp_rec_sub *sub,
                     const struct nytp_call_site *site);

/* The innermost open call has made one that took so long, of which there was no frame. */
void nytp_frame_called(struct nytp_recorder *rec, int64_t ticks);
void nytp_frame_leave(struct nytp_recorder *rec, int64_t ticks); /* the innermost */
/* Close the frame with this serial and what is still open above it; none: nothing. */
void nytp_frame_close(pTHX_ struct nytp_recorder *rec, uint32_t serial);
/* The same by the destructor of the scope of a call that an op of ours began. */
void nytp_scope_left(pTHX_ struct nytp_recorder *rec, uint32_t serial);
bool nytp_goto_leaves_sub(pTHX); /* `goto &sub` does not die but leave the running sub */
/* perl has run a goto that led to `next`: if that is a perl sub's beginning, it was called. */
void nytp_call_entered(pTHX_ struct nytp_recorder *rec, const OP *next,
                       const struct nytp_call_site *site);
OP *nytp_call_by_goto(pTHX_ struct nytp_recorder *rec, CV *xsub,
                      const struct nytp_call_site *site);

/* ---- all open calls, where a profile file begins or ends ---- */

/* A new file: their times begin anew at this axis point, and it has not told their names. */
void nytp_frames_restart(struct nytp_recorder *rec, int64_t ticks);
/* A new file: introduce the files that they were called from. */
void nytp_frames_introduce_files(pTHX_ struct nytp_recorder *rec);
/* The file gets its end at this axis point: count them as if all returned now. */
void nytp_frames_report(struct nytp_recorder *rec, int64_t ticks);
/* The end is taken back: so are the last report's counts. */
void nytp_frames_retract(struct nytp_recorder *rec);

void nytp_calls_free(struct nytp_recorder *rec);

/* Another profile file is written for a while, in which other calls are open: `frames` keeps
 * those of this one. */
void nytp_frames_save(struct nytp_recorder *rec, struct nytp_rec_frames *frames);
/* They are open again, and no others. */
void nytp_frames_restore(struct nytp_recorder *rec, const struct nytp_rec_frames *frames);

#endif
