/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Frames: the data of calls while they are open. call_frames.c opens and closes frames; arcs.c
 * and labels.c read them.
 */
#ifndef NYTP_FRAMES_H
#define NYTP_FRAMES_H

#include "XS/perl/index.h"
#include "XS/perl/perl_compat.h"

#include "formats/stream/write/writer.h"

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

/* The place of a statement: file id and line of a COP. */
struct nytp_place {
    const COP *cop;
    U32 seq; /* a later COP at this address has another */
    uint32_t fid, line;
    union {
        struct nytp_encoded_place encoded; /* for the statement's time records */
        struct nytp_place_count {          /* with counts=1 */
            uint32_t n, left;              /* n - left executions came */
            uint16_t next;                 /* index of the next place in the list of these */
            bool is_listed;
        } count;
    };
};

/* stmts.c: the statement in progress, and the one that called DB::disable_profile(). */
struct nytp_stmt {
    struct nytp_place *place; /* places.c; NULL: none is in progress */
    struct nytp_place marked; /* places.c: `place` points here if the COP has a mark */
    int64_t since_ticks;      /* axis point of its begin or last record */
    int64_t paused_ticks;     /* the paused one's time so far */
    uint32_t block_line, sub_line; /* only with blocks=1 */
    uint32_t paused_block_line, paused_sub_line;
    bool discount_pending; /* the last DISCOUNT still waits for its time record */
    uint8_t n_untold;      /* scopes left since the statement's last record */
};

/* The calls of a profile file: those that are open, and the sums of those that have ended. */
struct nytp_rec_calls {
    struct nytp_rec_frame *frames; /* call_frames.c: open calls, innermost last; owned */
    uint32_t n, size;
    uint32_t
        recorded_serial;    /* write_ahead.c: frames up to this one have recorded their names */
    struct nytp_index arcs; /* arcs.c; owned */
};

/* The origin of a call, taken before perl's handler changes the current statement. */
struct nytp_call_site {
    struct nytp_rec_sub *caller;
    uint32_t fid, line;
    int64_t now; /* axis in ticks */
};

/* The last events of calls, for the handlers that come next. */
struct nytp_last_calls {
    uint32_t serial;        /* call_frames.c: of the frame opened last */
    uint16_t begun_builtin; /* calls.c: the op that runs at once in its frame */
    bool ended_regex;       /* regexes.c: the ending builtin is a regex op to be recorded */
    bool left_fresh;        /* left_ticks belongs to the running op */
    int64_t left_ticks; /* call_frames.c: axis at the last return, for the leave op around it */
    const OP *entered_op;  /* first op of the sub entered last, until it has run */
    int64_t entered_ticks; /* calls.c: the time of that entry */
};

#endif
