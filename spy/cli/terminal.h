/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The terminal of a command that draws on all of it and reads keys. It is restored however the
 * command ends or stops.
 */
#ifndef NYTP_SPY_TERMINAL_H
#define NYTP_SPY_TERMINAL_H

#include <stdbool.h>
#include <termios.h>

struct nytp_terminal {
    bool is_ours;          /* standard input and output are terminals, and we draw there */
    int input;             /* for poll(2); -1: none, or it has ended */
    struct termios before; /* settings to restore */
};

/* Takes the terminal, if there is one: alternate screen, no cursor, single keys. */
void nytp_terminal_begin(struct nytp_terminal *terminal);

void nytp_terminal_end(struct nytp_terminal *terminal);

/* After Ctrl-Z: restores the terminal, stops, and takes it again when continued. Returns
 * whether we were stopped and have to redraw. */
bool nytp_terminal_was_stopped(struct nytp_terminal *terminal);

/* Returns the pressed key after poll(2) has reported one, or NUL. */
char nytp_terminal_key(struct nytp_terminal *terminal);

#endif
