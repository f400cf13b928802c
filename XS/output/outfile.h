/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The profile on disk. Writing it harms no other file: another process's profile, a file that
 * is no profile, a file of the program that got our descriptor's number.
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
    uint64_t size;
    struct nytp_error error;   /* sticky: after an error nothing is written */
    char note[240];            /* a message for the user about the name, or "" */
    bool is_beside_ancestor;   /* the note: a parent process writes the plain name */
    bool in_signal;            /* errors get only a status: messages need the C library */
    bool spares_large;         /* an existing large profile is not replaced */
    struct timespec run_began; /* by the clock of file times; 0: not known yet */
};

/* Opens for writing and locks. A regular file that is empty, or a profile that nobody writes,
 * is emptied. One written in this run (run.h) is first renamed with the next free number, from
 * 1, appended. A FIFO or device is opened in place.
 *
 * In other cases the process id is appended to the name and `note` says so: also for files not
 * ours to open (descriptor.h), and with `spares_large` for a profile of 64 kB or more. Returns
 * false with file->error set. */
bool nytp_outfile_open(struct nytp_outfile *file, const char *path, bool spares_large);

/* nytp_bytes_fn: appends. Checks that the descriptor is still ours, and reopens the file if the
 * program closed it. Raises no signal; waits a second at most for a reader. */
bool nytp_outfile_write(void *file, const uint8_t *bytes, size_t len);

/* Overwrites the data of a regular file at `offset`. */
bool nytp_outfile_overwrite(struct nytp_outfile *file, uint64_t offset, const uint8_t *bytes,
                            size_t len);

/* Cuts a regular file to `size` bytes. */
bool nytp_outfile_truncate(struct nytp_outfile *file, uint64_t size);

/* Returns whether the file has no name any more, so that its data is lost at close. */
bool nytp_outfile_is_lost(const struct nytp_outfile *file);

/* Returns the number of files beside it that were written in this run and have its name plus a
 * number: profiles of children, of threads, and of earlier writers of the name. `names`
 * receives the first of them, as many as fit. */
unsigned nytp_outfile_list_numbered(struct nytp_outfile *file, char *names, size_t size);

/* Copies the data written so far, which the caller has given an end, to NAME.checkpoint.
 * Replaces an earlier checkpoint in one step; any other file of that name stays. Returns true
 * and the copy's name in `text`, or false and the reason. */
bool nytp_outfile_checkpoint(const struct nytp_outfile *file, char *text, size_t size);

/* Closes the file, unless the descriptor is no longer ours, and frees the path. */
void nytp_outfile_close(struct nytp_outfile *file);

#endif
