/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Memory in use that several files of a profile tell of. Of a process that has been recorded
 * into several files one after another each tells what was in use at its end, also what earlier
 * ones allocated: only the last counts. And a fork's child has all that its parent had, page by
 * page the same memory until one of the two writes there: it counts in the parent or, where the
 * profile does not have that, in the first of its children.
 */
#ifndef NYTP_IN_USE_H
#define NYTP_IN_USE_H

#include "model.h"

/* What is in use in nodes of the other processes goes (struct nytp_svs, `elsewhere`), before
 * subs and lines are summed up. May be done again when there are more processes, or fewer.
 * False when memory is out. */
bool nytp_in_use_count_once(struct nytp_profile *profile);

#endif
