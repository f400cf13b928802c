/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Replaces folders among the inputs by the profiles in them; see inputs.h. The first bytes
 * decide whether a file is a profile, never its name.
 *
 * A file that may be from an earlier run is read at its beginning only, which tells the
 * process, its parent and when recording began. A file PATH.N of another process than N is one
 * that PATH's process has finished by rotation, or that another program of the same run wrote
 * before: it is kept, and may have children.
 */
#include "inputs.h"

#include "formats/base/arena.h"
#include "formats/base/platform.h"
#include "messages.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define HEAD_SIZE 64

struct paths {
    char **list;
    uint32_t n, capacity;
};

/* Append an input; `folder` is "" when it is not a member of one. */
static bool add_path(struct paths *paths, const char *folder, const char *name)
{
    const size_t len = strlen(folder) + strlen(name) + 2;
    char *path = malloc(len);
    if (path == NULL || !nytp_grow(&paths->list, &paths->capacity, paths->n, sizeof path)) {
        free(path);
        return false;
    }
    if (*folder == '\0')
        snprintf(path, len, "%s", name);
    else
        snprintf(path, len, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/",
                 name);
    paths->list[paths->n++] = path;
    return true;
}

static void free_paths(struct paths *paths)
{
    for (uint32_t i = 0; i < paths->n; i++)
        free(paths->list[i]);
    free(paths->list);
}

/* Returns whether it is a regular file of that format, or of any if that is NULL. */
static bool is_input(const char *path, const char *format)
{
    struct stat status;
    struct nytp_error error = {0};
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    struct nytp_source *source = nytp_source_open(path, &error);
    const size_t len = source != NULL ? nytp_source_fill(source, HEAD_SIZE) : 0;
    bool is = false;
    for (size_t i = 0; !is && len > 0 && nytp_formats[i] != NULL; i++)
        is = (format == NULL || strcmp(nytp_formats[i]->name, format) == 0) &&
             nytp_formats[i]->detect(source->at, len);
    nytp_source_free(source);
    return is;
}

static int by_name(const void *x, const void *y)
{
    return strcmp(*(char *const *)x, *(char *const *)y);
}

static bool add_folder(struct paths *paths, const char *folder, struct nytp_error *error)
{
    const uint32_t before = paths->n;
    bool ok = true;
    DIR *entries = opendir(folder);
    if (entries == NULL)
        return nytp_error_set(error, NYTP_ERR_IO, "cannot read the folder: %s",
                              strerror(errno));
    for (const struct dirent *entry; ok && (entry = readdir(entries)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        ok = add_path(paths, folder, entry->d_name);
        if (ok && !is_input(paths->list[paths->n - 1], NULL))
            free(paths->list[--paths->n]);
    }
    closedir(entries);
    if (!ok)
        return nytp_out_of_memory(error);
    if (paths->n == before)
        return nytp_error_set(error, NYTP_ERR_FORMAT, "no profile is in this folder");
    qsort(paths->list + before, paths->n - before, sizeof *paths->list, by_name);
    return true;
}

static bool is_folder(const char *path)
{
    struct stat status;
    return strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* The paths with the profiles in each folder instead of it; none when no path is a folder. */
static bool expand(const char *const *list, uint32_t n, struct paths *paths,
                   const char **failed, struct nytp_error *error)
{
    bool any = false;
    for (uint32_t i = 0; i < n; i++)
        any |= is_folder(list[i]);
    for (uint32_t i = 0; any && i < n && error->status == NYTP_OK; i++) {
        *failed = list[i];
        if (is_folder(list[i]))
            add_folder(paths, list[i], error);
        else if (!add_path(paths, "", list[i]))
            nytp_out_of_memory(error);
    }
    if (error->status == NYTP_OK)
        return true;
    free_paths(paths);
    return false;
}

bool nytp_expand_inputs(struct nytp_cli *cli, const char **failed, struct nytp_error *error)
{
    struct paths files = {0}, bases = {0};
    if (!expand((const char *const *)cli->files, (uint32_t)cli->n_files, &files, failed, error))
        return false;
    if (files.n > 0) {
        free(cli->files);
        cli->files = files.list;
        cli->n_files = (int)files.n;
        cli->owns_files = true;
    }
    if (!expand(cli->bases.at, cli->bases.n, &bases, failed, error))
        return false;
    if (bases.n > 0) {
        free(cli->bases.at);
        cli->bases = (struct nytp_texts){(const char **)bases.list, bases.n};
        cli->owns_bases = true;
    }
    return true;
}

/* ---- beside the inputs ---- */

bool nytp_is_being_recorded(const char *path, const struct nytp_profile *profile)
{
    struct stat file;
    return profile->n_processes > 0 && profile->processes[0].end_s <= 0 &&
           stat(path, &file) == 0 &&
           nytp_platform_has_open((long)profile->processes[0].pid, &file);
}

/* Returns whether a name is `parent` with ".PID" behind it. */
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
             is_input(name, "nytprof");
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

/* ---- earlier runs ---- */

/* The first process of an input; pid 0: not known. */
struct beginning {
    struct nytp_sink sink;
    uint32_t pid, ppid;
    double start_s;
    size_t len;        /* of the name */
    size_t parent_len; /* of that before ".N"; 0: it has no such end */
    uint32_t number;   /* N */
    bool is_kept;
};

static bool see_process(struct nytp_sink *sink, const struct nytp_event *event)
{
    struct beginning *const b = (struct beginning *)sink;
    if (event->tag != NYTP_TAG_PID_START)
        return true;
    b->pid = event->u.process.pid;
    b->ppid = event->u.process.ppid;
    b->start_s = event->u.process.time_s;
    return false;
}

static void read_beginning(const char *path, struct beginning *beginning)
{
    const struct nytp_read_options options = {.one_of_several = true};
    struct nytp_error error = {0};
    struct nytp_source *const source = nytp_source_open(path, &error);
    if (source == NULL)
        return; /* the error is reported when the input is read */
    beginning->sink.event = see_process;
    nytp_read(source, &options, &beginning->sink, &error);
    nytp_source_free(source);
}

/* "PATH.N" is taken apart. */
static void read_name(const char *path, struct beginning *beginning)
{
    const char *const dot = strrchr(path, '.');
    beginning->len = strlen(path);
    if (dot == NULL || dot == path || dot[1] == '\0' ||
        dot[1 + strspn(dot + 1, "0123456789")] != '\0' || strlen(dot) > 10)
        return;
    beginning->parent_len = (size_t)(dot - path);
    beginning->number = (uint32_t)strtoul(dot + 1, NULL, 10);
}

static bool is_named_after(const struct nytp_cli *cli, const struct beginning *all, int child,
                           int parent)
{
    return all[child].parent_len == all[parent].len &&
           memcmp(cli->files[child], cli->files[parent], all[parent].len) == 0;
}

/* Returns whether a process that is kept started it: the parent's or one of those beside it. */
static bool has_kept_parent(const struct nytp_cli *cli, const struct beginning *all, int child,
                            int parent)
{
    for (int i = 0; i < cli->n_files; i++)
        if (all[i].is_kept && all[i].pid == all[child].ppid &&
            (i == parent || is_named_after(cli, all, i, parent)))
            return true;
    return false;
}

/* Finds those of an earlier run than that of `parent`, which are all that are not kept. */
static void judge_children(const struct nytp_cli *cli, struct beginning *all, int parent)
{
    for (int i = 0; i < cli->n_files; i++)
        if (is_named_after(cli, all, i, parent))
            all[i].is_kept = all[i].pid == 0 || all[i].pid != all[i].number ||
                             all[i].start_s >= all[parent].start_s;
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < cli->n_files; i++)
            if (!all[i].is_kept && is_named_after(cli, all, i, parent) &&
                has_kept_parent(cli, all, i, parent))
                more = all[i].is_kept = true;
    }
}

