/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Inclusive statement counts, processor time, SVs and memory per arc or sub. The sub profiler
 * measures time and calls of an arc; what else happened inside it is known from the
 * calling-context tree only.
 */
#ifndef NYTP_INCLUSIVE_H
#define NYTP_INCLUSIVE_H

#include "exporters/base/waits.h"

#include "formats/model/measures.h"

/* The sum of `value`, one of a measure's functions, over all that happened in the calls of each
 * arc, by arc index. Only outermost calls of the callee count, so that what arrives at a sub
 * adds up to its inclusive value. A context whose call site is not known exactly is shared out
 * over the arcs between the two subs, in proportion to their calls. The caller frees the array;
 * Returns NULL if memory is out. */
uint64_t *nytp_inclusive(const struct nytp_profile *profile, nytp_measure_fn *value);

/* The same by node: what happened in it and in the calls from it. */
uint64_t *nytp_inclusive_of_nodes(const struct nytp_profile *profile, nytp_measure_fn *value);

/* The same by sub, wherever it was called. */
uint64_t *nytp_inclusive_of_subs(const struct nytp_profile *profile, nytp_measure_fn *value);

/* Returns by sub the time waited in its outermost calls, by itself or by its callees. */
int64_t *nytp_inclusive_waits(const struct nytp_profile *profile,
                              const struct nytp_waits *waits);

/* Each measure of memory by arc or by sub, its own values or, by arc, `as_weights`; NULL where
 * it was not recorded. Returns false if memory is out; free in either case. */
struct nytp_inclusive_memory {
    uint64_t *of[NYTP_N_WEIGHTS];
};
bool nytp_inclusive_memory_init(struct nytp_inclusive_memory *memory,
                                const struct nytp_profile *profile, bool by_arc,
                                bool as_weights);
void nytp_inclusive_memory_free(struct nytp_inclusive_memory *memory);

#endif
