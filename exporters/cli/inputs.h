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

/* Returns whether the (first) process of the profile is running and has the file open. */
bool nytp_is_being_recorded(const char *path, const struct nytp_profile *profile);

/* Say when processes that belong to the run are not among the inputs. */
void nytp_say_files_beside(const char *const *paths, int n_paths,
                           const struct nytp_profile *profile);

/* A recording replaces the one of an earlier run that has its name, but not those of the
 * processes that the earlier run had forked, whose names end in ".PID". This takes
 * what is left from an earlier run out of cli->files, and says so. It is a recording PATH.N of
 * process N where PATH is an input, too, which began later, and whose process, or one that is
 * kept beside it, did not start N. */
void nytp_leave_out_earlier_runs(struct nytp_cli *cli);

#endif
