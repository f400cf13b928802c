/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The terminal of a command that draws over the whole of it and takes keys. However the command
 * ends or stops, the terminal is then as it was before.
 */
#ifndef NYTP_SPY_TERMINAL_H
#define NYTP_SPY_TERMINAL_H

#include <stdbool.h>
#include <termios.h>

struct nytp_terminal {
    bool is_ours;          /* standard input and output are terminals, and we draw there */
    int input;             /* for poll(2); -1: there is none, or it has ended */
    struct termios before; /* how it was */
};

/* Take the terminal, if there is one: the other screen, no cursor, keys one by one. */
void nytp_terminal_begin(struct nytp_terminal *terminal);

/* Give it back. */
void nytp_terminal_end(struct nytp_terminal *terminal);

/* After Ctrl-Z: give it back, stop, and take it again once we go on. True: we were stopped, and
 * all is to be drawn anew. */
bool nytp_terminal_was_stopped(struct nytp_terminal *terminal);

/* The key that was pressed, once poll(2) has told of one; NUL: none. */
char nytp_terminal_key(struct nytp_terminal *terminal);

#endif
