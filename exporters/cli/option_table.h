/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * All options: the rows of options.def, then those of the exporters; and --help.
 */
#ifndef NYTP_OPTION_TABLE_H
#define NYTP_OPTION_TABLE_H

#include "cli.h"

/* The option or section's title number `i`, or NULL behind the last. */
const struct nytp_option *nytp_option_at(size_t i);

/* False with *error set when an option was given that means nothing for what was chosen. */
bool nytp_options_fit(const struct nytp_cli *cli, struct nytp_error *error);

/* The formats and modes of an option that is for some only, as "top, tree"; "" for one that is
 * for all formats. */
void nytp_option_places(const struct nytp_option *option, char *text, size_t size);

static inline bool nytp_exporter_compares(const struct nytp_exporter *exporter)
{
    return exporter->write_diff != NULL || exporter->write_set != NULL;
}

/* "[=N]": a value can only be attached, so that what follows is a FILE. */
static inline bool nytp_has_optional_value(const struct nytp_option *option)
{
    return option->value[0] == '[';
}

/* A message about the command line; the value is false. */
#define usage_error(error, ...) nytp_error_set(error, NYTP_ERR_FORMAT, __VA_ARGS__)

void nytp_cli_put_help(struct nytp_out *out);
void nytp_cli_put_formats(struct nytp_out *out);

#endif
