/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The inputs of the command line. A folder among them stands for the profiles in it, as a
 * program that forks leaves them.
 */
#ifndef NYTP_INPUTS_H
#define NYTP_INPUTS_H

#include "cli.h"

/* Replaces each folder among cli->files and cli->bases by the profiles in it, sorted by name:
 * regular files that begin like a profile, also gzipped, but no hidden files and no folders.
 * Returns false with *error set, and the name in *failed, if a folder cannot be read or has no
 * profile. */
bool nytp_expand_inputs(struct nytp_cli *cli, const char **failed, struct nytp_error *error);

/* Returns whether the (first) process of the profile is running and has the file open. */
bool nytp_is_being_recorded(const char *path, const struct nytp_profile *profile);

/* Say when processes that belong to the run are not among the inputs. */
void nytp_say_files_beside(const char *const *paths, int n_paths,
                           const struct nytp_profile *profile);

/* A recording replaces an earlier run's of the same name, but not those of its forked
 * processes, whose names end in ".PID". This removes such leftovers from cli->files, and says
 * so: a recording PATH.N of process N, where PATH is an input that began later, and neither its
 * process nor one that is kept beside it started N. */
void nytp_leave_out_earlier_runs(struct nytp_cli *cli);

#endif
