/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A sampled profile is suspended while an exact one is recorded beside it, and goes on in the
 * same file afterwards. Time in between is in the exact profile only.
 *
 * Meanwhile the sampled file has its end, so it is whole whatever becomes of the program.
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

/* The part of the state that pause_for_exact.c writes: what belongs to the sampled file alone,
 * while an exact one is recorded. */
struct nytp_rec_pause_for_exact {
    bool is_there;
    pid_t pid; /* whose it is */
    struct nytp_outfile file;
    struct nytp_writer *writer;
    struct nytp_before_end before_end;
    struct nytp_rec_profile profile;
    struct nytp_rec_stream stream;
    struct nytp_index arcs;
    struct nytp_rec_frames frames;
    int64_t overhead_ticks; /* of the clock when it was suspended */
};

/* Samples are being taken; from now on they are not. The next profile is an exact one, named
 * as the sampled one with ".exact" appended; recording it has to be begun. */
void nytp_pause_for_exact(pTHX_ struct nytp_recorder *rec);

/* Finish the exact profile and go on with the sampled one: recording, or paused if the exact
 * one is. In a child of the process that suspended it, that begins as a child's does; the
 * exact one is the parent's. */
void nytp_go_on_sampling(pTHX_ struct nytp_recorder *rec);

/* The interpreter goes: the sampled profile stays as it is on disk. Nothing if there is none.
 */
void nytp_pause_for_exact_free(pTHX_ struct nytp_recorder *rec);

#endif
