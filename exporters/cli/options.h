/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reads the command line of nytp-export.
 */
#ifndef NYTP_OPTIONS_H
#define NYTP_OPTIONS_H

#include "cli.h"

/* Fills `cli`. Returns false with *error set if the command line is wrong; nytp_cli_free() in
 * either case. */
bool nytp_cli_parse(struct nytp_cli *cli, int argc, char **argv, struct nytp_error *error);
void nytp_cli_free(struct nytp_cli *cli);

/* Length of the part of `path` that names the format ("*.speedscope.json"), 0 when its
 * suffix or prefix is not one of the exporter's. */
size_t nytp_cli_suffix_len(const struct nytp_exporter *exporter, const char *path);

/* Returns whether the name ends in ".gz": the output is compressed then. */
bool nytp_cli_is_compressed(const char *path);

#endif
