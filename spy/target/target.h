/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What is looked at: a process that runs, or the core file of one that does not any more.
 */
#ifndef NYTP_SPY_TARGET_H
#define NYTP_SPY_TARGET_H

#include "mappings.h"
#include "memory.h"

#include "formats/base/error.h"

struct nytp_core;

struct nytp_target {
    struct nytp_memory memory;
    struct nytp_mappings mappings;
    pid_t pid;              /* of a core file: that which it had */
    struct nytp_core *core; /* NULL: it runs */
};

/* Begin to look at a process. False with *error set: the sentence says why it is refused and
 * what can be done. */
bool nytp_target_of_process(struct nytp_target *target, pid_t pid, struct nytp_error *error);

/* The same for a core file; `exe` is the program where it is now elsewhere, or NULL. */
bool nytp_target_of_core(struct nytp_target *target, const char *path, const char *exe,
                         struct nytp_error *error);
/* How many bytes a core file is to have that was cut, and has; 0: it is whole, or a process. */
uint64_t nytp_target_whole_len(const struct nytp_target *target, uint64_t *len);
void nytp_target_close(struct nytp_target *target);

/* Opens a file that is mapped there, for close(); -1: it cannot be had any more. */
int nytp_target_file(const struct nytp_target *target, const struct nytp_mapping *mapping);

#endif
