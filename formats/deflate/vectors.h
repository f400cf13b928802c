/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The upper halves of the processor's vector registers.
 */
#ifndef NYTP_VECTORS_H
#define NYTP_VECTORS_H

/* Clear them: to be called behind each call of ISA-L, some of whose functions leave them in use
 * (adler32 and crc32, 2.30). As long as they are, every SSE instruction waits for them on
 * Intel's processors since Skylake: not only ours, but all of the program that is recorded.
 * Does nothing where the processor has none. */
void nytp_vectors_clear_upper(void);

#endif
