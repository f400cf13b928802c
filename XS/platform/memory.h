/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reads memory of this process that may be gone, or go at any moment. The kernel copies it and
 * reports what is missing. If kernel.h has system calls, process_vm_readv() does that;
 * otherwise a write() into a pipe, which fails with EFAULT.
 */
#ifndef NYTP_MEMORY_H
#define NYTP_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

/* Prepares the functions below; call it again in a child of fork(). In a thread of the
 * program. */
void nytp_memory_begin(void);

/* In the tick thread: copies parts in order, up to the first that is gone. `pid` is this
 * process. Returns the number of bytes, or less than 0. */
long nytp_read_memory(long pid, const struct iovec *to, const struct iovec *from, int n);

/* The same for one part. */
long nytp_read_part(long pid, const void *from, void *to, size_t len);

/* The same in a thread of the program. Returns false if the memory is gone. */
bool nytp_peek_memory(const void *from, void *to, size_t len);

#endif
