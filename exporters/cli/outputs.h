/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Output files: one for each process if so wished, none that is an input, and none left
 * unfinished by a signal.
 */
#ifndef NYTP_OUTPUTS_H
#define NYTP_OUTPUTS_H

#include "messages.h"
#include "options.h"

/* The output of a process, for the caller to free(): the pid stands for every %p in -o, or
 * before the suffix. `n_before` > 0 tells processes of the same pid apart. NULL when memory is
 * out.
 */
char *nytp_process_path(const struct nytp_cli *cli, uint32_t pid, uint32_t n_before);

/* Returns whether writing to `path` would replace an input, by any of its names, and says so: a
 * recording cannot be made again. */
bool nytp_cli_replaces_input(const struct nytp_cli *cli, const char *path);

/* The same for files that this run has written: outputs, members of a report's folder,
 * sources. */
bool nytp_cli_replaces_output(const struct nytp_cli *cli, const char *path);

/* A file was written, `path` below the folder of that descriptor (AT_FDCWD): nothing replaces
 * it in this run. */
void nytp_cli_note_written(int folder, const char *path);

/* From now on a signal that ends the program first removes unfinished files. */
void nytp_cli_set_output_signals(void);

/* Writes a whole output. What cannot be written fails the output: `out` keeps the error. */
typedef void write_output_fn(void *context, struct nytp_out *out);

/* Open the output ("-" is standard output), have it written, close it: EXIT_DONE, or after a
 * message EXIT_OUTPUT, or EXIT_USAGE where this run has written that file already. */
enum exit_status nytp_cli_write_output(const char *path, write_output_fn *write, void *context);

/* If standard output is a terminal, set in the options how wide it is and whether it takes
 * colours. */
void nytp_cli_fit_terminal(struct nytp_export_options *options);

#endif
