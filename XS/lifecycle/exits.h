/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Exits that perl's END blocks miss: signals (sigexit=), the C library's exit() (libcexit=1),
 * POSIX::_exit. life.c has them watched; each ends the profile.
 */
#ifndef NYTP_EXITS_H
#define NYTP_EXITS_H

#include "XS/state/state.h"

/* Finishes the profile; may run in a signal. */
typedef void nytp_finish_fn(struct nytp_recorder *rec);

/* Returns the number of a signal, named with or without SIG, or 0 if there is none. */
int nytp_signal_number(const char *name, size_t len);

void nytp_exits_watch(struct nytp_recorder *rec, nytp_finish_fn *finish_profile);

/* Finishes the profile in the C library's exit() from now on. */
void nytp_exits_watch_libc(void);

/* Makes the xsub POSIX::_exit finish the profile first, however it is called: it ends the
 * process behind perl's back. Does nothing if POSIX is not loaded or is watched already. */
void nytp_exits_watch_posix(pTHX_ void (*finish_first)(pTHX_ struct nytp_recorder *rec));

/* Sets functions that nytp_exits_leave() calls before POSIX::_exit, and before an exec, which
 * may fail. In a signal of sigexit= `leave_killed` is called instead. NULL: none. */
void nytp_exits_leave_first(void (*leave)(void), void (*leave_killed)(void));
void nytp_exits_leave(void);

#endif
