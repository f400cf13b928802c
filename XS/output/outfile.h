/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The profile on disk. Written so that nothing else is harmed: another process's profile, a
 * file that is no profile, a file of the program that got our descriptor's number.
 */
#ifndef NYTP_OUTFILE_H
#define NYTP_OUTFILE_H

#include "descriptor.h"

#include "formats/base/error.h"

#include <stdint.h>
#include <time.h>

struct nytp_outfile {
    int fd;          /* -1: not open */
    char *path;      /* absolute; owned */
    bool is_regular; /* else a FIFO, device or the like, opened in place */
    struct nytp_file_id id;
    uint64_t size;             /* bytes written so far */
    struct nytp_error error;   /* sticky: after an error nothing is written any more */
    char note[240];            /* what a person should be told about the name, or "" */
    bool is_beside_ancestor;   /* the note is but that a process above writes the plain name */
    bool in_signal;            /* errors get their status only: messages need the C library */
    bool spares_large;         /* a large profile that is there is not replaced */
    struct timespec run_began; /* by the clock of file times; 0: not asked yet */
};

/* Open for writing and lock. An existing regular file is emptied if it is empty or a profile
 * that nobody writes. One that was written in this run (run.h) is first given the name with the
 * next free number, from 1, appended. A FIFO or device is opened as it is. Otherwise the
 * process id is appended to the name and `note` says so: also for what is not for us in a
 * folder that others may write to (descriptor.h), and, with `spares_large`, where a profile of
 * 64 kB or more would be replaced. False with file->error set. */
bool nytp_outfile_open(struct nytp_outfile *file, const char *path, bool spares_large);

/* nytp_bytes_fn: append. Makes sure first that the descriptor is still ours, opening the file
 * again if the program closed it. Raises no signal, and waits a second at most for a reader. */
bool nytp_outfile_write(void *file, const uint8_t *bytes, size_t len);

/* Write over what a regular file has at `offset`. */
bool nytp_outfile_overwrite(struct nytp_outfile *file, uint64_t offset, const uint8_t *bytes,
                            size_t len);

/* Cut a regular file back to `size` bytes. */
bool nytp_outfile_truncate(struct nytp_outfile *file, uint64_t size);

/* Whether what was written has no name any more and goes away with the descriptor. */
bool nytp_outfile_is_lost(const struct nytp_outfile *file);

/* How many files beside it have its name and a number appended, and were written in this run:
 * the profiles of child processes, of threads, and of those that wrote the same name before.
 * `names` gets the first of their names, as many as fit. */
unsigned nytp_outfile_list_numbered(struct nytp_outfile *file, char *names, size_t size);

/* Close, without touching a descriptor that is no longer ours, and forget the path. */
void nytp_outfile_close(struct nytp_outfile *file);

#endif
