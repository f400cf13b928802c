/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Files that a process names, which may lie in a file system that answers when it likes, or
 * never: that of a server that is gone, or one that the process itself has made (FUSE).
 */
#ifndef NYTP_SPY_APART_H
#define NYTP_SPY_APART_H

/* Opens a file and returns its descriptor, or -1; *verdict is from 0 to 255. */
typedef int nytp_open_fn(const void *context, int *verdict);

/* Calls `open` in a process of its own, which may give up its rights. Returns a copy of what it
 * has opened, up to 256 MB of it, as a descriptor for close(), or -1 if that is nothing or
 * empty. Leaves the verdict as it was if the process had not ended after a second; after three
 * such seconds nothing is opened any more. */
int nytp_open_apart(nytp_open_fn *open, const void *context, int *verdict);

#endif
