/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * All options: the rows of options.def, then those of the exporters; their values
 * (option_values.c), and --help.
 */
#ifndef NYTP_OPTION_TABLE_H
#define NYTP_OPTION_TABLE_H

#include "cli.h"

/* The option or section's title number `i`, or NULL behind the last. */
const struct nytp_option *nytp_option_at(size_t i);

/* Returns false with *error set if an option means nothing for the chosen format or mode. */
bool nytp_options_fit(const struct nytp_cli *cli, struct nytp_error *error);

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

/* ---- values; false with *error set ---- */

/* Store an option's value, which is NULL for one that was given none. */
bool nytp_option_set(struct nytp_cli *cli, const struct nytp_option *option, const char *value,
                     struct nytp_error *error);

/* True, with a message that says what to use instead, if `argument` is an option that went. */
bool nytp_former_option(const char *argument, struct nytp_error *error);

/* Sets an error that names the option or format spelled most like this one. Returns false. */
bool nytp_unknown_option(const char *argument, size_t name_len, struct nytp_error *error);

/* The exporter of this name, or NULL. */
const struct nytp_exporter *nytp_exporter_named(const char *name, size_t len);

/* Choose the format, as an exporter or by its name. A second one that differs is an error. */
bool nytp_choose_exporter(struct nytp_cli *cli, const struct nytp_exporter *exporter,
                          struct nytp_error *error);
bool nytp_choose_format(struct nytp_cli *cli, const char *name, struct nytp_error *error);

/* Up to nine decimal digits and nothing else. */
bool nytp_read_count(const char *text, uint32_t *count);

#endif
