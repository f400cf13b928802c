/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Several processes in one sum: what a parent waits for a child is the child's own time, which
 * is in the profile already.
 */
#ifndef NYTP_CHILD_WAITS_H
#define NYTP_CHILD_WAITS_H

#include "../../formats/core/model.h"

/* Take out of each process what it waited for its children (wait, waitpid, system, backticks;
 * see core/waits.def), as far as the times of those that are in the profile go. What was taken
 * out is added up in *ticks. Time lines stay as they are. False with *error set; the profile is
 * then only good for nytp_profile_free(). */
bool nytp_count_child_waits_once(struct nytp_profile *profile, int64_t *ticks,
                                 struct nytp_error *error);

#endif
