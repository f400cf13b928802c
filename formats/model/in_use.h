/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Memory in use that several files of a profile report.
 *
 * A process may be recorded into several files, one after another. Each reports all memory in
 * use at its end, including memory that earlier files allocated, so only the last file counts.
 *
 * A fork's child shares its parent's memory page by page until one of them writes there. It is
 * counted in the parent, or in the first child if the profile does not have the parent.
 */
#ifndef NYTP_IN_USE_H
#define NYTP_IN_USE_H

#include "model.h"

/* Subtracts memory in use that is counted in another process (struct nytp_svs, `elsewhere`).
 * Call it before subs and lines are summed up, and again when processes were added or removed.
 * Returns false if memory is out. */
bool nytp_in_use_count_once(struct nytp_profile *profile);

#endif
