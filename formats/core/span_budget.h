/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Which calls a time line keeps when there are more than it may hold: the longest; of calls of
 * the same length the outer ones, then the earlier ones. What lies in a call is no longer than
 * the call itself, so that no call stays without the one around it.
 */
#ifndef NYTP_SPAN_BUDGET_H
#define NYTP_SPAN_BUDGET_H

#include "model.h"

/* What decides about a call. */
struct nytp_span_size {
    uint64_t length; /* in any unit that is the same for all */
    uint32_t depth;
};

/* Where a list of calls is cut. Ask about the calls in order. */
struct nytp_span_cut {
    struct nytp_span_size size; /* the smallest that stays */
    uint64_t n_of_size;         /* of exactly that size: how many still stay */
};

/* Where the lengths and depths of `n` calls lie: those of a call `stride` bytes behind those of
 * the call before. */
struct nytp_span_sizes {
    const uint64_t *lengths;
    const uint32_t *depths;
    size_t stride;
    uint32_t n;
};

/* The cut that leaves the `most` largest; 0 < most < n. False when memory is out. */
bool nytp_span_cut_find(struct nytp_span_cut *cut, const struct nytp_span_sizes *sizes,
                        uint32_t most);

/* Whether the next call stays. */
bool nytp_span_cut_keeps(struct nytp_span_cut *cut, struct nytp_span_size size);

/* Leave at most `most` calls in the time lines of all these profiles together. False when
 * memory is out. */
bool nytp_profiles_limit_spans(struct nytp_profile **profiles, uint32_t n_profiles,
                               uint32_t most);

#endif
