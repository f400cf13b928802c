/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Takes one process out of a profile, for formats and options that write each process by
 * itself.
 */
#ifndef NYTP_ONE_PROCESS_H
#define NYTP_ONE_PROCESS_H

#include "formats/model/model.h"

/* One process of the profile as a profile of its own. Borrows names and source text: free it
 * (nytp_profile_free) before `profile`. NULL with *error set. */
struct nytp_profile *nytp_select_process(const struct nytp_profile *profile, uint32_t process,
                                         struct nytp_error *error);

#endif
