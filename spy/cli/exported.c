/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Export of a recording; see exported.h.
 */
#define _GNU_SOURCE
#include "exported.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    NO_FORMAT = 2, /* nytp-export's status for an unknown name or format */
    NOT_THERE = 127
};

#define EXPORT "nytp-export"

/* Writes the folder of nytp-spy, or "" if unknown. */
static void folder_of_spy(char *to, size_t size)
{
    const ssize_t len = readlink("/proc/self/exe", to, size - 1);
    to[len < 0 ? 0 : len] = '\0';
    char *const slash = strrchr(to, '/');
    *(slash == NULL ? to : slash + 1) = '\0';
}

static void become_export(const char *const *words)
{
    char folder[4096], path[4096 + sizeof EXPORT];
    char **const argv = (char **)(uintptr_t)words;
    folder_of_spy(folder, sizeof folder);
    snprintf(path, sizeof path, "%s" EXPORT, folder);
    execv(path, argv);
    execvp(EXPORT, argv);
    _exit(NOT_THERE);
}

/* Runs nytp-export; returns its exit status. Signals end nytp-spy's recording, not this. */
static int run_export(const char *const *words, bool is_quiet)
{
    int status;
    const pid_t pid = fork();
    if (pid == 0) {
        const int nowhere = is_quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
        if (nowhere >= 0)
            dup2(nowhere, STDERR_FILENO);
        become_export(words);
    }
    if (pid < 0)
        return NOT_THERE;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return NOT_THERE;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Asks nytp-export whether it writes such a file, with an input that is no profile. */
static int ask(const struct nytp_spy *spy, const char *path)
{
    const char *const by_name[] = {EXPORT, "-o", path, "/dev/null/none", NULL};
    const char *const by_format[] = {EXPORT, "--format",       spy->format, "-o",
                                     path,   "/dev/null/none", NULL};
    return run_export(spy->format == NULL ? by_name : by_format, true);
}

static bool ends_in(const char *text, const char *end)
{
    const size_t len = strlen(text), end_len = strlen(end);
    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/* A name without a suffix, or with a recording's, means a stream. */
static bool is_of_stream(const char *path)
{
    const char *const slash = strrchr(path, '/');
    const char *const name = slash == NULL ? path : slash + 1;
    return (name[0] != '\0' && strchr(name, '.') == NULL) ||
           (strncmp(name, "nytprof", 7) == 0 && ends_in(name, ".out")) ||
           strncmp(path, "/dev/", 5) == 0;
}

enum nytp_written_as nytp_spy_written_as(const struct nytp_spy *spy, const char *path)
{
    if (spy->format == NULL && is_of_stream(path))
        return NYTP_AS_STREAM;
    const int status = ask(spy, path);
    if (status != NO_FORMAT && status != NOT_THERE)
        return NYTP_AS_FORMAT;
    if (status == NOT_THERE && (spy->format != NULL || !ends_in(path, ".out")))
        nytp_spy_say("%s: " EXPORT ", which writes other formats, is not there; -o FILE.out "
                     "records",
                     path);
    else if (spy->format != NULL)
        nytp_spy_say("--format %s: there is none of this name (nytp export --list-formats)",
                     spy->format);
    else if (ends_in(path, ".gz"))
        nytp_spy_say(
            "%s: no format is compressed under this name, nor is a recording; record to "
            "FILE.out",
            path);
    else
        return NYTP_AS_STREAM;
    return NYTP_AS_NOTHING;
}

bool nytp_spy_export(const struct nytp_spy *spy, const char *path, int stream_fd)
{
    char input[40];
    snprintf(input, sizeof input, "/proc/self/fd/%d", stream_fd);
    const char *const by_name[] = {EXPORT, "-q", "-o", path, input, NULL};
    const char *const by_format[] = {EXPORT, "-q", "--format", spy->format,
                                     "-o",   path, input,      NULL};
    fcntl(stream_fd, F_SETFD, 0);
    const int status = run_export(spy->format == NULL ? by_name : by_format, false);
    if (status != 0)
        nytp_spy_say("%s: " EXPORT " ended with status %d", path, status);
    return status == 0;
}
