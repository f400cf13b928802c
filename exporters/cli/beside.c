/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Looks beside the inputs; see beside.h. A recording replaces that of an earlier run, but not
 * those of the processes that the earlier run had forked.
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

static const struct nytp_recording *recording_of(const struct nytp_profile *profile,
                                                 const char *path)
{
    for (uint32_t i = 0; i < profile->n_recordings; i++)
        if (strcmp(profile->recordings[i].path.ptr, path) == 0)
            return &profile->recordings[i];
    return NULL;
}

/* Whether the input is of a process that began before the one whose child its name says it is.
 */
static bool is_of_earlier_run(const char *path, const struct nytp_profile *profile,
                              const char **parent)
{
    char name[4096];
    const char *const dot = strrchr(path, '.');
    if (dot == NULL || (size_t)(dot - path) >= sizeof name)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)(dot - path), path);
    const struct nytp_recording *const whole = recording_of(profile, name),
                                       *one = recording_of(profile, path);
    if (!is_child_name(path, name) || whole == NULL || one == NULL || one->n_processes == 0 ||
        whole->n_processes == 0)
        return false;
    *parent = whole->path.ptr;
    return profile->processes[one->first_process].start_s <
           profile->processes[whole->first_process].start_s;
}

void nytp_say_files_beside(const char *const *paths, int n_paths,
                           const struct nytp_profile *profile)
{
    const char *first = NULL, *parent = NULL;
    unsigned n = 0;
    if (n_paths == 1 && profile->n_processes == 1)
        say_children(paths[0], profile);
    for (int i = 0; n_paths > 1 && i < n_paths; i++) {
        if (!is_of_earlier_run(paths[i], profile, &parent))
            continue;
        first = first == NULL ? paths[i] : first;
        n++;
    }
    if (n > 0)
        nytp_cli_say(
            "%u of the inputs, as %s, began before %s did: they are of an earlier run, and are "
            "counted",
            n, first, parent);
}
