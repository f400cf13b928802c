/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Takes processes out of a profile: one, for formats and options that write each process by
 * itself, or those of one side of a comparison.
 */
#ifndef NYTP_ONE_PROCESS_H
#define NYTP_ONE_PROCESS_H

#include "formats/model/arcs_before.h"
#include "formats/model/model.h"

/* Returns `n` processes of the profile (at least one), from `first` on, as a profile, or NULL
 * with *error set. `calls` is from nytp_arcs_before_init(), once for all processes that are
 * taken. The profile borrows names and source text: free it (nytp_profile_free) before
 * `profile`. Subs and files keep their numbers. */
struct nytp_profile *nytp_select_processes(const struct nytp_profile *profile,
                                           const struct nytp_arcs_before *calls, uint32_t first,
                                           uint32_t n, struct nytp_error *error);

/* The same of one profile that is taken apart no further. */
struct nytp_profile *nytp_select_processes_once(const struct nytp_profile *profile,
                                                uint32_t first, uint32_t n,
                                                struct nytp_error *error);

#endif
