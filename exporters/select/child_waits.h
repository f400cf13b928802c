/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Several processes in one sum. What a parent waits for its child is the child's own time,
 * which is in the profile already, so it must not count twice.
 */
#ifndef NYTP_CHILD_WAITS_H
#define NYTP_CHILD_WAITS_H

#include "formats/model/model.h"

/* Add to *ticks what each process waited for its children (wait, waitpid, system, backticks;
 * see base/waits.def), as far as the times of those that are in one of the profiles go. With
 * `take_out` the profiles are without it from then on, but for their time lines. False with
 * *error set; they are then only good for nytp_profile_free(). */
bool nytp_child_waits(struct nytp_profile *const *profiles, uint32_t n, bool take_out,
                      int64_t *ticks, struct nytp_error *error);

#endif
