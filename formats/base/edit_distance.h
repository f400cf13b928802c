/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The distance between two names, for messages that end in "did you mean".
 */
#ifndef NYTP_EDIT_DISTANCE_H
#define NYTP_EDIT_DISTANCE_H

#include <stddef.h>

#define NYTP_EDIT_LONGEST 40

/* Returns how many insertions, deletions, replacements and swaps of neighbours turn a into b.
 * Returns NYTP_EDIT_LONGEST if a name is longer than that. */
unsigned nytp_edit_distance(const char *a, size_t a_len, const char *b, size_t b_len);

#endif
