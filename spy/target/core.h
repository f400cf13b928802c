/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The core file of a process: its memory at the end, completed from the mapped files.
 */
#ifndef NYTP_SPY_CORE_H
#define NYTP_SPY_CORE_H

#include "mappings.h"
#include "memory.h"

#include "formats/base/error.h"

struct nytp_core;

/* `exe` is the program if it was moved, or NULL. Returns NULL with *error set on failure. */
struct nytp_core *nytp_core_open(const char *path, const char *exe, struct nytp_error *error);
void nytp_core_close(struct nytp_core *core);
pid_t nytp_core_pid(const struct nytp_core *core);

/* Gives its memory and mappings; both borrow from the core. */
void nytp_core_memory(struct nytp_core *core, struct nytp_memory *memory,
                      struct nytp_mappings *mappings);

/* Returns a cut file's complete size, and its length now in *len, or 0 if it is complete. */
uint64_t nytp_core_whole_len(const struct nytp_core *core, uint64_t *len);

/* Opens a mapped file; returns -1 if it is not there any more. */
int nytp_core_file(const struct nytp_core *core, const struct nytp_mapping *mapping,
                   uint64_t *len);

#endif
