/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A worker that runs a task beside the caller. Nothing in formats/ starts threads, since perl
 * loads it, too. A command can provide one (exporters/base/helper_thread.h).
 */
#ifndef NYTP_HELPER_H
#define NYTP_HELPER_H

struct nytp_helper {
    /* Starts the task; no other may be running. Until wait() the two sides share no data. */
    void (*begin)(struct nytp_helper *self, void (*task)(void *argument), void *argument);
    /* Waits until the task is done and its results are visible. */
    void (*wait)(struct nytp_helper *self);
};

#endif
