/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Finds the perl in a target (running.h).
 */
#ifndef NYTP_SPY_ATTACH_H
#define NYTP_SPY_ATTACH_H

#include "running.h"

/* Finds perl in the target and chooses the layout that fits it. Does not wait. Returns false
 * with *error set: there is no perl, or an unknown one; it is starting or changes too fast
 * (NYTP_ERR_TRUNCATED: try again later); or reading takes too long (NYTP_ERR_LIMIT: made on
 * purpose). */
bool nytp_attach(struct nytp_perl *perl, struct nytp_target *target, struct nytp_error *error);
void nytp_detach(struct nytp_perl *perl);

/* Look which interpreters there are now. False: they cannot be had, or it would take too long.
 * Those of embedders are not in the ring of threads.xs, so only PL_curinterp is known of them.
 */
bool nytp_find_interpreters(struct nytp_perl *perl);

/* The address of the one that is always there; 0 without threads. */
uint64_t nytp_attached_interpreter(const struct nytp_perl *perl);

/* The name of a type of op if it is a builtin that is shown as if it was a sub: one of
 * slowops.def, which the recorder times. Else NULL. Valid as long as perl. */
const char *nytp_timed_builtin(struct nytp_perl *perl, unsigned type);

#endif
