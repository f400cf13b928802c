/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Somebody who does a task beside the caller. Nothing in formats/ starts threads, since perl
 * has it loaded, too; a command of its own can lend one (exporters/base/helper_thread.h).
 */
#ifndef NYTP_HELPER_H
#define NYTP_HELPER_H

struct nytp_helper {
    /* Begin the task, which takes as long as it likes; none other is in progress. Neither side
     * touches what the other works on until it was waited for. */
    void (*begin)(struct nytp_helper *self, void (*task)(void *argument), void *argument);
    /* Until the task is done; all that it wrote is there then. */
    void (*wait)(struct nytp_helper *self);
};

#endif
