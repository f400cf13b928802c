/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Numbers as people write them on the command line and in files of rules. strtod() takes more
 * than that: "inf" would be a limit that nothing exceeds, and "0x10" is no number of percents.
 */
#ifndef NYTP_NUMBER_H
#define NYTP_NUMBER_H

#include <stdbool.h>

/* Read "12", "1_000_000", "0.5" or "1e6" at the start of `text`; *end is what follows. False when
 * there is none, or it is too large for a double. */
bool nytp_read_number(const char *text, const char **end, double *number);

#endif
