/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What perl calls us for: ops that run, code that is compiled, bodies that are freed.
 */
#ifndef NYTP_HOOKS_H
#define NYTP_HOOKS_H

#include "state.h"

void nytp_hooks_install(pTHX_ struct nytp_recorder *rec);
void nytp_hooks_forget(pTHX); /* the interpreter is going */

#endif
