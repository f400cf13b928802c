/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Output files; see outputs.h.
 *
 * SIGPIPE is ignored: a reader that goes away is seen as EPIPE and ends the program without
 * a word, with status 4 and without leaving a temporary file behind. So is SIGXFSZ: a file
 * beyond the size limit is an error of write() like any other.
 */
#include "outputs.h"

#include "viewer.h"

#include "exporters/base/output_set.h"
#include "formats/base/arena.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

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

char *nytp_process_path(const struct nytp_cli *cli, uint32_t pid, uint32_t n_before)
{
    const char *path = cli->output;
    char id[32];
    if (n_before > 0)
        snprintf(id, sizeof id, "%lu-%lu", (unsigned long)pid, (unsigned long)n_before + 1);
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

/* Returns whether writing to `output` would replace the file at `path`. */
static bool is_replaced(const struct nytp_cli *cli, const struct stat *output, const char *path)
{
    if (S_ISREG(output->st_mode))
        return same_file(output, path);
    if (!S_ISDIR(output->st_mode) || cli->exporter == NULL || cli->exporter->write_set == NULL)
        return false;
    const char *const slash = strrchr(path, '/');
    char *const folder = slash != NULL ? strndup(path, (size_t)(slash - path) + 1) : NULL;
    const bool there = same_file(output, folder != NULL ? folder : ".");
    free(folder);
    return there && nytp_output_set_is_member(slash != NULL ? slash + 1 : path);
}

/* Returns the input that writing to `path` would replace: as the same file, or as a file in a
 * report's folder with a page's name. Returns NULL if there is none. */
static const char *input_replaced(const struct nytp_cli *cli, const char *path)
{
    struct stat output;
    if (strcmp(path, "-") == 0 || stat(path, &output) != 0)
        return NULL;
    for (int i = 0; i < cli->n_files; i++)
        if (is_replaced(cli, &output, cli->files[i]))
            return cli->files[i];
    const struct nytp_texts *const others[] = {&cli->bases, &cli->gate.files};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        for (uint32_t i = 0; i < others[k]->n; i++)
            if (is_replaced(cli, &output, others[k]->at[i]))
                return others[k]->at[i];
    return NULL;
}

/* A signal removes the unfinished output. */
static void remove_unfinished(int signal_number)
{
    nytp_out_remove_unfinished();
    nytp_viewer_remove_unfinished();
    nytp_output_set_remove_unfinished();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

void nytp_cli_set_output_signals(void)
{
    static const int fatal[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
        struct sigaction old;
        const struct sigaction action = {.sa_handler = remove_unfinished};
        if (sigaction(fatal[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(fatal[i], &action, NULL);
    }
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL);
}

/* The files that this run has written. */
static struct written {
    dev_t device;
    ino_t inode;
} * written;
static uint32_t n_written, written_capacity;

void nytp_cli_note_written(int folder, const char *path)
{
    struct stat st;
    if (fstatat(folder, path, &st, 0) == 0 && S_ISREG(st.st_mode) &&
        nytp_grow(&written, &written_capacity, n_written, sizeof *written))
        written[n_written++] = (struct written){st.st_dev, st.st_ino};
}

/* Returns whether the file is one of them; then a message says so. */
static bool is_written(const char *path)
{
    struct stat st;
    bool found = false;
    if (n_written == 0 || strcmp(path, "-") == 0 || stat(path, &st) != 0)
        return false;
    for (uint32_t i = 0; i < n_written && !found; i++)
        found = written[i].device == st.st_dev && written[i].inode == st.st_ino;
    if (found)
        nytp_cli_say("%s was written by this run: it is not replaced", path);
    return found;
}

enum exit_status nytp_cli_write_output(const char *path, write_output_fn *write, void *context)
{
    struct nytp_error error = {0};
    if (is_written(path))
        return EXIT_USAGE;
    struct nytp_out *out = nytp_out_open(path, &error);
    if (out == NULL)
        return nytp_cli_output_failed(path, &error);
    if (nytp_cli_is_compressed(path))
        nytp_out_gzip(out);
    write(context, out);
    if (!nytp_out_close(out, &error))
        return nytp_cli_output_failed(path, &error);
    nytp_cli_note_written(AT_FDCWD, path);
    return EXIT_DONE;
}

void nytp_cli_fit_terminal(struct nytp_export_options *options)
{
    struct winsize size;
    const char *term = getenv("TERM");
    const char *no_color = getenv("NO_COLOR");
    options->columns = 80;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        options->columns = size.ws_col;
    options->color = term != NULL && strcmp(term, "dumb") != 0 && *term != '\0' &&
                     (no_color == NULL || *no_color == '\0');
}

bool nytp_cli_replaces_input(const struct nytp_cli *cli, const char *path)
{
    const char *input = input_replaced(cli, path);
    if (input != NULL)
        nytp_cli_say("%s is the input %s: it is not replaced", path, input);
    return input != NULL;
}

bool nytp_cli_replaces_output(const struct nytp_cli *cli, const char *path)
{
    struct stat output;
    const bool replaces = cli->output != NULL && strcmp(path, "-") != 0 &&
                          access(path, F_OK) == 0 && stat(cli->output, &output) == 0 &&
                          S_ISDIR(output.st_mode) && is_replaced(cli, &output, path);
    if (replaces)
        nytp_cli_say("%s is of the output %s: it is not replaced", path, cli->output);
    return replaces || is_written(path);
}
