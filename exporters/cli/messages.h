/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Messages on standard error, and the exit status. Only the files of this folder print and
 * choose a status.
 */
#ifndef NYTP_MESSAGES_H
#define NYTP_MESSAGES_H

#include "formats/base/error.h"

enum exit_status {
    EXIT_DONE = 0,
    EXIT_INPUT = 1,     /* an input cannot be used */
    EXIT_USAGE = 2,     /* the command line is wrong */
    EXIT_PARTIAL = 3,   /* the output is whole, but something of the input is missing from it */
    EXIT_OUTPUT = 4,    /* the output could not be written */
    EXIT_EXCEEDED = 10, /* a limit of a comparison was exceeded */
};

/* A line on standard error, with the program's name. */
void nytp_cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "FILE: byte N (inflated): MESSAGE", with `outcome` behind it: what became of the input, or
 * "". */
void nytp_cli_say_error(const char *path, const struct nytp_error *error, const char *outcome);

/* The same as nytp_cli_say("%s", text), for those who call back with a text. */
void nytp_cli_say_miss(const char *text);

/* "standard input" and "standard output" for "-", else the path. */
const char *nytp_cli_input_name(const char *path);
const char *nytp_cli_output_name(const char *path);

/* Say why the output could not be written. Returns EXIT_OUTPUT. */
enum exit_status nytp_cli_output_failed(const char *path, const struct nytp_error *error);

/* Say that memory is out. Returns EXIT_INPUT. */
enum exit_status nytp_cli_no_memory(void);

#endif
