/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Names of profiles with placeholders; see file_name.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* asprintf; perl defines this only with threads */
#endif
#include "file_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char letters[] = "phts%";

int nytp_file_name_unknown(const char *name)
{
    for (const char *at = strchr(name, '%'); at != NULL; at = strchr(at + 2, '%'))
        if (at[1] == '\0' || strchr(letters, at[1]) == NULL)
            return (unsigned char)at[1];
    return -1;
}

bool nytp_file_name_has_pid(const char *name)
{
    for (const char *at = strchr(name, '%'); at != NULL; at = strchr(at + 2, '%'))
        if (at[1] == 'p')
            return true;
    return false;
}

void nytp_host_name(char *name, unsigned size)
{
    if (gethostname(name, size) != 0)
        name[0] = '\0';
    name[size - 1] = '\0';
}

static void put_value(FILE *out, char letter, const struct nytp_file_name_values *values)
{
    char host[256];
    const char *const slash = strrchr(values->program, '/');
    switch (letter) {
    case 'p':
        fprintf(out, "%ld", values->pid);
        break;
    case 't':
        fprintf(out, "%lld", values->started);
        break;
    case 's':
        fputs(slash == NULL ? values->program : slash + 1, out);
        break;
    case 'h':
        nytp_host_name(host, sizeof host);
        fputs(host, out);
        break;
    default:
        fputc('%', out);
    }
}

char *nytp_file_name_expand(const char *name, const struct nytp_file_name_values *values)
{
    char *expanded = NULL;
    size_t len;
    FILE *const out = open_memstream(&expanded, &len);
    if (out == NULL)
        return NULL;
    const char *percent;
    while ((percent = strchr(name, '%')) != NULL) {
        fwrite(name, 1, (size_t)(percent - name), out);
        put_value(out, percent[1], values);
        name = percent + 2;
    }
    fputs(name, out);
    if (fclose(out) == 0)
        return expanded;
    free(expanded);
    return NULL;
}

char *nytp_absolute_path(const char *path)
{
    char *const cwd = path[0] == '/' ? NULL : getcwd(NULL, 0);
    char *absolute = NULL;
    if (cwd == NULL)
        return strdup(path);
    if (asprintf(&absolute, "%s/%s", strcmp(cwd, "/") == 0 ? "" : cwd,
                 strncmp(path, "./", 2) == 0 ? path + 2 : path) < 0)
        absolute = NULL;
    free(cwd);
    return absolute;
}
