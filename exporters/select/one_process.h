/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Takes processes out of a profile: one, for formats and options that write each process by
 * itself, or those of one side of a comparison.
 */
#ifndef NYTP_ONE_PROCESS_H
#define NYTP_ONE_PROCESS_H

#include "formats/model/model.h"

/* `n` processes of the profile (at least one), from `first` on, as a profile of its own.
 * Borrows names and source text: free it (nytp_profile_free) before `profile`. Subs and files
 * keep their numbers. NULL with *error set. */
struct nytp_profile *nytp_select_processes(const struct nytp_profile *profile, uint32_t first,
                                           uint32_t n, struct nytp_error *error);

#endif
