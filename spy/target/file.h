/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Files that another may cut or replace while they are read: they are never mapped, as to touch
 * a page that is gone ends a program.
 */
#ifndef NYTP_SPY_FILE_H
#define NYTP_SPY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opens an ordinary file for reading, with its length now. A device or a pipe is not touched.
 * Returns a descriptor for close(), or -1 with errno set. */
int nytp_file_open(const char *path, uint64_t *len);

/* Reads all of these bytes. Returns false if the file has fewer. */
bool nytp_file_read(int fd, uint64_t from, void *to, size_t len);

#endif
