/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * One run of nytp-export: what the files of the command share. Only they print and choose an
 * exit status.
 */
#ifndef NYTP_RUN_H
#define NYTP_RUN_H

#include "dump.h"
#include "lacks.h"
#include "options.h"

enum exit_status {
    EXIT_DONE = 0,
    EXIT_INPUT = 1,
    EXIT_USAGE = 2,
    EXIT_PARTIAL = 3,
    EXIT_OUTPUT = 4,
    EXIT_EXCEEDED = 10,
};

struct run {
    struct nytp_cli cli;
    bool partial;       /* something of the input is missing from the output */
    unsigned n_partial; /* inputs that end early, of which nothing was said yet */
    const char *first_partial_path;
    struct nytp_error first_partial;
    bool failed;             /* an input is unusable, or --strict forbids to use it */
    struct nytp_lacks lacks; /* what inputs read so far lack */
};

/* A line on standard error, with the program's name. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "FILE: byte N (inflated): MESSAGE", with what became of it. */
void say_error(const char *path, const struct nytp_error *error, const char *outcome);

/* "standard input" for "-" */
const char *input_name(const char *path);

/* What on_miss of a selection is. */
void say_miss(const char *text);

/* The profile of one input, or NULL after a message. `count` may be NULL. */
struct nytp_profile *load(struct run *run, const char *path, struct nytp_count *count);

/* Read one input into a sink. False with *error set; what came before it was delivered. */
bool read_input(const struct run *run, const char *path, struct nytp_sink *sink,
                struct nytp_error *error);

/* An input cannot be used; one ends early, which is told of all inputs together by say_partial(). */
void say_unusable(struct run *run, const char *path, const struct nytp_error *error);
void note_partial(struct run *run, const char *path, const struct nytp_error *error);
void say_partial(struct run *run);

/* What the inputs lack of what the exporter would use. */
void say_what_lacks(const struct run *run);

/* Outputs of which a signal leaves no temporary file. */
struct nytp_out *open_output(const char *path, struct nytp_error *error);
bool close_output(struct nytp_out *out, struct nytp_error *error);

/* Says why, and is EXIT_OUTPUT. */
enum exit_status output_failed(const char *path, const struct nytp_error *error);

/* The status when all went as well as the inputs allowed. */
enum exit_status done(const struct run *run);

/* report.c: formats of several files. */
enum exit_status run_report(struct run *run);

/* comparison.c: --diff and limits. */
enum exit_status run_comparison(struct run *run);

#endif
