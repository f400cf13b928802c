/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The one way in: inputs are read, merged, trimmed and selected here, for every mode and every
 * format, so that an option cannot mean something to one of them and nothing to another.
 */
#ifndef NYTP_LOAD_H
#define NYTP_LOAD_H

#include "run.h"

/* Loads the inputs as one profile, as the command line asks: merged, trimmed, selected and
 * renamed; waits for children count once if the exporter adds processes up. An unusable input
 * does not hide the others, unless --strict, --diff or --gate is given. Returns EXIT_DONE, or
 * another status after a message. */
enum exit_status nytp_cli_load(struct run *run, const char *const *paths, int n,
                               struct nytp_profile **profile);

/* The two halves of that: the inputs whole, and then as the format shows them. */
enum exit_status nytp_cli_load_whole(struct run *run, const char *const *paths, int n,
                                     struct nytp_profile **profile);
enum exit_status nytp_cli_select_shown(struct run *run, struct nytp_profile *profile);

/* The same for one side of a comparison, as limits and --diff see it in any format. Waits of
 * its processes for each other count once. */
enum exit_status nytp_cli_select_judged(struct run *run, struct nytp_profile *const *profiles,
                                        uint32_t n);

/* Counts the records of a stream. */
struct nytp_count {
    struct nytp_sink sink;
    struct nytp_sink *next;
    uint64_t n[NYTP_TAG_COUNT];
    uint32_t major, minor; /* of the stream's format */
};

/* One input as it was recorded, with paths trimmed, recordings one behind the other in it
 * merged; NULL after a message. `count` may be NULL. */
struct nytp_profile *nytp_cli_load_one(struct run *run, const char *path,
                                       struct nytp_count *count);

/* Reads one input into a sink: all its recordings if it may have `several`, else a second one
 * is an error. Returns false with *error set; events before the error were delivered. */
bool nytp_cli_read(const struct run *run, const char *path, bool several, struct nytp_sink *sink,
                   struct nytp_error *error);

#endif
