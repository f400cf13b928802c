/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The core file of a process: its memory as it was, completed from the files that were mapped.
 */
#ifndef NYTP_SPY_CORE_H
#define NYTP_SPY_CORE_H

#include "mappings.h"
#include "memory.h"

#include "formats/base/error.h"

struct nytp_core;

/* `exe`: the program, where it is not any more where it was; or NULL. NULL with *error set. */
struct nytp_core *nytp_core_open(const char *path, const char *exe, struct nytp_error *error);
void nytp_core_close(struct nytp_core *core);
pid_t nytp_core_pid(const struct nytp_core *core);

/* Its memory and what is mapped there; both borrow from the core. */
void nytp_core_memory(struct nytp_core *core, struct nytp_memory *memory,
                      struct nytp_mappings *mappings);

/* How many bytes the file is to have, if it has fewer; 0: it is whole. */
uint64_t nytp_core_whole_len(const struct nytp_core *core, uint64_t *len);

/* Opens a mapped file; -1: it cannot be had any more. */
int nytp_core_file(const struct nytp_core *core, const struct nytp_mapping *mapping,
                   uint64_t *len);

#endif
