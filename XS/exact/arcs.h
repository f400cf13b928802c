/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Arcs: what the calls of one sub from one place cost so far. calls.c adds each call that ends;
 * profile.c has all of them written as SUB_CALLERS records at the end. They are kept in
 * rec->arcs, an index by place, caller and callee, which only arcs.c changes.
 */
#ifndef NYTP_ARCS_H
#define NYTP_ARCS_H

#include "XS/state/frames.h"
#include "XS/names/subs.h"

#include "formats/stream/write/writer.h"

struct nytp_recorder;

/* Calls of one sub from one place. Times are in ticks of the clock's axis. */
struct nytp_rec_arc {
    uint32_t fid, line;
    struct nytp_rec_sub *caller_sub, *callee_sub;
    uint64_t count;
    int64_t incl_ticks, excl_ticks;
    int64_t reci_ticks;              /* inclusive time of calls inside other calls of the sub */
    uint32_t rec_depth;              /* of these, how deep they went */
    struct nytp_encoded_entry entry; /* with calls in comments */
};

struct nytp_rec_arc *nytp_arc_find(struct nytp_recorder *rec, struct nytp_rec_sub *sub,
                                   const struct nytp_call_site *site);

/* The arc that calls of a sub from there belong to; made when there is none. */
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

/* Another profile file is written for a while, which has arcs of its own: `arcs` keeps those of
 * this one. */
void nytp_arcs_save(struct nytp_recorder *rec, struct nytp_index *arcs);
/* They are back, in the place of the other file's. What subs knew of these is forgotten: they
 * were called as the arcs say. */
void nytp_arcs_restore(struct nytp_recorder *rec, const struct nytp_index *arcs);

/* Forget all, for a new profile file: no sub was called yet. */
void nytp_arcs_clear(struct nytp_recorder *rec);

/* Write all, in an order that does not depend on addresses; those of xsubs and builtins are
 * told by a marker of their own. */
void nytp_arcs_write(struct nytp_recorder *rec);
void nytp_arcs_write_unsorted(struct nytp_recorder *rec); /* for signals: allocates nothing */

/* Write and free the arcs of subs and string evals that are not in use. False when out of
 * memory: then nothing was freed. */
bool nytp_arcs_release(struct nytp_recorder *rec);
void nytp_arcs_free(struct nytp_recorder *rec);

#endif
