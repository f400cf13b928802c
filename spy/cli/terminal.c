/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The terminal of a drawing command; see terminal.h.
 */
#define _GNU_SOURCE
#include "terminal.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t is_asked_to_stop, goes_on;

static void note_signal(int number)
{
    if (number == SIGTSTP)
        is_asked_to_stop = 1;
    else
        goes_on = 1;
}

/* A shell without job control leaves SIGTSTP ignored. */
static void watch(int number)
{
    const struct sigaction note = {.sa_handler = note_signal};
    struct sigaction before;
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &note, NULL);
}

/* Alternate screen, no cursor, no wrapping of long lines. */
static void take(struct nytp_terminal *terminal)
{
    struct termios raw = terminal->before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    fputs("\033[?1049h\033[?25l\033[?7l", stdout);
    fflush(stdout);
    terminal->input = STDIN_FILENO;
}

static void give_back(const struct nytp_terminal *terminal)
{
    fputs("\033[?7h\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSANOW, &terminal->before);
}

void nytp_terminal_begin(struct nytp_terminal *terminal)
{
    terminal->input = -1;
    terminal->is_ours =
        isatty(STDOUT_FILENO) && tcgetattr(STDIN_FILENO, &terminal->before) == 0;
    watch(SIGTSTP);
    watch(SIGCONT);
    if (terminal->is_ours)
        take(terminal);
}

void nytp_terminal_end(struct nytp_terminal *terminal)
{
    if (terminal->is_ours)
        give_back(terminal);
    terminal->is_ours = false;
    terminal->input = -1;
}

/* In an orphaned process group the system does not stop us here. */
static void stop(struct nytp_terminal *terminal)
{
    const struct sigaction as_usual = {.sa_handler = SIG_DFL};
    is_asked_to_stop = 0;
    if (terminal->is_ours)
        give_back(terminal);
    sigaction(SIGTSTP, &as_usual, NULL);
    raise(SIGTSTP);
    watch(SIGTSTP);
    if (terminal->is_ours)
        tcgetattr(STDIN_FILENO, &terminal->before); /* they may have changed */
}

bool nytp_terminal_was_stopped(struct nytp_terminal *terminal)
{
    if (is_asked_to_stop)
        stop(terminal);
    else if (!goes_on) /* after a SIGSTOP, which cannot be caught */
        return false;
    goes_on = 0;
    if (terminal->is_ours)
        take(terminal);
    return true;
}

char nytp_terminal_key(struct nytp_terminal *terminal)
{
    char key;
    if (read(terminal->input, &key, 1) == 1)
        return key;
    terminal->input = -1; /* input has ended and would stay ready */
    return '\0';
}
