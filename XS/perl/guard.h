/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Guards: stretches of the recorder's code that no signal may see half done. With
 * PERL_SIGNALS=unsafe perl runs the program's handlers inside signals; then a guard blocks all
 * signals. A signal that ends the program (exits.h) comes at any time; when it comes inside a
 * guard it is put off until the guard is left, a moment later. Everybody who changes the
 * recorder calls nytp_guard() and nytp_unguard() (state.h), which come here where signals can
 * matter.
 */
#ifndef NYTP_GUARD_H
#define NYTP_GUARD_H

#include "perl_compat.h"

#include <pthread.h>
#include <signal.h>

struct nytp_guards {
    bool unsafe_signals;     /* PERL_SIGNALS=unsafe: handlers run at any point of ours, too */
    volatile unsigned depth; /* how many are nested */
    sigset_t unguarded;      /* the signal mask outside them */
    pthread_t thread;        /* that was last inside them */
    volatile int pending_signal; /* came inside; 0: none */
};

/* Once, outside all guards. Whether any are needed: if signals are not unsafe and none is
 * watched (`watches_signals`), nothing ever comes between. */
bool nytp_guards_choose(pTHX_ struct nytp_guards *guards, bool watches_signals);

void nytp_guards_enter(struct nytp_guards *guards) NYTP_COLD;
void nytp_guards_leave(struct nytp_guards *guards) NYTP_COLD;

#endif
