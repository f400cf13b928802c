/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Merges profiles for exports of more than one input.
 */
#ifndef NYTP_MERGE_PROFILES_H
#define NYTP_MERGE_PROFILES_H

#include "formats/base/error.h"
#include "model.h"

enum nytp_merge_purpose {
    NYTP_MERGE_INTO_ONE,
    NYTP_MERGE_OF_PARTS,   /* merged into one later; decisions about all inputs wait */
    NYTP_MERGE_TO_COMPARE, /* each stands alone; memory in use counts in each */
};

/* Merges several profiles into one. Files are unified by name, except for string evals, whose
 * numbers mean nothing in another run. Subs are unified by name and file. A sub of unknown
 * file is unified with the sub of its name if all inputs have only one. Each input keeps its
 * recording and processes. Frees the inputs in any case. Returns NULL with *error set on
 * failure: memory, or sums beyond NYTP_MAX_TOTAL_TICKS. */
struct nytp_profile *nytp_profiles_merge(struct nytp_profile **profiles, uint32_t n_profiles,
                                         enum nytp_merge_purpose purpose,
                                         struct nytp_error *error);

#endif
