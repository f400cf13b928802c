/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A running process, or the core file of one that has ended.
 */
#ifndef NYTP_SPY_TARGET_H
#define NYTP_SPY_TARGET_H

#include "mappings.h"
#include "memory.h"

#include "formats/base/error.h"

struct nytp_target {
    struct nytp_memory memory;
    struct nytp_mappings mappings;
    pid_t pid;              /* of a core file: the process's */
    struct nytp_core *core; /* NULL: a running process */
};

/* Tries to read a process. Returns false with *error set: why it is refused and the remedy. */
bool nytp_may_read(struct nytp_memory *memory, struct nytp_error *error);

/* Opens a process. Returns false with *error set. */
bool nytp_target_of_process(struct nytp_target *target, pid_t pid, struct nytp_error *error);

/* Opens a core file; `exe` is the program if it was moved, or NULL. */
bool nytp_target_of_core(struct nytp_target *target, const char *path, const char *exe,
                         struct nytp_error *error);
/* Returns the complete size of a cut core file and its length now in *len, or 0 for others. */
uint64_t nytp_target_whole_len(const struct nytp_target *target, uint64_t *len);
void nytp_target_close(struct nytp_target *target);

/* Opens a mapped file, for close(); returns -1 if it is not there any more. */
int nytp_target_file(const struct nytp_target *target, const struct nytp_mapping *mapping);

#endif
