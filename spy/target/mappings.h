/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Mapped files of a process.
 */
#ifndef NYTP_SPY_MAPPINGS_H
#define NYTP_SPY_MAPPINGS_H

#include "formats/base/error.h"

#include <stddef.h>
#include <sys/types.h>

struct nytp_mapping {
    uint64_t start, end, offset; /* of the memory; `offset` in the file */
    char *path;                  /* as the process sees it; owned */
};

struct nytp_mappings {
    struct nytp_mapping *list; /* files only, by address */
    uint32_t n, capacity;
};

/* Reads the mappings of a running process from /proc/PID/maps. Returns false with *error set;
 * its errno is that of the file. */
bool nytp_mappings_of_process(struct nytp_mappings *mappings, pid_t pid,
                              struct nytp_error *error);

/* Adds a mapping. Returns false if memory is out. */
bool nytp_mappings_add(struct nytp_mappings *mappings, uint64_t start, uint64_t end,
                       uint64_t offset, const char *path, size_t path_len);

/* Returns the mapping at an address, or NULL; the list must be sorted. */
const struct nytp_mapping *nytp_mapping_at(const struct nytp_mappings *mappings,
                                           uint64_t address);
void nytp_mappings_free(struct nytp_mappings *mappings);

#endif
