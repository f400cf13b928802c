/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Source files named by a process, which may be another user's and hostile.
 */
#ifndef NYTP_SPY_SOURCE_FILE_H
#define NYTP_SPY_SOURCE_FILE_H

#include <stdio.h>
#include <sys/types.h>

enum nytp_source_file {
    NYTP_SOURCE_FILE_NONE, /* missing or unreadable */
    NYTP_SOURCE_FILE_READ,
    NYTP_SOURCE_FILE_CHANGED, /* changed or created after the program began */
    NYTP_SOURCE_FILE_SLOW,    /* its file system did not answer in time (apart.h) */
};

/* Opens the file that process `pid` has under this name, from its own root or folder. It is the
 * text that perl read only if it is older than the program, which began `program_s` seconds
 * after the epoch (nytp_program_start()). For another user's process root opens only files that
 * this user may read. Returns NULL with the reason in *state, also if it is no regular file or
 * has more than 64 MB. */
FILE *nytp_source_file_open(pid_t pid, const char *name, double program_s,
                            enum nytp_source_file *state);

#endif
