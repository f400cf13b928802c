/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reads files that others may cut or replace meanwhile. They are never mapped: an access to a
 * missing page would kill the program.
 */
#ifndef NYTP_SPY_FILE_H
#define NYTP_SPY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opens a regular file for reading, with its length now. Devices and pipes are not opened.
 * Returns a descriptor for close(), or -1 with errno set. */
int nytp_file_open(const char *path, uint64_t *len);

/* Reads exactly `len` bytes. Returns false if the file has fewer. */
bool nytp_file_read(int fd, uint64_t from, void *to, size_t len);

#endif
