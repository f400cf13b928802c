/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The values of options.
 */
#ifndef NYTP_OPTION_VALUES_H
#define NYTP_OPTION_VALUES_H

#include "option_table.h"

/* Store an option's value, which is NULL for one that was given none. False with *error set,
 * here and below. */
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
