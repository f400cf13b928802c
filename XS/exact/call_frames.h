/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Opens and closes calls.
 *
 * Each open call has a frame (frames.h) in rec->calls.frames, innermost last. When it ends, its
 * time is added to its arc (arcs.h), and a SUB_RETURN record is written if options ask for it.
 * For every call inclusive time = exclusive time + the inclusive times of the calls it made,
 * exactly.
 */
#ifndef NYTP_CALL_FRAMES_H
#define NYTP_CALL_FRAMES_H

#include "XS/state/frames.h"
#include "XS/perl/perl_compat.h"

struct nytp_recorder;
struct nytp_rec_sub;

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

/* Runs perl's goto to an xsub. Its call is opened when `n_left` calls are open, which is when
 * the jumping sub has been left, and closed when it returns or dies. */
OP *nytp_jump_to_xsub(pTHX_ struct nytp_recorder *rec, CV *cv,
                      const struct nytp_call_site *site, uint32_t n_left);

/* ---- all open calls, at the begin or end of a profile file ---- */

/* For a new file: times begin anew at this axis point, and no names are recorded yet. */
void nytp_frames_restart(struct nytp_recorder *rec, int64_t ticks);
/* For a new file: records the files of the calling places. */
void nytp_frames_introduce_files(pTHX_ struct nytp_recorder *rec);
/* Takes back that an end of the file has counted all open calls as if they returned then. */
void nytp_frames_retract(struct nytp_recorder *rec);

/* Another profile file with calls of its own is written for a while. The first moves this
 * file's calls to rec->suspended; the second frees the other file's and moves these back. */
void nytp_calls_suspend(struct nytp_recorder *rec);
void nytp_calls_resume(struct nytp_recorder *rec);

#endif
