/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Arcs: what the calls of one sub from one place cost so far.
 */
#ifndef NYTP_ARCS_H
#define NYTP_ARCS_H

#include "state.h"

struct nytp_rec_arc *nytp_arc_find(struct nytp_recorder *rec,
                                   const struct nytp_rec_frame *frame);

/* The arc that an open call belongs to; made when there is none. */
static inline struct nytp_rec_arc *nytp_arc_of(struct nytp_recorder *rec,
                                               const struct nytp_rec_frame *frame)
{
    struct nytp_rec_arc *const arc = frame->sub->last_arc;
    if (LIKELY(arc != NULL && arc->caller_sub == frame->caller && arc->line == frame->line &&
               arc->fid == frame->fid))
        return arc;
    return nytp_arc_find(rec, frame);
}

void nytp_arcs_clear(struct nytp_recorder *rec);
void nytp_arcs_write(struct nytp_recorder *rec);
void nytp_arcs_write_unsorted(struct nytp_recorder *rec); /* allocates nothing */
/* Write and free the arcs of subs that are not in use. False when out of memory. */
bool nytp_arcs_release(struct nytp_recorder *rec);
void nytp_arcs_free(struct nytp_recorder *rec);

#endif
