/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Chooses the calls that a time line keeps if there are more than it may hold: the longest; of
 * the same length the outer ones, then the earlier ones. A call within another is no longer
 * than that one, so no call stays without the one around it.
 */
#ifndef NYTP_SPAN_BUDGET_H
#define NYTP_SPAN_BUDGET_H

#include "formats/model/model.h"

/* The size that decides whether a call stays. */
struct nytp_span_size {
    uint64_t length; /* in any unit that is the same for all */
    uint32_t depth;
};

/* Where a list of calls is cut. Ask about the calls in order. */
struct nytp_span_cut {
    struct nytp_span_size size; /* the smallest that stays */
    uint64_t n_of_size;         /* of exactly that size: how many still stay */
};

/* A lower bound of the cut while calls are still coming. Calls are counted by magnitude of
 * length; the most that may stay have a floor below them, and calls below it can go at once.
 * The floor is near the cut, not the cut itself: calls of its own magnitude stay. */
#define NYTP_MAGNITUDES 3776u
struct nytp_span_floor {
    uint32_t most;              /* more than 0 */
    uint32_t magnitude;         /* of the floor; … */
    uint64_t length;            /* … its smallest length */
    uint32_t n_above;           /* calls of greater magnitudes; always less than `most` */
    struct nytp_span_size size; /* a later call of this size or smaller is below it, too */
    uint32_t counts[NYTP_MAGNITUDES];
};
void nytp_span_floor_init(struct nytp_span_floor *floor, uint32_t most);

/* A call has come. False if it is below the floor; else the floor may have risen. */
bool nytp_span_floor_add(struct nytp_span_floor *floor, struct nytp_span_size size);

/* Returns whether a call that has come before may stay still. */
bool nytp_span_floor_keeps(const struct nytp_span_floor *floor, struct nytp_span_size size);

/* The calls that have come were cut to the most that may stay; the smallest of those is `size`.
 * From those that come later, the floor keeps only larger ones. */
void nytp_span_floor_raise(struct nytp_span_floor *floor, struct nytp_span_size size);

/* Where the lengths and depths of `n` calls lie: those of a call `stride` bytes behind those of
 * the call before. */
struct nytp_span_sizes {
    const uint64_t *lengths;
    const uint32_t *depths;
    size_t stride;
    uint32_t n;
};

/* The cut that leaves the `most` largest; 0 < most < n. Returns false if memory is out. */
bool nytp_span_cut_find(struct nytp_span_cut *cut, const struct nytp_span_sizes *sizes,
                        uint32_t most);

/* Returns whether the next call stays. */
bool nytp_span_cut_keeps(struct nytp_span_cut *cut, struct nytp_span_size size);

/* Leave at most `most` calls in the time lines of all these profiles together. Returns false if
 * memory is out. */
bool nytp_profiles_limit_spans(struct nytp_profile **profiles, uint32_t n_profiles,
                               uint32_t most);

#endif
