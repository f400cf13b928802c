/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Recorders beside the process's first: of threads, whose interpreters perl_clone() makes, and
 * of further interpreters in a program that embeds perl. Each writes its own profile, numbered
 * in its name and attributes.
 */
#ifndef NYTP_THREADS_H
#define NYTP_THREADS_H

#include "XS/state/state.h"

/* Call it when the object is loaded into an interpreter. Programs that only read profiles have
 * no recorder, and their threads run CLONE as well. */
void nytp_thread_boot(pTHX);

/* Registers a new recorder, so that it is found when the interpreter is cloned. It is a further
 * one if the process has another. */
void nytp_thread_of_process(pTHX_ struct nytp_recorder *rec);

/* In CLONE, where the new interpreter is current and its creator waits: if the creator has a
 * recorder, makes one with the same options. It begins at its first event if the creator is
 * recording now. */
void nytp_thread_begins(pTHX);

#endif
