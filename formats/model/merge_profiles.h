/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Several profiles become one, for exports of more than one input.
 */
#ifndef NYTP_MERGE_PROFILES_H
#define NYTP_MERGE_PROFILES_H

#include "formats/base/error.h"
#include "model.h"

/* Merge several profiles into one: subs are unified by name and file, files by name (but not
 * string evals, whose numbers mean nothing in another run). Each input keeps a recording of its
 * own with its own processes. Frees the inputs in any case. `to_compare`: each stands for
 * itself, and counts memory that is in use in others, too (in_use.h). NULL with *error set on
 * failure: memory, or sums beyond NYTP_MAX_TOTAL_TICKS. */
struct nytp_profile *nytp_profiles_merge(struct nytp_profile **profiles, uint32_t n_profiles,
                                         bool to_compare, struct nytp_error *error);

#endif
