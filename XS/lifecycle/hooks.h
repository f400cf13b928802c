/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * perl's callbacks: ops that run, code that is compiled, bodies that are freed. load.c installs
 * them; each finds its interpreter's recorder (nytp_recorder_of()) and passes the event to the
 * file concerned.
 */
#ifndef NYTP_HOOKS_H
#define NYTP_HOOKS_H

#include "XS/perl/perl_compat.h"

struct nytp_recorder;

/* Installs the hooks that options ask for. Call it again when options are added. */
void nytp_hooks_install(pTHX_ struct nytp_recorder *rec);

/* Before recording begins: makes the end of open subs an event also without the statement
 * profiler. */
void nytp_hooks_watch_returns(pTHX_ const struct nytp_recorder *rec);

/* For an interpreter that is being destroyed. */
void nytp_hooks_forget(pTHX);

#endif
