/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * System calls of waiting threads; see doing.h and proc(5).
 */
#define _GNU_SOURCE
#include "doing.h"

#include "other_end.h"
#include "process.h"

#include "sampling/wait_calls.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

enum {
    MOST_FILES = 4,
    MOST_POLLED = 256,
};

/* Writes the file of a call, as "/tmp/x (fd 3)", and the holder of its lock. */
static void describe_file(pid_t pid, int fd, bool is_lock, char *to, size_t size)
{
    char link[40], file[600], holder[400] = "";
    uint64_t inode;
    snprintf(link, sizeof link, "fd/%d", fd);
    nytp_process_link(pid, link, file, sizeof file);
    if (sscanf(file, "socket:[%" SCNu64 "]", &inode) == 1)
        nytp_describe_socket(pid, inode, file, sizeof file);
    const bool is_held = is_lock && nytp_describe_lock_holder(pid, holder, sizeof holder);
    if (file[0] != '\0')
        snprintf(to, size, "%s (fd %d)%s%s", file, fd, is_held ? ", " : "", holder);
}

/* ---- waits for several files ---- */

struct files {
    int fds[MOST_FILES];
    uint32_t n; /* may exceed those kept */
};

static void add_file(struct files *files, int fd)
{
    for (uint32_t i = 0; i < files->n && i < MOST_FILES; i++)
        if (files->fds[i] == fd)
            return;
    if (files->n < MOST_FILES)
        files->fds[files->n] = fd;
    files->n++;
}

static bool read_memory(pid_t pid, uint64_t from, void *to, size_t len)
{
    const struct iovec ours = {to, len}, theirs = {(void *)(uintptr_t)from, len};
    return process_vm_readv(pid, &ours, 1, &theirs, 1, 0) == (ssize_t)len;
}

static void take_polled(pid_t pid, const uint64_t *words, struct files *files)
{
    struct pollfd polled[MOST_POLLED];
    const size_t n = words[1] < MOST_POLLED ? (size_t)words[1] : MOST_POLLED;
    for (size_t i = 0; read_memory(pid, words[0], polled, n * sizeof *polled) && i < n; i++)
        if (polled[i].fd >= 0)
            add_file(files, polled[i].fd);
}

/* The sets to be read, to be written, and for exceptions. */
static void take_selected(pid_t pid, const uint64_t *words, struct files *files)
{
    const size_t n = words[0] < FD_SETSIZE ? (size_t)words[0] : FD_SETSIZE;
    for (int set = 1; set <= 3; set++) {
        uint64_t bits[FD_SETSIZE / 64] = {0};
        if (words[set] == 0 || !read_memory(pid, words[set], bits, (n + 63) / 64 * 8))
            continue;
        for (size_t fd = 0; fd < n; fd++)
            if ((bits[fd / 64] >> fd % 64 & 1) != 0)
                add_file(files, (int)fd);
    }
}

static void take_watched(pid_t pid, const uint64_t *words, struct files *files)
{
    char path[60], line[200];
    int fd;
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)pid, (int)words[0]);
    FILE *const file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "tfd: %d", &fd) == 1)
            add_file(files, fd);
    if (file != NULL)
        fclose(file);
}

/* "/tmp/x (fd 3), pipe:[17] (fd 4), 5 more" */
static void describe_files(pid_t pid, const struct files *files, char *to, size_t size)
{
    const uint32_t n = files->n < MOST_FILES ? files->n : MOST_FILES;
    for (uint32_t i = 0; i < n; i++) {
        const size_t len = strlen(to);
        snprintf(to + len, size - len, i > 0 ? ", " : "");
        describe_file(pid, files->fds[i], false, to + strlen(to), size - strlen(to));
    }
    if (files->n > n)
        snprintf(to + strlen(to), size - strlen(to), ", %u more", files->n - n);
}

/* ---- the call ---- */

static void describe_child(pid_t pid, long number, const uint64_t *words, char *to, size_t size)
{
    const pid_t child = number == SYS_wait4 ? (pid_t)words[0]
                        : words[0] == P_PID ? (pid_t)words[1]
                                            : -1;
    nytp_describe_child(pid, child < -1 || child == 0 ? -1 : child, to, size);
}

/* Writes the subject of the call, or "" if unknown. */
static void describe_arguments(pid_t pid, const struct nytp_wait_call *call,
                               const uint64_t *words, char *to, size_t size)
{
    struct files files = {.n = 0};
    const enum nytp_wait_subject subject = call->subject;
    if (subject == NYTP_WAITS_CHILD)
        describe_child(pid, call->number, words, to, size);
    else if (subject == NYTP_WAITS_SELECT)
        take_selected(pid, words, &files);
    else if (subject == NYTP_WAITS_POLL)
        take_polled(pid, words, &files);
    else if (subject == NYTP_WAITS_EPOLL)
        take_watched(pid, words, &files);
    if (files.n > 0)
        describe_files(pid, &files, to, size);
    else if (subject == NYTP_WAITS_FILE || subject == NYTP_WAITS_LOCK ||
             subject == NYTP_WAITS_EPOLL)
        describe_file(pid, (int)words[0], subject == NYTP_WAITS_LOCK, to, size);
}

/* Writes the call, given as its number and first arguments. */
static void describe_call(pid_t pid, const char *text, char *to, size_t size)
{
    long number;
    uint64_t words[4] = {0};
    char about[3000] = "";
    if (sscanf(text, "%ld %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64, &number, &words[0],
               &words[1], &words[2], &words[3]) < 1)
        return;
    for (const struct nytp_wait_call *call = nytp_wait_calls; call->name != NULL; call++) {
        if (call->number != number)
            continue;
        describe_arguments(pid, call, words, about, sizeof about);
        snprintf(to, size, "%s%s%s", call->name, about[0] == '\0' ? "" : " of ", about);
        return;
    }
}

char nytp_task_doing(pid_t pid, pid_t task, char *to, size_t size)
{
    char text[1024];
    to[0] = '\0';
    if (nytp_task_read(pid, task, "stat", text, sizeof text) == 0 || strrchr(text, ')') == NULL)
        return '\0';
    const char state = strrchr(text, ')')[1] == ' ' ? strrchr(text, ')')[2] : '?';
    if (state != 'R' && nytp_task_read(pid, task, "syscall", text, sizeof text) > 0)
        describe_call(pid, text, to, size);
    return state;
}
