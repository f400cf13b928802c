/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The upper halves of the processor's vector registers.
 */
#ifndef NYTP_VECTORS_H
#define NYTP_VECTORS_H

/* Clears them. Call this after each call of ISA-L: some of its functions leave them in use
 * (adler32 and crc32, 2.30). Intel processors since Skylake then delay every SSE instruction,
 * also those of the program being recorded. Does nothing on a processor without them. */
void nytp_vectors_clear_upper(void);

#endif
