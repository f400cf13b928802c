/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Frames: the data of calls while they are open. call_frames.c opens and closes frames; arcs.c
 * and labels.c read them.
 */
#ifndef NYTP_FRAMES_H
#define NYTP_FRAMES_H

#include "XS/perl/perl_compat.h"

struct nytp_rec_arc;
struct nytp_rec_sub;

struct nytp_rec_frame {
    struct nytp_rec_sub *sub, *caller;
    struct nytp_rec_arc *arc; /* its arc in the open file */
    uint32_t fid, line;       /* of the calling statement */
    uint32_t serial;          /* distinguishes it from later frames at the same depth */
    uint32_t depth : 31;      /* of recursion: 1 for the outermost call of this sub */
    uint32_t resumed : 1;     /* a suspended call goes on; not a new call */
    int64_t enter_ticks;
    int64_t callee_ticks;                 /* inclusive time of the calls it made */
    int64_t reported_incl, reported_excl; /* as if it had returned at the last report */
    int64_t labelled_ticks;               /* labels.c: exclusive time up to the last change */
};

/* The statement in progress; its place is in places.h. */
struct nytp_stmt {
    uint32_t block_line, sub_line; /* only with blocks=1 */
    int64_t since_ticks;           /* axis point of its begin or last record */
};

/* The frames of a suspended profile file. */
struct nytp_rec_frames {
    struct nytp_rec_frame *all;
    uint32_t n, size;
    uint32_t recorded_serial; /* frames up to this one have recorded their names */
};

/* The origin of a call, taken before perl's handler changes the current statement. */
struct nytp_call_site {
    struct nytp_rec_sub *caller;
    uint32_t fid, line;
    int64_t now; /* axis in ticks */
};

/* A `goto &xsub` that perl is executing: the xsub is entered when the jumping sub has been
 * left. Kept by value, since the goto may die and never return to us. */
struct nytp_jump {
    CV *xsub;
    uint32_t from; /* serial of the frame that jumps */
    struct nytp_call_site site;
};

#endif
