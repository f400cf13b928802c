/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * For which formats and modes an option means something: the column `where` of options.def,
 * read for the refusal of what would be ignored and for --help.
 */
#ifndef NYTP_OPTION_PLACES_H
#define NYTP_OPTION_PLACES_H

#include "option_table.h"

/* False with *error set when an option was given that means nothing for what was chosen. */
bool nytp_options_fit(const struct nytp_cli *cli, struct nytp_error *error);

/* The formats and modes of an option that is for some only, as "top, tree"; "" for one that is
 * for all formats. */
void nytp_option_places(const struct nytp_option *option, char *text, size_t size);

#endif
