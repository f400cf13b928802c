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

/* Where a list of calls is cut. Ask about the calls in order, then about those that come later:
 * only larger ones stay. */
struct nytp_span_cut {
    struct nytp_span_size size; /* the smallest that stays */
    uint64_t n_of_size;         /* of exactly that size: how many still stay */
};

/* Every call stays. */
#define NYTP_NO_SPAN_CUT ((struct nytp_span_cut){.size.depth = UINT32_MAX})

/* The cut that leaves the `most` largest of n calls; 0 < most < n. Returns false if memory is
 * out. */
bool nytp_span_cut_find(struct nytp_span_cut *cut, const struct nytp_span_size *sizes,
                        uint32_t n, uint32_t most);

/* Returns whether the next call stays. */
bool nytp_span_cut_keeps(struct nytp_span_cut *cut, struct nytp_span_size size);

/* Leave at most `most` calls in the time lines of all these profiles together. Returns false if
 * memory is out. */
bool nytp_profiles_limit_spans(struct nytp_profile **profiles, uint32_t n_profiles,
                               uint32_t most);

#endif
