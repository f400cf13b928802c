/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A copy of the process that stands still: whoever may look at the program counts the values of
 * one moment in it (nytp-spy heap), while the program goes on. What the program pays is the
 * fork, and a page that it writes to is copied while the copy is there.
 *
 * The program sees nothing of the copy. It is made by clone(), so that no handler of
 * pthread_atfork() runs, and ends with no signal to its parent: wait() of the program neither
 * waits for it nor is given it (clone(2), __WCLONE). It runs none of the program's code, writes
 * none of its buffers, and has closed all of the program's descriptors before anybody is told
 * of it, so that it holds no lock, no port and no pipe open. Of Linux only.
 */
#ifndef NYTP_HEAP_COPY_H
#define NYTP_HEAP_COPY_H

#include "XS/ground/own_fd.h"

struct nytp_heap_copy {
    long pid;
    uint64_t pause_ns; /* for which the program stood still */
};

/* In the program's thread, at a safe point. The copy says "ready" to `client`, a socket, when
 * it can be looked at, and ends when who is there hangs up, or after ten minutes. False: there
 * is none, and `error` says why. */
bool nytp_heap_copy_make(const struct nytp_own_fd *client, struct nytp_heap_copy *copy,
                         char *error, size_t size);

/* In the tick thread (raw_thread.h), from time to time: copies that have ended are not left as
 * zombies. */
void nytp_heap_copies_reap(void);

/* Copies are ended: this process becomes another program, which would be told of their end. Not
 * beside nytp_heap_copies_reap(). */
void nytp_heap_copies_end(void);

/* In the child of a fork: they are its parent's. */
void nytp_heap_copies_forget(void);

#endif
