/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Names of output files: one for each process, and none that is an input.
 */
#ifndef NYTP_OUTPUTS_H
#define NYTP_OUTPUTS_H

#include "options.h"

/* The output of a process, for the caller to free(): the pid stands for every %p in -o, or
 * before the suffix. `twin` > 0 tells processes of the same pid apart. NULL when memory is out.
 */
char *nytp_process_path(const struct nytp_cli *cli, uint32_t pid, uint32_t twin);

/* The input that writing to `path` would replace, under whatever name; NULL if there is none. A
 * recording cannot be made again. */
const char *nytp_input_replaced(const struct nytp_cli *cli, const char *path);

#endif
