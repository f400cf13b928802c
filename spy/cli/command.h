/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The program that `record -- COMMAND` starts. Signals are passed to it, and its status becomes
 * ours.
 *
 * A request to end nytp-spy is for COMMAND: the signal is passed on, and recording goes on
 * until COMMAND ends. Signals that the terminal, timeout(1) or kill(1) sends to the whole
 * process group have reached COMMAND already. A witness, a process of ours in the same group,
 * finds out. The second Ctrl-C ends the recording.
 */
#ifndef NYTP_SPY_COMMAND_H
#define NYTP_SPY_COMMAND_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct nytp_command {
    pid_t pid; /* 0: none was started */
    pid_t witness;
    int status;
    bool has_ended;
};

/* Starts argv with this limit of descriptors. With `adopts`, processes whose parents end become
 * our children and are waited for. Returns false with errno. */
bool nytp_command_start(struct nytp_command *command, char **argv, bool adopts,
                        const struct rlimit *descriptors);

/* Notices the end of COMMAND. */
void nytp_command_poll(struct nytp_command *command);

void nytp_command_wait(struct nytp_command *command);

/* Returns its exit status, or 128 plus the signal that ended it, or the second Ctrl-C's. */
int nytp_command_status(const struct nytp_command *command);

#endif
