/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The program that `record -- COMMAND` starts: signals reach it, and its status is ours.
 *
 * Whatever asks nytp-spy to end is for COMMAND: the signal is passed on, and the recording goes
 * on until COMMAND ends. What the terminal, timeout(1) or kill(1) sends to the whole process
 * group, COMMAND has already: a witness, a process of ours in the same group, tells which
 * signals those are. The second Ctrl-C ends the recording.
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

/* With `adopts`, processes whose parents end become ours, and are waited for with it; it has
 * this limit of descriptors. False with errno. */
bool nytp_command_start(struct nytp_command *command, char **argv, bool adopts,
                        const struct rlimit *descriptors);

/* Take notice of its end, if that has come. */
void nytp_command_poll(struct nytp_command *command);

/* Wait for its end, or for a second Ctrl-C. */
void nytp_command_wait(struct nytp_command *command);

/* Its exit status, or 128 and the signal that ended it; the same of the second Ctrl-C. */
int nytp_command_status(const struct nytp_command *command);

#endif
