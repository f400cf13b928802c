/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Files that a process calls its source. Which these are the process says: it may be a
 * stranger's.
 */
#ifndef NYTP_SPY_SOURCE_FILE_H
#define NYTP_SPY_SOURCE_FILE_H

#include <stdio.h>
#include <sys/types.h>

/* Open the file that process `pid` has under this name, from its own root or folder; with pid 0
 * what has the name here. Root opens for another user's process what that user may read. NULL:
 * there is none, it is no regular file or has more than 64 MB, or it was changed after
 * `not_after_s` (seconds of the epoch; the process then read something else). */
FILE *nytp_source_file_open(pid_t pid, const char *name, double not_after_s);

#endif
