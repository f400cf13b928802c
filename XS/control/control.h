/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Control of the recorder from outside: by a socket (control=) and a signal (sigcontrol=).
 * Commands run at perl's next safe point.
 */
#ifndef NYTP_CONTROL_H
#define NYTP_CONTROL_H

#include "XS/perl/perl_compat.h"

/* Call it when options are known, also in a thread's interpreter after it has got its
 * creator's. A second call does nothing. */
void nytp_control_begin(pTHX);

#endif
