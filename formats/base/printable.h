/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Texts that come from a recording, made harmless: names may not steer the terminal or the log
 * that they are shown in.
 */
#ifndef NYTP_PRINTABLE_H
#define NYTP_PRINTABLE_H

#include "strings.h"

/* How many bytes at `at` are a character that must not be shown: a control character, those of
 * Latin-1 (U+0080 to U+009F) too, or a mark that turns the direction of text. 0 = harmless. */
uint32_t nytp_unsafe_bytes(struct nytp_name text, uint32_t at);

/* Make each of these characters a '?'. */
void nytp_make_printable(char *text);

#endif
