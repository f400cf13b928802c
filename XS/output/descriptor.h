/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Safe use of descriptors. A name may lead to another user's file, a number may be another
 * file's by now, a reader may have ended or be asleep. These functions open, compare, write and
 * remove files with that in mind. All may be called in a signal.
 */
#ifndef NYTP_DESCRIPTOR_H
#define NYTP_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Identifies a file while it is open. */
struct nytp_file_id {
    dev_t dev;
    ino_t ino;
};

/* Returned instead of a descriptor: the file is not ours to open. */
#define NYTP_FD_FOREIGN (-2)

/* Opens a file, FIFO or device for writing; `flags` may add O_CREAT, O_APPEND. The descriptor
 * is a high one, because programs expect the next one to be 3, and is closed by exec; `now`
 * describes the file. Waits only for a FIFO's reader, for a second. Returns -1 with errno on
 * failure.
 *
 * In a folder that others may write to, like /tmp, somebody may have put a file to read our
 * data, or a link to a file that only we may write. There NYTP_FD_FOREIGN is returned for
 * symbolic links, for another user's files, and for files with a second name. */
int nytp_fd_open(const char *path, int flags, struct stat *now);

/* Appends or, if `offset` is 0 or more, writes there to a regular file. Returns the number of
 * bytes written. If that is less than `len`, errno has the reason: EAGAIN if a reader read
 * nothing for a second. Raises neither SIGPIPE nor SIGXFSZ, which could kill a program that
 * writes nothing itself. */
size_t nytp_fd_write(int fd, const void *bytes, size_t len, off_t offset);

/* strerror(), in plain words for the waits above. */
const char *nytp_fd_why(int why);

struct nytp_file_id nytp_file_id_of(const struct stat *file);

bool nytp_is_file(const struct stat *file, const struct nytp_file_id *id);

/* Returns whether the descriptor is open and still on that file. */
bool nytp_fd_is(int fd, const struct nytp_file_id *id);

/* Closes the descriptor if it is. Returns false if close() reports an error. */
bool nytp_fd_close(int fd, const struct nytp_file_id *id);

/* Returns whether the name is no link and leads to that file; the second removes it if so. */
bool nytp_path_is(const char *path, const struct nytp_file_id *id);
void nytp_path_remove(const char *path, const struct nytp_file_id *id);

#endif
