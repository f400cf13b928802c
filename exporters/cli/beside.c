/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Looks beside the inputs; see beside.h.
 */
#include "beside.h"

#include "formats/base/platform.h"

#include "inputs.h"
#include "messages.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

bool nytp_is_being_recorded(const char *path, const struct nytp_profile *profile)
{
    struct stat file;
    return profile->n_processes > 0 && profile->processes[0].end_s <= 0 &&
           stat(path, &file) == 0 &&
           nytp_platform_has_open((long)profile->processes[0].pid, &file);
}

/* Whether a name is `parent` with ".PID" behind it. */
static bool is_child_name(const char *name, const char *parent)
{
    const size_t len = strlen(parent);
    if (strncmp(name, parent, len) != 0 || name[len] != '.')
        return false;
    const char *const pid = name + len + 1;
    return *pid != '\0' && pid[strspn(pid, "0123456789")] == '\0';
}

static double seconds_of(const struct timespec *time)
{
    return (double)time->tv_sec + (double)time->tv_nsec / 1e9;
}

/* One input alone: the profiles of its children that were written since it began. */
static void say_children(const char *path, const struct nytp_profile *profile)
{
    const char *const slash = strrchr(path, '/');
    const char *const base = slash != NULL ? slash + 1 : path;
    const size_t len = (size_t)(base - path);
    unsigned n = 0;
    char name[4096];
    struct stat status;
    if (len + 300 > sizeof name)
        return;
    snprintf(name, sizeof name, "%.*s", (int)len, path);
    DIR *const folder = opendir(len > 0 ? name : ".");
    if (folder == NULL)
        return;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (!is_child_name(entry->d_name, base))
            continue;
        snprintf(name + len, sizeof name - len, "%s", entry->d_name);
        n += stat(name, &status) == 0 &&
             seconds_of(&status.st_mtim) > profile->processes[0].start_s &&
             nytp_input_is(name, "nytprof");
    }
    closedir(folder);
    if (n > 0)
        nytp_cli_say("%u child process%s own beside this one: nytp export %s*", n,
                     n == 1 ? " has a profile of its" : "es have profiles of their", path);
}

void nytp_say_files_beside(const char *const *paths, int n_paths,
                           const struct nytp_profile *profile)
{
    if (n_paths == 1 && profile->n_processes == 1)
        say_children(paths[0], profile);
}
