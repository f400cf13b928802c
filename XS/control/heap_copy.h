/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A stopped copy of the process, in which `nytp-spy heap` counts the values of one moment while
 * the program goes on. The program pays for the fork and, while the copy exists, for copies of
 * the pages that it writes.
 *
 * The program sees nothing of it. clone() makes the copy, so no pthread_atfork() handler runs.
 * It ends without a signal, and wait() neither waits for it nor returns it (clone(2),
 * __WCLONE). It runs none of the program's code and writes none of its buffers. It closes all
 * of the program's descriptors before it reports, so it holds no lock, port or pipe open. Linux
 * only.
 */
#ifndef NYTP_HEAP_COPY_H
#define NYTP_HEAP_COPY_H

#include "XS/platform/own_fd.h"

/* In the program's thread, at a safe point. The copy sends "ready" to `client`, a socket, when
 * it can be read. It ends when the client hangs up, or after ten minutes. Returns true and its
 * pid with the time for which the program stood still in `text`, or false and the reason. */
bool nytp_heap_copy_make(const struct nytp_own_fd *client, char *text, size_t size);

/* In the tick thread, now and then: reaps copies that have ended. */
void nytp_heap_copies_reap(void);

/* Ends all copies before this process becomes another program, which would receive their exit
 * status. Not concurrent with nytp_heap_copies_reap(). */
void nytp_heap_copies_end(void);

/* In a fork's child: the copies belong to the parent. */
void nytp_heap_copies_forget(void);

#endif
