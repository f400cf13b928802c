/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The inputs of the command line. A folder among them stands for the profiles in it, as a
 * program that forks leaves them.
 */
#ifndef NYTP_INPUTS_H
#define NYTP_INPUTS_H

#include "cli.h"

/* Replace each folder among cli->files and cli->bases by the profiles in it, by name: the
 * regular files that begin as a profile does, as they are or unpacked by gzip, without hidden
 * ones and what is in folders below. False with *error set: a folder that cannot be read or
 * holds no profile, whose name is *failed. */
bool nytp_expand_inputs(struct nytp_cli *cli, const char **failed, struct nytp_error *error);

/* Whether it is a regular file of that format (struct nytp_format's name), or of any if that is
 * NULL.
 */
bool nytp_input_is(const char *path, const char *format);

#endif
