/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The builtins that are shown as if they were subs: those of slowops.def, which the recorder
 * times.
 */
#ifndef NYTP_SPY_BUILTINS_H
#define NYTP_SPY_BUILTINS_H

#include <stdbool.h>

/* Whether the builtin of this name (PL_op_name) is one. */
bool nytp_is_timed_builtin(const char *name);

#endif
