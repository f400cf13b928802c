/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The contexts of a calling-context tree, and its outermost calls: contexts of a sub that are
 * not inside another call of the same sub. Summing up by sub below them counts nothing twice.
 */
#ifndef NYTP_OUTERMOST_H
#define NYTP_OUTERMOST_H

#include "model.h"

/* Called for each context, callers first, with roots. `above` is how often its sub is on the
 * path to it. Returns false to stop. */
typedef bool nytp_context_fn(void *context, uint32_t process, uint32_t node, uint32_t above);

/* Visits all processes in order. Returns false if it was stopped; also, with nothing visited,
 * if memory is out. */
bool nytp_contexts_each(const struct nytp_profile *profile, nytp_context_fn *visit,
                        void *context);

/* The same for each outermost call. */
typedef void nytp_outermost_fn(void *context, uint32_t process, uint32_t node);
bool nytp_outermost_each(const struct nytp_profile *profile, nytp_outermost_fn *visit,
                         void *context);

#endif
