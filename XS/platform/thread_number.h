/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Numbers for the interpreters of a process beside its first. A thread's is what threads->tid
 * says in it, which it does from CLONE on (threads.xs). Interpreters that are no threads of
 * that module (mod_perl's, a further one in a program that embeds perl) get the next free
 * number; should a thread come to have the same tid later, it gets another.
 */
#ifndef NYTP_THREAD_NUMBER_H
#define NYTP_THREAD_NUMBER_H

#include "XS/perl/perl_compat.h"

/* A number for this interpreter that no other of the process has had, from 1. Calls an xsub. */
unsigned nytp_thread_number(pTHX);

#endif
