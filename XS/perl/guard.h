/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Guards: sections of the recorder's code that no signal may interrupt. With
 * PERL_SIGNALS=unsafe perl runs the program's handlers in signals; then a guard blocks all
 * signals. A signal that ends the program (exits.h) is delayed until the guard is left. Code
 * that changes the recorder calls nytp_guard() and nytp_unguard() (state.h), which come here if
 * signals can matter.
 */
#ifndef NYTP_GUARD_H
#define NYTP_GUARD_H

#include "perl_compat.h"

#include <pthread.h>
#include <signal.h>

struct nytp_guards {
    bool unsafe_signals;         /* PERL_SIGNALS=unsafe: handlers run at any point */
    volatile unsigned depth;     /* nesting */
    sigset_t unguarded;          /* the signal mask outside guards */
    pthread_t thread;            /* the thread that was last inside */
    volatile int pending_signal; /* came inside; 0: none */
};

/* Call it once, outside all guards. Returns whether guards are needed: not if signals are safe
 * and none is watched (`watches_signals`). */
bool nytp_guards_choose(pTHX_ struct nytp_guards *guards, bool watches_signals);

void nytp_guards_enter(struct nytp_guards *guards) NYTP_COLD;
void nytp_guards_leave(struct nytp_guards *guards) NYTP_COLD;

#endif
