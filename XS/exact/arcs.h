/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Arcs: the sums of the calls of one sub from one place. call_frames.c adds each call that
 * ends; profile.c writes all arcs as SUB_CALLERS records at the end. They are in
 * rec->calls.arcs, an index by place, caller and callee, which only arcs.c changes.
 */
#ifndef NYTP_ARCS_H
#define NYTP_ARCS_H

#include "XS/state/frames.h"
#include "XS/names/subs.h"

#include "formats/stream/write/writer.h"

struct nytp_recorder;

/* Calls of one sub from one place. Times are in ticks of the axis. */
struct nytp_rec_arc {
    uint32_t fid, line;
    struct nytp_rec_sub *caller_sub, *callee_sub;
    uint64_t count;
    int64_t incl_ticks, excl_ticks;
    int64_t reci_ticks;              /* inclusive time of calls inside other calls of the sub */
    uint32_t rec_depth;              /* deepest recursion of these */
    struct nytp_encoded_entry entry; /* for calls in comments */
};

struct nytp_rec_arc *nytp_arc_find(struct nytp_recorder *rec, struct nytp_rec_sub *sub,
                                   const struct nytp_call_site *site);

/* Returns the arc for calls of `sub` from `site`; creates it if there is none. */
static inline struct nytp_rec_arc *nytp_arc_of(struct nytp_recorder *rec,
                                               struct nytp_rec_sub *sub,
                                               const struct nytp_call_site *site)
{
    struct nytp_rec_arc *const arc = sub->last_arc;
    if (LIKELY(arc != NULL && arc->caller_sub == site->caller && arc->line == site->line &&
               arc->fid == site->fid))
        return arc;
    return nytp_arc_find(rec, sub, site);
}

/* The arcs are those of a file that was suspended: subs count as called if they say so. */
void nytp_arcs_resume(struct nytp_recorder *rec);

/* Writes and frees the arcs of subs and string evals that are not in use. Returns false, and
 * frees nothing, if memory is out. */
bool nytp_arcs_release(struct nytp_recorder *rec);

#endif
