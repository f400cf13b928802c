/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Endings that perl's END blocks do not see: signals, the C library's exit().
 */
#ifndef NYTP_EXITS_H
#define NYTP_EXITS_H

#include "state.h"

/* Finishes the profile; may run inside a signal. */
typedef void nytp_finish_fn(struct nytp_recorder *rec);

/* The signals and exits that options name. */
void nytp_exits_watch(struct nytp_recorder *rec, nytp_finish_fn *finish_profile);

#endif