static void say_left_out(const struct nytp_cli *cli, const struct beginning *all)
{
    const char *first = NULL;
    double since_s = 0;
    unsigned n = 0;
    for (int i = 0; i < cli->n_files; i++) {
        if (all[i].is_kept)
            continue;
        n++;
        first = first == NULL ? cli->files[i] : first;
        since_s = n == 1 || all[i].start_s < since_s ? all[i].start_s : since_s;
    }
    char more[40] = " is", began[40] = "";
    const time_t when = (time_t)since_s;
    struct tm local;
    if (n > 1)
        snprintf(more, sizeof more, " and %u more are", n - 1);
    if (localtime_r(&when, &local) != NULL)
        strftime(began, sizeof began, " (%Y-%m-%d %H:%M:%S)", &local);
    if (n > 0)
        nytp_cli_say("%s%s of an earlier run%s: left out; --all-runs takes %s", first, more,
                     began, n > 1 ? "them" : "it");
}

static void keep_kept(struct nytp_cli *cli, const struct beginning *all)
{
    int n = 0;
    for (int i = 0; i < cli->n_files; i++)
        if (all[i].is_kept)
            cli->files[n++] = cli->files[i];
        else if (cli->owns_files)
            free(cli->files[i]);
    cli->n_files = n;
}

void nytp_leave_out_earlier_runs(struct nytp_cli *cli)
{
    const bool may_be = cli->n_files > 1 && !cli->all_runs;
    struct beginning *const all = may_be ? calloc((size_t)cli->n_files, sizeof *all) : NULL;
    if (all == NULL)
        return;
    for (int i = 0; i < cli->n_files; i++) {
        all[i].is_kept = true;
        read_name(cli->files[i], &all[i]);
    }
    for (int parent = 0; parent < cli->n_files; parent++) {
        bool has_children = false;
        for (int i = 0; i < cli->n_files; i++) {
            if (!is_named_after(cli, all, i, parent))
                continue;
            read_beginning(cli->files[i], &all[i]);
            has_children = true;
        }
        if (!has_children)
            continue;
        read_beginning(cli->files[parent], &all[parent]);
        judge_children(cli, all, parent);
    }
    say_left_out(cli, all);
    keep_kept(cli, all);
    free(all);
}
