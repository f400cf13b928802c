/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Memory of this process that may be gone by now, or go at any moment: the kernel copies it,
 * and says so where a load would crash. Where kernel.h has system calls that is
 * process_vm_readv() of our own process. Elsewhere it goes through a pipe of ours, since a
 * write() of what is not there fails with EFAULT.
 */
#ifndef NYTP_MEMORY_H
#define NYTP_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

/* Makes what the two functions below need, or makes it anew in a child of fork(). To be called
 * from a thread of the program. */
void nytp_memory_begin(void);

/* In the tick thread: copy as many of the parts, in order, as
 * are there; `pid` is this process. The number of bytes, or below 0. */
long nytp_read_memory(long pid, const struct iovec *to, const struct iovec *from, int n);

/* The same of one part. */
long nytp_read_part(long pid, const void *from, void *to, size_t len);

/* And in a thread of the program. False: it is gone. */
bool nytp_peek_memory(const void *from, void *to, size_t len);

#endif
