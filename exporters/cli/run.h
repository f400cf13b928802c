/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * One run of nytp-export: its command line, its inputs, and how well they could be read. All
 * modes (modes.h) share it.
 */
#ifndef NYTP_RUN_H
#define NYTP_RUN_H

#include "dump.h"
#include "lacks.h"
#include "messages.h"
#include "cli.h"

struct run {
    struct nytp_cli cli;
    bool partial;       /* something of the input is missing from the output */
    unsigned n_partial; /* inputs that end early, of which nothing was said yet */
    const char *first_partial_path;
    struct nytp_error first_partial;
    bool failed;             /* an input is unusable, or --strict forbids to use it */
    struct nytp_lacks lacks; /* what inputs read so far lack */
};

/* The profile of one input, or NULL after a message. `count` may be NULL. */
struct nytp_profile *load(struct run *run, const char *path, struct nytp_count *count);

/* All inputs as one profile. One that is unusable does not keep the others from being exported,
 * unless --strict. NULL after a message. */
struct nytp_profile *load_all(struct run *run);

/* Read one input into a sink. False with *error set; what came before it was delivered. */
bool read_input(const struct run *run, const char *path, struct nytp_sink *sink,
                struct nytp_error *error);

/* An input cannot be used; one ends early, which is told of all inputs together by
 * say_partial(). */
void say_unusable(struct run *run, const char *path, const struct nytp_error *error);
void note_partial(struct run *run, const char *path, const struct nytp_error *error);
void say_partial(struct run *run);

/* What the inputs lack of what the exporter would use. */
void say_what_lacks(const struct run *run);

/* Whether what --weight asks for is known of the profile; false after a message. */
bool weight_is_known(const struct run *run, const struct nytp_profile *profile);

/* The status when all went as well as the inputs allowed. */
enum exit_status done(const struct run *run);

#endif
