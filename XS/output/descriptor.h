/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Descriptors that harm nobody. A name may lead to what another user laid there, a number may
 * be another file's by now, a reader may be gone or asleep: here files are opened, told apart,
 * written and removed with that in mind. Everything here may be called in a signal.
 */
#ifndef NYTP_DESCRIPTOR_H
#define NYTP_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/* What tells a file from every other as long as it is open. */
struct nytp_file_id {
    dev_t dev;
    ino_t ino;
};

/* Instead of a descriptor: what is there is not for us to open. */
#define NYTP_FD_FOREIGN (-2)

/* Open a file, FIFO or device for writing; `flags` say more (O_CREAT, O_APPEND). The descriptor
 * is a high one, because programs expect the next one to be 3, it is closed by exec, and `now`
 * tells what it is. A FIFO has a second to get a reader. Nothing else is waited for.
 *
 * Where others than this user and root may write to the folder, as in /tmp, somebody may have
 * laid a file there to read what we write, or a link to one that we may write and he may not.
 * NYTP_FD_FOREIGN is returned there for symbolic links, for what is another user's, and for
 * files that have a second name. -1 with errno when it cannot be opened. */
int nytp_fd_open(const char *path, int flags, struct stat *now);

/* Append, or with `offset` from 0 on write there, to what cannot be waited for (a regular
 * file). Returns how many bytes were written: all, or errno tells why not, EAGAIN when a reader
 * took nothing for a second. No signal is raised: neither SIGPIPE, nor SIGXFSZ, by which a
 * program would die that writes nothing itself. */
size_t nytp_fd_write(int fd, const void *bytes, size_t len, off_t offset);

/* strerror(), but in plain words where one of the above gave up waiting. */
const char *nytp_fd_why(int why);

struct nytp_file_id nytp_file_id_of(const struct stat *file);

bool nytp_is_file(const struct stat *file, const struct nytp_file_id *id);

/* Whether the descriptor is open, and still on that file. */
bool nytp_fd_is(int fd, const struct nytp_file_id *id);

/* Close it if it is. False when that reports an error. */
bool nytp_fd_close(int fd, const struct nytp_file_id *id);

/* Whether the name, which is no link, leads to that file; to remove it if it does. */
bool nytp_path_is(const char *path, const struct nytp_file_id *id);
void nytp_path_remove(const char *path, const struct nytp_file_id *id);

#endif
