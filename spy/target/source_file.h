/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Files that a process calls its source. Which these are the process says: it may be a
 * stranger's.
 */
#ifndef NYTP_SPY_SOURCE_FILE_H
#define NYTP_SPY_SOURCE_FILE_H

#include <stdio.h>
#include <sys/types.h>

enum nytp_source_file {
    NYTP_SOURCE_FILE_NONE, /* there is none that could be read */
    NYTP_SOURCE_FILE_READ,
    NYTP_SOURCE_FILE_CHANGED, /* it was changed, or put there, after the program began */
    NYTP_SOURCE_FILE_SLOW,    /* its file system did not answer in time (apart.h) */
};

/* Open the file that process `pid` has under this name, from its own root or folder. It is what
 * perl read only if it is older than the program, which began `program_s` seconds after the
 * epoch (nytp_program_start()). Root opens for another user's process what that user may read.
 * NULL, and *state says why: also when it is no regular file, or has more than 64 MB. */
FILE *nytp_source_file_open(pid_t pid, const char *name, double program_s,
                            enum nytp_source_file *state);

#endif
