/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Memory in use, of a process that has been recorded into several files one after another. Each
 * file tells what was in use at its end, also what earlier ones allocated: only the last
 * counts.
 */
#ifndef NYTP_IN_USE_H
#define NYTP_IN_USE_H

#include "model.h"

/* What is in use in nodes of other files than the last goes, before subs and lines are summed
 * up. False when memory is out. */
bool nytp_in_use_keep_last(struct nytp_profile *profile);

#endif
