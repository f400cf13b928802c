/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Makes texts from a recording harmless: a name must not steer a terminal or log.
 */
#ifndef NYTP_PRINTABLE_H
#define NYTP_PRINTABLE_H

#include "strings.h"

/* Returns the length in bytes of the unsafe character at `at`, or 0 if it is harmless. Unsafe
 * are control characters, also those of Latin-1 (U+0080 to U+009F), and marks that change the
 * direction of text. */
uint32_t nytp_unsafe_bytes(struct nytp_name text, uint32_t at);

/* Replaces each unsafe character by a '?'. */
void nytp_make_printable(char *text);

#endif
