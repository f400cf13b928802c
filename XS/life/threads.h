/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Recorders beside the process's first: of a thread, whose interpreter perl_clone() makes of
 * another, or of a further interpreter in a program that embeds perl. Each writes a profile of
 * its own, by whose name and attributes its number is known (thread_number.h).
 */
#ifndef NYTP_THREADS_H
#define NYTP_THREADS_H

#include "XS/state/state.h"

/* The recorder is new in this interpreter. It can be found from now on when the interpreter is
 * cloned, and is a further one if the process has another. */
void nytp_thread_of_process(pTHX_ struct nytp_recorder *rec);

/* In CLONE, where the new interpreter is current and its maker waits: if that has a recorder,
 * the new one gets one, too, with the same options. It begins at its first event, if the other
 * is recording now. Returns the maker's recorder; NULL: the new interpreter records nothing. */
const struct nytp_recorder *nytp_thread_inherit(pTHX);

#endif
