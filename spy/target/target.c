/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Opens a process or core file; see target.h.
 */
#include "target.h"

#include "apart.h"
#include "core.h"
#include "file.h"
#include "refusal.h"

#include <inttypes.h>
#include <stdio.h>

struct mapped { /* a file, by its place in a process's memory */
    pid_t pid;
    const struct nytp_mapping *mapping;
};

bool nytp_target_of_process(struct nytp_target *target, pid_t pid, struct nytp_error *error)
{
    *target = (struct nytp_target){.pid = pid};
    nytp_memory_of_process(&target->memory, pid);
    if (!nytp_may_read(&target->memory, error))
        return false;
    if (nytp_mappings_of_process(&target->mappings, pid, error))
        return true;
    nytp_target_close(target);
    return false;
}

bool nytp_target_of_core(struct nytp_target *target, const char *path, const char *exe,
                         struct nytp_error *error)
{
    *target = (struct nytp_target){0};
    target->core = nytp_core_open(path, exe, error);
    if (target->core == NULL)
        return false;
    target->pid = nytp_core_pid(target->core);
    nytp_core_memory(target->core, &target->memory, &target->mappings);
    return true;
}

uint64_t nytp_target_whole_len(const struct nytp_target *target, uint64_t *len)
{
    return target->core == NULL ? 0 : nytp_core_whole_len(target->core, len);
}

void nytp_target_close(struct nytp_target *target)
{
    nytp_memory_close(&target->memory);
    if (target->core == NULL)
        nytp_mappings_free(&target->mappings);
    nytp_core_close(target->core);
    *target = (struct nytp_target){.memory = {.fd = -1}};
}

/* The mapped file itself, even if removed or replaced; not every user may open it this way. */
static int open_mapped(const void *context, int *verdict)
{
    const struct mapped *const mapped = context;
    char path[4200];
    uint64_t len;
    snprintf(path, sizeof path, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)mapped->pid,
             mapped->mapping->start, mapped->mapping->end);
    const int fd = nytp_file_open(path, &len);
    if (fd >= 0)
        return fd;
    snprintf(path, sizeof path, "/proc/%d/root%.4000s", (int)mapped->pid,
             mapped->mapping->path);
    (void)verdict;
    return nytp_file_open(path, &len);
}

int nytp_target_file(const struct nytp_target *target, const struct nytp_mapping *mapping)
{
    const struct mapped mapped = {target->pid, mapping};
    uint64_t len;
    int verdict;
    return target->core != NULL ? nytp_core_file(target->core, mapping, &len)
                                : nytp_open_apart(open_mapped, &mapped, &verdict);
}
