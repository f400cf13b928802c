/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Waits in accept() that the summaries of a recording leave out (accept_waits.h): the arcs get
 * them, as those of a recorder have them that counts the wait.
 */
#ifndef NYTP_ACCEPT_ARCS_H
#define NYTP_ACCEPT_ARCS_H

#include "assignment.h"

/* Gives arcs of accept() without any time what accepts on their line waited, but in recordings
 * of our own recorder, which tell what recording cost. Where the recording
 * has no calls one by one, that is what its other builtins and xsubs leave of the line's
 * statements. To be called when subs have been assigned. False when memory is out. */
bool nytp_accept_arcs_fill(struct nytp_assignment *s);

/* Adds to the recorded arcs of calls that led to such accepts what these waited. To be
 * called when the tree is complete. False when memory is out. */
bool nytp_accept_arcs_raise(const struct nytp_assignment *s);

#endif
