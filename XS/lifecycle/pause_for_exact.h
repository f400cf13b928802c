/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Suspends a sampled profile while an exact one is recorded beside it. It goes on in the same
 * file afterwards; the time between is only in the exact profile.
 *
 * Meanwhile the sampled file has an end, so it is complete whatever happens to the program.
 */
#ifndef NYTP_PAUSE_FOR_EXACT_H
#define NYTP_PAUSE_FOR_EXACT_H

#include "XS/state/frames.h"
#include "XS/perl/index.h"
#include "life.h"
#include "XS/output/outfile.h"
#include "profile.h"
#include "XS/state/stream.h"

struct nytp_recorder;
struct nytp_writer;

/* Data of the suspended sampled file. */
struct nytp_rec_pause_for_exact {
    bool is_there;
    pid_t pid; /* of the process that suspended it */
    struct nytp_outfile file;
    struct nytp_writer *writer;
    struct nytp_before_end before_end;
    struct nytp_rec_profile profile;
    struct nytp_rec_stream stream;
    struct nytp_index arcs;
    struct nytp_rec_frames frames;
    int64_t overhead_ticks; /* of the clock at the suspension */
};

/* Suspends sampling. The next profile is an exact one, with ".exact" appended to the sampled
 * one's name; the caller has to begin recording it. */
void nytp_pause_for_exact(pTHX_ struct nytp_recorder *rec);

/* Finishes the exact profile and goes on with the sampled one: recording, or paused if the
 * exact one is. In a child of the process that suspended it, a child's profile begins; the
 * exact one is the parent's. */
void nytp_go_on_sampling(pTHX_ struct nytp_recorder *rec);

/* For an interpreter that is being destroyed: leaves the sampled profile as it is on disk. Does
 * nothing if there is none. */
void nytp_pause_for_exact_free(pTHX_ struct nytp_recorder *rec);

#endif
