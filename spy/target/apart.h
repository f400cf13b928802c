/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Opens files named by a process. They may be in a file system that answers late or never: one
 * whose server has ended, or one made by the process itself (FUSE).
 */
#ifndef NYTP_SPY_APART_H
#define NYTP_SPY_APART_H

/* Opens a file and returns its descriptor, or -1; *verdict is from 0 to 255. */
typedef int nytp_open_fn(const void *context, int *verdict);

/* Calls `open` in a separate process, which may give up its rights. Returns the descriptor of a
 * copy of up to 256 MB, for close(), or -1 if that is nothing or empty. Leaves *verdict
 * unchanged if the process had not ended after a second. After three such seconds no more files
 * are opened. */
int nytp_open_apart(nytp_open_fn *open, const void *context, int *verdict);

#endif
