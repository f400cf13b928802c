/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * System calls in which threads wait; see doing.h and proc(5).
 */
#define _GNU_SOURCE
#include "doing.h"

#include "other_end.h"
#include "process.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct call {
    long number;
    const char *name;
    bool takes_fd;
};

static const struct call calls[] = {
#define NYTP_SYSCALL(name, takes_fd) {SYS_##name, #name, takes_fd},
#include "syscalls.def"
    {0, NULL, false},
};

/* A file that a call is about, as "/tmp/x (fd 3)", and who holds its lock. */
static void tell_file(pid_t pid, int fd, bool is_lock, char *to, size_t size)
{
    char path[40], file[400], holder[400] = "";
    uint64_t inode;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
    const ssize_t len = readlink(path, file, sizeof file - 1);
    file[len < 0 ? 0 : len] = '\0';
    if (sscanf(file, "socket:[%" SCNu64 "]", &inode) == 1)
        nytp_tell_socket(pid, inode, file, sizeof file);
    const bool is_held = is_lock && nytp_tell_lock_holder(pid, holder, sizeof holder);
    if (len > 0)
        snprintf(to, size, " of %s (fd %d)%s%s", file, fd, is_held ? ", " : "", holder);
}

/* The call and what it is about, from its number and first arguments. */
static void tell_call(pid_t pid, const char *text, char *to, size_t size)
{
    long number;
    unsigned long long first = 0, second = 0;
    char about[900] = "";
    if (sscanf(text, "%ld %llx %llx", &number, &first, &second) < 1)
        return;
    const struct call *call = calls;
    while (call->name != NULL && call->number != number)
        call++;
    if (call->name == NULL)
        return;
    const bool is_wait = number == SYS_wait4 || number == SYS_waitid;
    const pid_t child = number == SYS_wait4 ? (pid_t)first
                        : first == P_PID    ? (pid_t)second
                                            : -1;
    if (is_wait && nytp_tell_child(pid, child < -1 || child == 0 ? -1 : child, about + 4,
                                   sizeof about - 4))
        memcpy(about, " of ", 4);
    else if (call->takes_fd)
        tell_file(pid, (int)first, number == SYS_flock || number == SYS_fcntl, about,
                  sizeof about);
    snprintf(to, size, "%s%s", call->name, about);
}

static bool read_text(pid_t pid, pid_t task, const char *name, char *to, size_t size)
{
    const int fd = nytp_task_open(pid, task, name);
    const ssize_t len = fd < 0 ? -1 : read(fd, to, size - 1);
    if (fd >= 0)
        close(fd);
    to[len < 0 ? 0 : len] = '\0';
    return len >= 0;
}

char nytp_task_doing(pid_t pid, pid_t task, char *to, size_t size)
{
    char text[1024];
    to[0] = '\0';
    if (!read_text(pid, task, "stat", text, sizeof text) || strrchr(text, ')') == NULL)
        return '\0';
    const char state = strrchr(text, ')')[1] == ' ' ? strrchr(text, ')')[2] : '?';
    if (state != 'R' && read_text(pid, task, "syscall", text, sizeof text))
        tell_call(pid, text, to, size);
    return state;
}
