/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Messages to the program's user: errors, once each, and trace messages (trace=). May be called
 * anywhere but in signals.
 */
#ifndef NYTP_SAY_H
#define NYTP_SAY_H

#include "XS/options/options.h"

/* Writes one line to standard error or the log; $! stays. If the log cannot be written, reports
 * that and uses standard error from then on. Raises no signal; waits a second at most for a
 * reader. */
void nytp_say(const struct nytp_options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same if option trace= is at least `level`. 1: profile files; 2: source files; 3: subs; 4:
 * each timed flush. */
void nytp_trace(const struct nytp_options *options, long level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns whether a person, not a program, reads the messages. */
bool nytp_say_has_reader(const struct nytp_options *options);

#endif
