/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Mapped files of a process; see mappings.h.
 */
#include "mappings.h"

#include "formats/base/arena.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For /proc/PID/maps: 65,530 lines, the default limit, of 256 bytes. */
#define MOST_BYTES (UINT64_C(1) << 24)

bool nytp_mappings_add(struct nytp_mappings *mappings, uint64_t start, uint64_t end,
                       uint64_t offset, const char *path, size_t path_len)
{
    char *const copy = strndup(path, path_len);
    if (copy == NULL ||
        !nytp_grow(&mappings->list, &mappings->capacity, mappings->n, sizeof *mappings->list)) {
        free(copy);
        return false;
    }
    mappings->list[mappings->n++] = (struct nytp_mapping){start, end, offset, copy};
    return true;
}

/* "55d0-55e0 r-xp 00001000 08:01 1234   /usr/bin/perl" */
static bool add_line(struct nytp_mappings *mappings, const char *line)
{
    uint64_t start, end, offset;
    int at = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &start, &end,
               &offset, &at) < 3 ||
        line[at] != '/')
        return true;
    return nytp_mappings_add(mappings, start, end, offset, line + at, strcspn(line + at, "\n"));
}

bool nytp_mappings_of_process(struct nytp_mappings *mappings, pid_t pid,
                              struct nytp_error *error)
{
    char path[40], *line = NULL;
    size_t size = 0;
    *mappings = (struct nytp_mappings){0};
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *const file = fopen(path, "r");
    if (file == NULL)
        return nytp_error_set(error, NYTP_ERR_IO, "%s: %s", path, strerror(errno));
    bool ok = true;
    uint64_t n_bytes = 0;
    ssize_t len;
    while (ok && n_bytes <= MOST_BYTES && (len = getline(&line, &size, file)) > 0) {
        n_bytes += (uint64_t)len;
        ok = add_line(mappings, line);
    }
    const int failed = ferror(file) ? errno : 0;
    free(line);
    fclose(file);
    if (failed != 0)
        return nytp_error_set(error, NYTP_ERR_IO, "%s: %s", path, strerror(failed));
    if (n_bytes > MOST_BYTES)
        return nytp_error_set(error, NYTP_ERR_LIMIT, "process %d has too many files mapped",
                              (int)pid);
    return ok || nytp_out_of_memory(error);
}

const struct nytp_mapping *nytp_mapping_at(const struct nytp_mappings *mappings,
                                           uint64_t address)
{
    uint32_t from = 0, to = mappings->n; /* the range that may have it */
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (address >= mappings->list[middle].end)
            from = middle + 1;
        else
            to = middle;
    }
    return from < mappings->n && address >= mappings->list[from].start ? &mappings->list[from]
                                                                       : NULL;
}

void nytp_mappings_free(struct nytp_mappings *mappings)
{
    for (uint32_t i = 0; i < mappings->n; i++)
        free(mappings->list[i].path);
    free(mappings->list);
    *mappings = (struct nytp_mappings){0};
}
