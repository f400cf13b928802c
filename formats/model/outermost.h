/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The outermost calls of a calling-context tree: the contexts of a sub that are not inside
 * another call of the same sub. What happened below them, added up by sub, counts nothing
 * twice.
 */
#ifndef NYTP_OUTERMOST_H
#define NYTP_OUTERMOST_H

#include "model.h"

/* Called for each of them, a caller before what it calls. `node` is an index of profile->nodes,
 * and belongs to process `process`. Roots are among them. */
typedef void nytp_outermost_fn(void *context, uint32_t process, uint32_t node);

/* All processes in order. False when memory is out; nothing was visited then. */
bool nytp_outermost_each(const struct nytp_profile *profile, nytp_outermost_fn *visit,
                         void *context);

#endif
