/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Names of output files; see outputs.h.
 */
#include "outputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Where the suffix of a file name begins; the name's end if it has none. */
static const char *suffix_of(const struct nytp_cli *cli, const char *path)
{
    const size_t suffix_len = nytp_cli_suffix_len(cli->exporter, path);
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const char *end = path + strlen(path);
    if (suffix_len > 0 && strncmp(name, end - suffix_len, suffix_len) != 0 &&
        *(end - suffix_len) == '.')
        return end - suffix_len;
    return suffix_len == 0 && strrchr(name, '.') > name ? strrchr(name, '.') : end;
}

char *nytp_process_path(const struct nytp_cli *cli, uint32_t pid, uint32_t twin)
{
    const char *path = cli->output;
    char id[32];
    if (twin > 0)
        snprintf(id, sizeof id, "%lu-%lu", (unsigned long)pid, (unsigned long)twin + 1);
    else
        snprintf(id, sizeof id, "%lu", (unsigned long)pid);
    const size_t size = strlen(path) * sizeof id + sizeof id + 2;
    char *result = malloc(size);
    if (result == NULL)
        return NULL;
    if (strstr(path, "%p") == NULL) {
        const char *suffix = suffix_of(cli, path);
        snprintf(result, size, "%.*s.%s%s", (int)(suffix - path), path, id, suffix);
        return result;
    }
    char *to = result;
    for (const char *at = path; *at != '\0'; at++) {
        if (at[0] == '%' && at[1] == 'p') {
            to = stpcpy(to, id);
            at++;
        } else {
            *to++ = *at;
        }
    }
    *to = '\0';
    return result;
}

static bool same_file(const struct stat *a, const char *path)
{
    struct stat b;
    return stat(path, &b) == 0 && a->st_dev == b.st_dev && a->st_ino == b.st_ino;
}

const char *nytp_input_replaced(const struct nytp_cli *cli, const char *path)
{
    struct stat output;
    if (strcmp(path, "-") == 0 || stat(path, &output) != 0 || !S_ISREG(output.st_mode))
        return NULL;
    for (int i = 0; i < cli->n_files; i++)
        if (same_file(&output, cli->files[i]))
            return cli->files[i];
    for (uint32_t i = 0; i < cli->bases.n; i++)
        if (same_file(&output, cli->bases.at[i]))
            return cli->bases.at[i];
    return NULL;
}
