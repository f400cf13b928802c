/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The recorder is steered from outside: by a socket (control=) and by a signal (sigcontrol=).
 * Commands are obeyed at perl's next safe point.
 */
#ifndef NYTP_CONTROL_H
#define NYTP_CONTROL_H

#include "XS/perl/perl_compat.h"

struct nytp_control_target;

/* The part of the state that control.c writes. */
struct nytp_rec_control {
    struct nytp_control_target *target; /* owned; NULL: nobody steers it */
};

/* Options are known, or the interpreter is a thread's and has got those of its maker. The
 * second of two calls does nothing. */
void nytp_control_begin(pTHX);

#endif
