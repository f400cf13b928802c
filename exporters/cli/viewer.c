/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Starting a viewer; see viewer.h. No shell is involved, so file names need no quoting.
 */
#include "viewer.h"
#include "messages.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_WORDS 16

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Returns whether the program of this name can be run: as it is when it has a slash, else from
 * a folder of PATH. */
static bool in_path(const char *program, size_t len)
{
    char path[4096];
    if (memchr(program, '/', len) != NULL) {
        snprintf(path, sizeof path, "%.*s", (int)len, program);
        return is_program(path);
    }
    const char *at = getenv("PATH");
    while (at != NULL && *at != '\0') {
        const size_t folder_len = strcspn(at, ":");
        const int n =
            snprintf(path, sizeof path, "%.*s/%.*s", (int)folder_len, at, (int)len, program);
        if (folder_len > 0 && n > 0 && (size_t)n < sizeof path && is_program(path))
            return true;
        at += folder_len;
        at += *at == ':';
    }
    return false;
}

const char *nytp_viewer_find(const char *viewer, size_t *len)
{
    const char *at = viewer;
    while (*at != '\0') {
        at += strspn(at, " ");
        *len = strcspn(at, "|");
        if (in_path(at, strcspn(at, " |")))
            return at;
        at += *len;
        at += *at == '|';
    }
    nytp_cli_say("--open: not installed: %s", viewer);
    return NULL;
}

/* Copies for signal handlers, which outlive the file; "" = none. */
static char unfinished_file[4096], unfinished_folder[4096];

void nytp_viewer_remove_unfinished(void)
{
    if (unfinished_file[0] == '\0')
        return;
    unlink(unfinished_file);
    rmdir(unfinished_folder);
}

/* A file in `folder`, which ends in a slash or is "". `number` makes it another one. */
static char *path_in(const char *folder, const struct nytp_exporter *exporter,
                     const char *input, const char *number, struct nytp_error *error)
{
    const char *slash = strrchr(input, '/');
    const char *stem = strcmp(input, "-") == 0 ? "stdin" : slash != NULL ? slash + 1 : input;
    const char *suffix = exporter->suffixes;
    const size_t suffix_len = strcspn(suffix, " ");
    const bool is_prefix = suffix_len > 0 && suffix[suffix_len - 1] == '*';
    const size_t size = strlen(folder) + strlen(stem) + strlen(number) + suffix_len + 1;
    char *path = malloc(size);
    if (path == NULL)
        nytp_out_of_memory(error);
    else if (is_prefix)
        snprintf(path, size, "%s%.*s%s%s", folder, (int)suffix_len - 1, suffix, stem, number);
    else
        snprintf(path, size, "%s%s%s%.*s", folder, stem, number, (int)suffix_len, suffix);
    return path;
}

static char *make_temp_path(const struct nytp_exporter *exporter, const char *input,
                            struct nytp_error *error)
{
    const char *tmp = getenv("TMPDIR");
    char folder[4096];
    snprintf(folder, sizeof folder - 1, "%s/nytp-export.XXXXXX",
             exporter->viewer_leaves       ? "."
             : tmp != NULL && *tmp != '\0' ? tmp
                                           : "/tmp");
    if (mkdtemp(folder) == NULL) {
        nytp_error_set(error, NYTP_ERR_IO, "cannot make a folder %s: %s", folder,
                       strerror(errno));
        return NULL;
    }
    const size_t len = strlen(folder);
    strcpy(folder + len, "/");
    char *path = path_in(folder, exporter, input, "", error);
    folder[len] = '\0';
    if (path == NULL) {
        rmdir(folder);
    } else if (strlen(path) < sizeof unfinished_file) {
        strcpy(unfinished_folder, folder);
        strcpy(unfinished_file, path);
    }
    return path;
}

char *nytp_viewer_temp_path(const struct nytp_exporter *exporter, const char *input,
                            struct nytp_error *error)
{
    sigset_t old;
    nytp_hold_fatal_signals(&old);
    char *path = make_temp_path(exporter, input, error);
    sigprocmask(SIG_SETMASK, &old, NULL);
    return path;
}

/* Creates a file of our own by that name; open() neither replaces a file nor follows a link.
 * Then rename() puts the finished one in its place. */
static bool move_to_free_name(const char *made, const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    close(fd);
    return rename(made, path) == 0;
}

char *nytp_viewer_keep(const struct nytp_exporter *exporter, const char *input,
                       const char *made, struct nytp_error *error)
{
    char number[16] = "";
    for (unsigned n = 2;; n++) {
        char *const path = path_in("", exporter, input, number, error);
        if (path == NULL || move_to_free_name(made, path))
            return path;
        if (errno != EEXIST) {
            nytp_error_set(error, NYTP_ERR_IO, "cannot write %s: %s", path, strerror(errno));
            free(path);
            return NULL;
        }
        free(path);
        snprintf(number, sizeof number, ".%u", n);
    }
}

void nytp_viewer_remove(char *path)
{
    if (path == NULL)
        return;
    unlink(path);
    char *slash = strrchr(path, '/');
    *slash = '\0';
    rmdir(path);
    free(path);
    unfinished_file[0] = '\0';
}

static void exec_words(char *words, const char *path)
{
    char *argv[MAX_WORDS + 2];
    int n = 0;
    char *rest = words;
    for (char *word; n < MAX_WORDS && (word = strtok_r(rest, " ", &rest)) != NULL;)
        argv[n++] = word;
    /* a name that begins with '-' would be an option */
    char *last = malloc(strlen(path) + sizeof "./");
    if (n == 0 || last == NULL)
        return;
    strcpy(last, *path == '-' ? "./" : "");
    strcat(last, path);
    argv[n] = last;
    argv[n + 1] = NULL;
    execvp(argv[0], argv);
}

bool nytp_viewer_run(const char *command, size_t len, const char *path,
                     struct nytp_error *error)
{
    char *words = strndup(command, len);
    if (words == NULL)
        return nytp_out_of_memory(error);
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction old_int, old_quit;
    sigaction(SIGINT, &ignore, &old_int);
    sigaction(SIGQUIT, &ignore, &old_quit);
    const pid_t pid = fork();
    if (pid == 0) {
        sigaction(SIGINT, &old_int, NULL);
        sigaction(SIGQUIT, &old_quit, NULL);
        signal(SIGPIPE, SIG_DFL);
        exec_words(words, path);
        _exit(127);
    }
    int status = 0;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGQUIT, &old_quit, NULL);
    free(words);
    if (pid < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
        return nytp_error_set(error, NYTP_ERR_IO, "cannot start %.*s", (int)len, command);
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
        return nytp_error_set(error, NYTP_ERR_IO, "%.*s ended with status %d", (int)len,
                              command, WEXITSTATUS(status));
    if (WIFSIGNALED(status) && WTERMSIG(status) != SIGINT)
        return nytp_error_set(error, NYTP_ERR_IO, "%.*s was ended by signal %d", (int)len,
                              command, WTERMSIG(status));
    return true;
}
