/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The outermost calls in a calling-context tree: contexts of a sub that are not inside another
 * call of the same sub. Summing up by sub below them counts nothing twice.
 */
#ifndef NYTP_OUTERMOST_H
#define NYTP_OUTERMOST_H

#include "model.h"

/* Called for each outermost call, callers first, with roots. `node` is in profile->nodes. */
typedef void nytp_outermost_fn(void *context, uint32_t process, uint32_t node);

/* Visits all processes in order. Returns false, with nothing visited, if memory is out. */
bool nytp_outermost_each(const struct nytp_profile *profile, nytp_outermost_fn *visit,
                         void *context);

#endif
