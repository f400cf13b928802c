/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Opens files in a separate process; see apart.h. A process that waits for a FUSE server may
 * sleep so that no signal ends it, so nytp-spy itself must not wait.
 */
#define _GNU_SOURCE
#include "apart.h"

#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LONGEST_NS = 1000000000,
    MOST_IN_VAIN = 3,
    LARGEST = 256 << 20,
};

static bool copy(int from, int to)
{
    char bytes[1 << 16];
    ssize_t len = 0;
    for (size_t done = 0; done < LARGEST && (len = read(from, bytes, sizeof bytes)) > 0;
         done += (size_t)len)
        if (write(to, bytes, (size_t)len) != len)
            return false;
    return len >= 0;
}

/* Closes everything that others may wait for: this process may be left behind. */
static _Noreturn void be_apart(nytp_open_fn *open, const void *context, int to, int ended)
{
    int verdict = 0;
    dup2(to, STDIN_FILENO);
    dup2(ended, STDOUT_FILENO);
    dup2(ended, STDERR_FILENO);
    close(ended);
    const int fd = open(context, &verdict);
    if (fd >= 0 && !copy(fd, STDIN_FILENO))
        ftruncate(STDIN_FILENO, 0);
    _exit(verdict);
}

/* Returns whether the process has closed its end, that is ended, in time. */
static bool is_closed_in_time(int ended)
{
    struct pollfd end = {.fd = ended};
    const int64_t until_ns = nytp_spy_now_ns() + LONGEST_NS;
    int n;
    do {
        const int64_t left_ns = until_ns - nytp_spy_now_ns();
        n = poll(&end, 1, left_ns > 0 ? (int)(left_ns / 1000000) : 0);
    } while (n < 0 && errno == EINTR);
    return n > 0;
}

static bool await(pid_t pid, int ended, int *verdict)
{
    pid_t waited;
    int status;
    if (!is_closed_in_time(ended)) {
        kill(pid, SIGKILL);
        return false;
    }
    while ((waited = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
        ;
    if (waited == pid && WIFEXITED(status))
        *verdict = WEXITSTATUS(status);
    return true;
}

/* Signals are blocked only until the fork: the child never handles any, and nytp-spy receives
 * them while it waits. Two blocked Ctrl-C would become one. */
static bool run(nytp_open_fn *open, const void *context, int to, int *verdict)
{
    sigset_t all, before;
    int ended[2];
    if (pipe2(ended, O_CLOEXEC) != 0)
        return true;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    const pid_t pid = fork();
    if (pid == 0)
        be_apart(open, context, to, ended[1]);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(ended[1]);
    const bool is_in_time = pid < 0 || await(pid, ended[0], verdict);
    close(ended[0]);
    return is_in_time;
}

int nytp_open_apart(nytp_open_fn *open, const void *context, int *verdict)
{
    static int n_in_vain;
    const int to = n_in_vain >= MOST_IN_VAIN ? -1 : memfd_create("nytp-spy", MFD_CLOEXEC);
    if (to < 0)
        return -1;
    const bool is_in_time = run(open, context, to, verdict);
    n_in_vain += !is_in_time;
    if (is_in_time && lseek(to, 0, SEEK_END) > 0 && lseek(to, 0, SEEK_SET) == 0)
        return to;
    close(to);
    return -1;
}
