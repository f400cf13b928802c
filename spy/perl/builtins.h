/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The builtins that are shown as if they were subs: those of slowops.def, which the recorder
 * times.
 */
#ifndef NYTP_SPY_BUILTINS_H
#define NYTP_SPY_BUILTINS_H

#include "running.h"

/* The name of a type of op, if it is one of these; else NULL. */
const char *nytp_timed_builtin(struct nytp_perl *perl, unsigned type);

#endif
