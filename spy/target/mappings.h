/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Which files lie where in a process's memory.
 */
#ifndef NYTP_SPY_MAPPINGS_H
#define NYTP_SPY_MAPPINGS_H

#include "formats/base/error.h"

#include <stddef.h>
#include <sys/types.h>

struct nytp_mapping {
    uint64_t start, end, offset; /* of the memory; where in the file it begins */
    char *path;                  /* as the process sees it; owned */
};

struct nytp_mappings {
    struct nytp_mapping *list; /* of files only, by address */
    uint32_t n, capacity;
};

/* Those of a running process, from /proc/PID/maps. False with *error set, whose errno is that
 * of the file. */
bool nytp_mappings_of_process(struct nytp_mappings *mappings, pid_t pid,
                              struct nytp_error *error);

/* Add one. False when memory is out. */
bool nytp_mappings_add(struct nytp_mappings *mappings, uint64_t start, uint64_t end,
                       uint64_t offset, const char *path, size_t path_len);

/* What lies at an address, if the list is sorted; NULL: no file. */
const struct nytp_mapping *nytp_mapping_at(const struct nytp_mappings *mappings,
                                           uint64_t address);
void nytp_mappings_free(struct nytp_mappings *mappings);

#endif
