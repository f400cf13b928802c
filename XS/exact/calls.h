/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The subroutine profiler: opens and closes calls. hooks.c calls it for perl's calling ops;
 * open_at_start.c for calls that no op of ours began.
 *
 * Each open call has a frame (frames.h) in rec->frames, innermost last. When it ends, its time
 * is added to its arc (arcs.h), and a SUB_RETURN record is written if options ask for it. For
 * every call inclusive time = exclusive time + the inclusive times of the calls it made,
 * exactly.
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

struct nytp_call_site nytp_call_site_now(pTHX_ struct nytp_recorder *rec);
void nytp_frame_open(struct nytp_recorder *rec, struct nytp_rec_sub *sub,
                     const struct nytp_call_site *site);

/* Adds `ticks` of a call without a frame to the innermost open call. */
void nytp_frame_called(struct nytp_recorder *rec, int64_t ticks);
void nytp_frame_leave(struct nytp_recorder *rec, int64_t ticks); /* closes the innermost */
/* Closes the frame with this serial and those above it; does nothing if there is none. */
void nytp_frame_close(pTHX_ struct nytp_recorder *rec, uint32_t serial);
/* The same, from the destructor of a call that an op of ours began. */
void nytp_scope_left(pTHX_ struct nytp_recorder *rec, uint32_t serial);
bool nytp_goto_leaves_sub(pTHX); /* `goto &sub` leaves the running sub instead of dying */
/* After a goto that led to `next`: opens a call if that is the beginning of a perl sub. */
void nytp_call_entered(pTHX_ struct nytp_recorder *rec, const OP *next,
                       const struct nytp_call_site *site);
OP *nytp_call_by_goto(pTHX_ struct nytp_recorder *rec, CV *xsub,
                      const struct nytp_call_site *site);

/* ---- all open calls, at the begin or end of a profile file ---- */

/* For a new file: times begin anew at this axis point, and no names are recorded yet. */
void nytp_frames_restart(struct nytp_recorder *rec, int64_t ticks);
/* For a new file: records the files of the calling places. */
void nytp_frames_introduce_files(pTHX_ struct nytp_recorder *rec);
/* Takes back that an end of the file has counted all open calls as if they returned then. */
void nytp_frames_retract(struct nytp_recorder *rec);

/* Another profile file with other open calls is written for a while. The first saves this
 * file's frames in rec->suspended_frames; the second makes them the open calls again. */
void nytp_frames_save(struct nytp_recorder *rec);
void nytp_frames_restore(struct nytp_recorder *rec);

#endif
