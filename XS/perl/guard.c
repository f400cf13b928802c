/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Guards; see guard.h.
 */
#include "guard.h"

bool nytp_guards_choose(pTHX_ struct nytp_guards *guards, bool watches_signals)
{
    guards->unsafe_signals = (PL_signals & PERL_SIGNALS_UNSAFE_FLAG) != 0;
    guards->thread = pthread_self();
    return guards->unsafe_signals || watches_signals;
}

void nytp_guards_enter(struct nytp_guards *guards)
{
    if (guards->depth == 0)
        guards->thread = pthread_self();
    if (guards->depth == 0 && guards->unsafe_signals) {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &guards->unguarded);
    }
    guards->depth++;
}

void nytp_guards_leave(struct nytp_guards *guards)
{
    if (--guards->depth > 0)
        return;
    if (guards->unsafe_signals)
        pthread_sigmask(SIG_SETMASK, &guards->unguarded, NULL);
    if (guards->pending_signal != 0)
        raise(guards->pending_signal);
}
