/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Messages to the program's user. A recorder says little: what goes wrong, once; and with
 * trace= what it does. Called from everywhere but signals.
 */
#ifndef NYTP_SAY_H
#define NYTP_SAY_H

#include "XS/options/options.h"

/* One line on standard error or in the log, with the program's $! untouched. Where the log
 * cannot be written, which is said, on standard error from then on. Raises no signal, and waits
 * a second at most for a reader. */
void nytp_say(const struct nytp_options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for option trace=`level` and up. 1: profile files; 2: source files; 3: subs; 4: each
 * timed flush. */
void nytp_trace(const struct nytp_options *options, long level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether a person reads what is said, and no program does. */
bool nytp_say_has_reader(const struct nytp_options *options);

#endif
