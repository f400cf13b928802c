/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The program that is started; see command.h.
 */
#define _GNU_SOURCE
#include "command.h"

#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

enum {
    N_PASSED_ON = sizeof passed_on / sizeof *passed_on
};

static volatile sig_atomic_t running; /* the pid of COMMAND, until it has ended */
static volatile sig_atomic_t n_interrupts;

/* What the terminal sends, it sends to all of its foreground group. */
static bool has_its_own(const siginfo_t *info)
{
    return info->si_code == SI_KERNEL && getpgid(running) == getpgrp();
}

static void pass_on(int signal, siginfo_t *info, void *context)
{
    const int saved = errno;
    (void)context;
    if (running > 0 && !has_its_own(info))
        kill(running, signal);
    const bool asks_to_end = signal != SIGUSR1 && signal != SIGUSR2;
    if ((running == 0 && asks_to_end) || (signal == SIGINT && ++n_interrupts == 2))
        nytp_spy_stop = 1;
    errno = saved;
}

static void wake(int signal)
{
    (void)signal;
}

/* nohup and shells leave signals ignored: they are so for COMMAND, too. */
static void handle_signals(void)
{
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    const struct sigaction on_end = {.sa_handler = wake, .sa_flags = SA_RESTART};
    struct sigaction before;
    for (int i = 0; i < N_PASSED_ON; i++)
        if (sigaction(passed_on[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(passed_on[i], &action, NULL);
    sigaction(SIGCHLD, &on_end, NULL);
}

/* Handlers are ours, and end with exec; until then a signal waits. */
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

bool nytp_command_start(struct nytp_command *command, char **argv, bool adopts,
                        const struct rlimit *descriptors)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    const pid_t pid = fork();
    if (pid == 0)
        become(argv, descriptors, &before);
    const int saved = errno;
    if (pid > 0) {
        *command = (struct nytp_command){.pid = pid};
        running = pid;
        handle_signals();
        if (adopts)
            prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return pid > 0;
}

/* Its number may be another's as soon as it is waited for: from then on nothing is passed on.
 */
void nytp_command_poll(struct nytp_command *command)
{
    siginfo_t info;
    int status;
    while (info.si_pid = 0,
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
