/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Endings that perl's END blocks do not see: signals (sigexit=), the C library's exit()
 * (libcexit=1), POSIX::_exit. life.c has them watched, and the profile gets its end
 * in each.
 */
#ifndef NYTP_EXITS_H
#define NYTP_EXITS_H

#include "XS/state/state.h"

/* Finishes the profile; may run inside a signal. */
typedef void nytp_finish_fn(struct nytp_recorder *rec);

/* By its name, with or without SIG; 0: there is none such. */
int nytp_signal_number(const char *name, size_t len);

/* The signals and exits that options name. */
void nytp_exits_watch(struct nytp_recorder *rec, nytp_finish_fn *finish_profile);

/* POSIX::_exit ends the process behind perl's back: have the xsub itself finish the profile
 * first, however it is called. Nothing happens where POSIX is not loaded, or is watched. */
void nytp_exits_watch_posix(pTHX_ void (*finish_first)(pTHX_ struct nytp_recorder *rec));

/* What is to happen, beside that, before POSIX::_exit and before another program is executed in
 * this process, which may fail: the process is left. `leave_killed` is called in a signal of
 * sigexit=, instead. NULL: not any more. */
void nytp_exits_leave_first(void (*leave)(void), void (*leave_killed)(void));
void nytp_exits_leave(void);

#endif
