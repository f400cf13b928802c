/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The started program; see command.h.
 */
#define _GNU_SOURCE
#include "command.h"

#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

enum {
    N_PASSED_ON = sizeof passed_on / sizeof *passed_on
};

static volatile sig_atomic_t running; /* the pid of COMMAND until it has ended */
static volatile sig_atomic_t n_interrupts;
static int to_witness = -1;
static pid_t witness;

/* ---- the witness ---- */

static const struct timespec moment = {0, 10000000};

/* Returns whether a blocked signal is pending. */
static bool has_come(int signal)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    return sigtimedwait(&one, NULL, &(struct timespec){0, 0}) == signal;
}

/* nytp-spy sends the signals it received. Those that did not reach this process, too, are sent
 * back. Signals of one moment count as one, since timeout(1) sends its signal to a process and
 * to its group. */
static _Noreturn void be_witness(int from_spy, pid_t spy)
{
    unsigned char signals[64];
    prctl(PR_SET_NAME, "signal-witness"); /* not found by pkill nytp-spy, */
    memset(program_invocation_name, 0, strlen(program_invocation_name)); /* nor by pkill -f */
    while (recv(from_spy, signals, 1, 0) == 1) {
        nanosleep(&moment, NULL);
        const ssize_t more = recv(from_spy, signals + 1, sizeof signals - 1, MSG_DONTWAIT);
        const size_t n = more > 0 ? 1 + (size_t)more : 1;
        for (int i = 0; i < N_PASSED_ON; i++)
            if (memchr(signals, passed_on[i], n) != NULL && !has_come(passed_on[i]))
                sigqueue(spy, SIGRTMIN, (union sigval){.sival_int = passed_on[i]});
    }
    _exit(0);
}

/* Without a witness all signals are passed on. */
static void start_witness(void)
{
    const pid_t spy = getpid();
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return;
    witness = fork();
    if (witness == 0) {
        for (int fd = 0; fd <= STDERR_FILENO; fd++)
            close(fd);
        close(ends[0]);
        be_witness(ends[1], spy);
    }
    close(ends[1]);
    to_witness = ends[0];
}

static void on_answer(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    if (running > 0 && info->si_pid == witness)
        kill(running, info->si_value.sival_int);
}

/* ---- signals ---- */

/* Returns whether this is the second Ctrl-C. Two signals sent at once count as one. */
static bool is_second_interrupt(const siginfo_t *info)
{
    static int64_t last_ns;
    const int64_t now_ns = nytp_spy_now_ns(), since_ns = now_ns - last_ns;
    last_ns = now_ns;
    n_interrupts += info->si_code == SI_KERNEL || since_ns > moment.tv_nsec;
    return n_interrupts == 2;
}

static void pass_on(int signal, siginfo_t *info, void *context)
{
    const int saved = errno;
    const unsigned char byte = (unsigned char)signal;
    (void)context;
    if (running > 0 && (getpgid(running) != getpgrp() ||
                        send(to_witness, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1))
        kill(running, signal);
    const bool asks_to_end = signal != SIGUSR1 && signal != SIGUSR2;
    if ((running == 0 && asks_to_end) || (signal == SIGINT && is_second_interrupt(info)))
        nytp_spy_stop = 1;
    errno = saved;
}

static void wake(int signal)
{
    (void)signal;
}

/* nohup and shells leave signals ignored; then COMMAND ignores them, too. */
static void handle_signals(void)
{
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    const struct sigaction answer = {.sa_sigaction = on_answer,
                                     .sa_flags = SA_SIGINFO | SA_RESTART};
    const struct sigaction on_end = {.sa_handler = wake, .sa_flags = SA_RESTART};
    struct sigaction before;
    for (int i = 0; i < N_PASSED_ON; i++)
        if (sigaction(passed_on[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(passed_on[i], &action, NULL);
    sigaction(SIGRTMIN, &answer, NULL);
    sigaction(SIGCHLD, &on_end, NULL);
}

/* Our handlers end with exec; until then signals are blocked. */
static void become(char **argv, const struct rlimit *descriptors, const sigset_t *mask)
{
    const struct sigaction by_default = {.sa_handler = SIG_DFL};
    struct sigaction before;
    for (int i = 0; i < N_PASSED_ON; i++)
        if (sigaction(passed_on[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(passed_on[i], &by_default, NULL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    setrlimit(RLIMIT_NOFILE, descriptors);
    execvp(argv[0], argv);
    nytp_spy_say("%s: %s", argv[0], strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
}

/* Returns when the other end is closed by exec, or with the process. */
static void wait_for_exec(const int ends[2])
{
    char none;
    close(ends[1]);
    while (read(ends[0], &none, 1) < 0 && errno == EINTR)
        ;
    close(ends[0]);
}

bool nytp_command_start(struct nytp_command *command, char **argv, bool adopts,
                        const struct rlimit *descriptors)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    int ends[2];
    const bool has_pipe = pipe2(ends, O_CLOEXEC) == 0;
    const pid_t pid = fork();
    if (pid == 0)
        become(argv, descriptors, &before);
    const int saved = errno;
    if (has_pipe)
        wait_for_exec(ends);
    if (pid > 0) {
        start_witness();
        *command = (struct nytp_command){.pid = pid, .witness = witness};
        running = pid;
        handle_signals();
        if (adopts)
            prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return pid > 0;
}

/* The pid may be reused once it is waited for: nothing is passed on any more. */
void nytp_command_poll(struct nytp_command *command)
{
    siginfo_t info;
    int status;
    while (command->pid > 0 && (info.si_pid = 0) == 0 &&
           waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
        const bool is_it = info.si_pid == command->pid;
        if (is_it)
            running = 0;
        if (waitpid(info.si_pid, &status, WNOHANG) > 0 && is_it) {
            command->status = status;
            command->has_ended = true;
        }
    }
}

void nytp_command_wait(struct nytp_command *command)
{
    sigset_t all, before;
    if (command->pid == 0)
        return;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    for (nytp_command_poll(command); !command->has_ended && !nytp_spy_stop;
         nytp_command_poll(command))
        sigsuspend(&before);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

int nytp_command_status(const struct nytp_command *command)
{
    if (!command->has_ended)
        return 128 + SIGINT;
    return WIFEXITED(command->status) ? WEXITSTATUS(command->status)
                                      : 128 + WTERMSIG(command->status);
}
