/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What perl calls us for: ops that run, code that is compiled, bodies that are freed. load.c
 * installs the hooks; each finds the recorder of its interpreter (nytp_recorder_of()) and hands
 * the event to the file that it concerns.
 */
#ifndef NYTP_HOOKS_H
#define NYTP_HOOKS_H

#include "XS/perl/perl_compat.h"

struct nytp_recorder;

/* The part of the state that hooks.c writes. */
struct nytp_rec_hooks {
    bool sees_compilation; /* the interpreter has our block hooks */
};

/* All that the options ask for; again when more options have come. */
void nytp_hooks_install(pTHX_ struct nytp_recorder *rec);

/* The interpreter was cloned from the one that `from` records, with its block hooks. */
void nytp_hooks_inherit(struct nytp_recorder *rec, const struct nytp_recorder *from);

/* Before recording begins: with stmts=0, too, the subs that are open now are seen to be left.
 */
void nytp_hooks_watch_returns(pTHX);

/* The interpreter is going. */
void nytp_hooks_forget(pTHX);

#endif
