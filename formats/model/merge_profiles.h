/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Several profiles become one, for exports of more than one input.
 */
#ifndef NYTP_MERGE_PROFILES_H
#define NYTP_MERGE_PROFILES_H

#include "formats/base/error.h"
#include "model.h"

enum nytp_merge_purpose {
    NYTP_MERGE_INTO_ONE,
    NYTP_MERGE_OF_PARTS,   /* that are merged into one later: what all inputs decide waits */
    NYTP_MERGE_TO_COMPARE, /* each stands for itself, and counts memory in use in others, too */
};

/* Merge several profiles into one: subs are unified by name and file, files by name (but not
 * string evals, whose numbers mean nothing in another run). A sub whose file is not known is
 * the one of its name, if all inputs have but one. Each input keeps a recording of its own with
 * its own processes. Frees the inputs in any case. NULL with *error set on failure: memory, or
 * sums beyond NYTP_MAX_TOTAL_TICKS. */
struct nytp_profile *nytp_profiles_merge(struct nytp_profile **profiles, uint32_t n_profiles,
                                         enum nytp_merge_purpose purpose,
                                         struct nytp_error *error);

#endif
