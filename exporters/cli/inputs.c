/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Replaces folders among the inputs by the profiles in them; see inputs.h. What a profile is,
 * is decided by the first bytes, never by the name.
 */
#include "inputs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HEAD_SIZE 64

struct paths {
    char **list;
    int n, size;
};

/* Append an input; `folder` is "" when it is not a member of one. */
static bool add_path(struct paths *paths, const char *folder, const char *name)
{
    if (paths->n == paths->size) {
        const int size = paths->size * 2 + 16;
        char **list = realloc(paths->list, (size_t)size * sizeof *list);
        if (list == NULL)
            return false;
        paths->list = list;
        paths->size = size;
    }
    const size_t len = strlen(folder) + strlen(name) + 2;
    char *path = malloc(len);
    if (path == NULL)
        return false;
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
    for (int i = 0; i < paths->n; i++)
        free(paths->list[i]);
    free(paths->list);
}

bool nytp_input_is(const char *path, const char *format)
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
    const int before = paths->n;
    bool ok = true;
    DIR *entries = opendir(folder);
    if (entries == NULL)
        return nytp_error_set(error, NYTP_ERR_IO, "cannot read the folder: %s",
                              strerror(errno));
    for (const struct dirent *entry; ok && (entry = readdir(entries)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        ok = add_path(paths, folder, entry->d_name);
        if (ok && !nytp_input_is(paths->list[paths->n - 1], NULL))
            free(paths->list[--paths->n]);
    }
    closedir(entries);
    if (!ok)
        return nytp_out_of_memory(error);
    if (paths->n == before)
        return nytp_error_set(error, NYTP_ERR_FORMAT, "no profile is in this folder");
    qsort(paths->list + before, (size_t)(paths->n - before), sizeof *paths->list, by_name);
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
        cli->n_files = files.n;
        cli->owns_files = true;
    }
    if (!expand(cli->bases.at, cli->bases.n, &bases, failed, error))
        return false;
    if (bases.n > 0) {
        free(cli->bases.at);
        cli->bases = (struct nytp_texts){(const char **)bases.list, (uint32_t)bases.n};
        cli->owns_bases = true;
    }
    return true;
}
