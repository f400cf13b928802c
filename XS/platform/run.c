/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The run that this process is part of; see run.h.
 */
#include "run.h"

#include "formats/base/platform.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MAX_ANCESTORS = 64,
};

bool nytp_run_is_ancestor(long ancestor)
{
    long pid = (long)getppid();
    struct nytp_system_process process;
    for (int i = 0; ancestor > 0 && pid > 0 && i < MAX_ANCESTORS; i++, pid = process.parent) {
        if (pid == ancestor)
            return true;
        if (!nytp_platform_process(pid, &process))
            return false;
    }
    return false;
}

static bool names_profiler(const char *variable)
{
    const char *const value = getenv(variable);
    return value != NULL && strstr(value, "NYTProf") != NULL;
}

bool nytp_run_is_handed_down(void)
{
    return names_profiler("PERL5OPT") || names_profiler("HARNESS_PERL_SWITCHES");
}

/* The process that the run began with: the oldest above this one that is still of its group. */
static bool read_first(struct nytp_system_process *first)
{
    struct nytp_system_process above;
    if (!nytp_platform_process((long)getpid(), first))
        return false;
    if (!nytp_run_is_handed_down() &&
        !(names_profiler("PERL5DB") && nytp_platform_began_with("PERL5DB=")))
        return true;
    for (int i = 0; first->parent > 0 && i < MAX_ANCESTORS; i++) {
        if (!nytp_platform_process(first->parent, &above) || above.group != first->group)
            break;
        *first = above;
    }
    return true;
}

struct timespec nytp_run_began(void)
{
    struct nytp_system_process first;
    struct timespec now;
    if (read_first(&first))
        return first.began;
    clock_gettime(CLOCK_REALTIME, &now);
    return now;
}

/* With capabilities of the file all ids are the same, and only the system tells. */
bool nytp_run_has_more_rights(void)
{
    return nytp_platform_is_setuid() && !nytp_platform_is_of_root();
}
