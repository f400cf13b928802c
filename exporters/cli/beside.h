/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Facts about inputs from the system and from files beside them: which are still being written,
 * and which processes belong to a run. A forked process's profile has its parent's name with
 * ".PID" behind it.
 */
#ifndef NYTP_BESIDE_H
#define NYTP_BESIDE_H

#include "formats/model/model.h"

/* Whether the (first) process of the profile is running and has the file open. */
bool nytp_is_being_recorded(const char *path, const struct nytp_profile *profile);

/* Say when processes that belong to the run are not among the inputs. */
void nytp_say_files_beside(const char *const *paths, int n_paths,
                           const struct nytp_profile *profile);

#endif
