/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * BLAKE2b with a sum of 32 bytes (RFC 7693; `b2sum -l 256`). It identifies a text: nobody can
 * make another text with the same sum.
 */
#ifndef NYTP_BLAKE2B_H
#define NYTP_BLAKE2B_H

#include <stddef.h>
#include <stdint.h>

#define NYTP_BLAKE2B_BYTES 32

void nytp_blake2b(const void *text, size_t len, uint8_t sum[NYTP_BLAKE2B_BYTES]);

#endif
