/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Inclusive statement counts, processor time, SVs and memory per arc or sub. The sub profiler
 * measures time and calls of an arc; what else happened inside it is known from the
 * calling-context tree only.
 */
#ifndef NYTP_INCLUSIVE_H
#define NYTP_INCLUSIVE_H

#include "formats/model/model.h"

/* What of a line in a context is added up: its statements, its processor time, its SVs, those
 * kept or its memory. Only its SVs may be below 0, and are a sum modulo 2^64 then. */
typedef uint64_t nytp_line_value_fn(const struct nytp_profile *profile, uint32_t line);
uint64_t nytp_line_statements(const struct nytp_profile *profile, uint32_t line);
uint64_t nytp_line_cpu_ticks(const struct nytp_profile *profile, uint32_t line);
uint64_t nytp_line_svs(const struct nytp_profile *profile, uint32_t line);
uint64_t nytp_line_kept_svs(const struct nytp_profile *profile, uint32_t line);
extern nytp_line_value_fn *const nytp_line_bytes[NYTP_N_BYTES_MEASURES];

/* The sum of `value` over all that happened in the calls of each arc, by arc index. Only
 * outermost calls of the callee count, so that what arrives at a sub adds up to its inclusive
 * value. A context whose call site is not known exactly is shared out over the arcs between the
 * two subs, in proportion to their calls. The caller frees the array; NULL when there is no
 * memory. */
uint64_t *nytp_inclusive(const struct nytp_profile *profile, nytp_line_value_fn *value);

/* The same by node: what happened in it and in the calls from it. */
uint64_t *nytp_inclusive_of_nodes(const struct nytp_profile *profile,
                                  nytp_line_value_fn *value);

/* The same by sub, wherever it was called. */
uint64_t *nytp_inclusive_of_subs(const struct nytp_profile *profile, nytp_line_value_fn *value);

/* Memory by arc or by sub, each measure; all NULL where it was not recorded. False when there
 * is no memory; nytp_inclusive_bytes_free() in either case. */
struct nytp_inclusive_bytes {
    uint64_t *of[NYTP_N_BYTES_MEASURES];
};
bool nytp_inclusive_bytes_init(struct nytp_inclusive_bytes *bytes,
                               const struct nytp_profile *profile, bool by_arc);
void nytp_inclusive_bytes_free(struct nytp_inclusive_bytes *bytes);

#endif
