/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Perl's s/REGEX/TEXT/ on texts, by PCRE2: any delimiters, brackets in pairs, and the flags g
 * and i. TEXT may say $1.
 */
#ifndef NYTP_SUBSTITUTE_H
#define NYTP_SUBSTITUTE_H

#include "formats/base/error.h"
#include "formats/base/strings.h"

struct nytp_substitute;

/* NULL with *error set: not of that form, a bad expression, or memory. */
struct nytp_substitute *nytp_substitute_new(const char *expression, struct nytp_error *error);
void nytp_substitute_free(struct nytp_substitute *substitute);

/* Returns the changed text, which lives until the next call. Returns the text itself if nothing
 * matches, if it is no UTF-8, or if a match would take too long. */
struct nytp_str nytp_substitute_apply(struct nytp_substitute *substitute, struct nytp_str text);

#endif
