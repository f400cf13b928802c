/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * How far two names are from each other, for messages that end in "did you mean".
 */
#ifndef NYTP_EDIT_DISTANCE_H
#define NYTP_EDIT_DISTANCE_H

#include <stddef.h>

#define NYTP_EDIT_LONGEST 40

/* Insertions, deletions, replacements and swaps of neighbours that make b of a. Names longer
 * than NYTP_EDIT_LONGEST bytes are not compared: the result is then that. */
unsigned nytp_edit_distance(const char *a, size_t a_len, const char *b, size_t b_len);

#endif
