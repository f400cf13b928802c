/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The calls the program blocks in when a signal ends it: calls of which no tick may have seen a
 * safe point. perl may be in the middle of anything: nothing is asked of it, and nothing
 * allocated.
 */
#ifndef NYTP_BLOCKED_H
#define NYTP_BLOCKED_H

#include "XS/platform/open_stack.h"
#include "sampling/step.h"

struct nytp_recorder;
struct nytp_call;

/* Writes "REASON PEER" or "REASON", or "" if the reason is not known. */
void nytp_blocked_put_wait(const struct nytp_wait_seen *seen, char text[NYTP_WAIT_ROOM]);

/* Returns whether samples show an xsub or a builtin there; writes the name that they have. */
bool nytp_blocked_has_leaf(const struct nytp_recorder *rec,
                           const struct nytp_open_stack *stack);
void nytp_blocked_put_leaf(struct nytp_fixed_text *text, const struct nytp_recorder *rec,
                           const struct nytp_open_stack *stack);

/* Writes the open calls into the stream, and the sample `before` it at the point where its
 * calls have begun. `open` has the call for which each of rec->calls.frames was made; frames
 * that have ended are left. `sample` has the times, and gets its place. Returns false, and
 * writes nothing, if it is not known which calls are open or if there are too many. */
bool nytp_blocked_put(struct nytp_recorder *rec, const struct nytp_call *open,
                      struct nytp_last_sample *before, struct nytp_last_sample *sample);

#endif
