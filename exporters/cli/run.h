/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * One run of nytp-export: its command line, its inputs, and how well they could be read. All
 * modes (modes.h) share it.
 */
#ifndef NYTP_RUN_H
#define NYTP_RUN_H

#include "missing_data.h"
#include "messages.h"
#include "cli.h"

struct run {
    struct nytp_cli cli;
    bool partial;       /* something of the input is missing from the output */
    bool is_again; /* part of the input is read once more: what is to be said was said */
    unsigned n_partial; /* inputs that end early, of which nothing was said yet */
    const char *first_partial_path;
    struct nytp_error first_partial;
    bool failed;                      /* an input is unusable, or --strict forbids to use it */
    struct nytp_missing_data missing; /* what inputs read so far lack */
    uint64_t unselected_ops;          /* statements and calls before a selection */
};

/* An input cannot be used; one ends early, which is told of all inputs together by
 * nytp_cli_say_partial(); and one of these two, by the error. */
void nytp_cli_say_unusable(struct run *run, const char *path, const struct nytp_error *error);
void nytp_cli_note_partial(struct run *run, const char *path, const struct nytp_error *error);
void nytp_cli_note_failed(struct run *run, const char *path, const struct nytp_error *error);
void nytp_cli_say_partial(struct run *run);

/* One ends where it does because a process still writes it. */
void note_recording(struct run *run, const char *path, uint32_t pid);

/* Reports on the inputs after reading: some end early, standard input is not read, data that the
 * exporter would use are missing. */
void nytp_cli_say_of_inputs(struct run *run);

/* The status when all went as well as the inputs allowed. */
enum exit_status nytp_cli_done(const struct run *run);

#endif
