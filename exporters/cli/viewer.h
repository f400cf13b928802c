/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Starts a viewer on a finished file, for --open.
 */
#ifndef NYTP_VIEWER_H
#define NYTP_VIEWER_H

#include "exporters/base/exporter.h"

/* `viewer` is one or more commands separated by '|', each of blank-separated words. Gives
 * the first whose program is in PATH: its text up to the '|' with its length. NULL, after a
 * message, when none is. */
const char *nytp_viewer_find(const char *viewer, size_t *len);

/* Make a fresh folder and choose a file name in it after `input` with the exporter's suffix.
 * KCachegrind takes every file whose name begins with the given one for a part of the same
 * profile, so the folder holds nothing else. It is in the current folder if the file is to be
 * kept, as it is where `viewer_leaves`. NULL with *error set; nytp_viewer_remove() it. */
char *nytp_viewer_temp_path(const struct nytp_exporter *exporter, const char *input,
                            struct nytp_error *error);

/* Moves the finished file into the current folder. If its name is taken there, ".2", ".3" and
 * so on go before the suffix. No file is replaced and no link followed, also if somebody
 * creates one meanwhile. Returns the name, or NULL with *error set; free() it. */
char *nytp_viewer_keep(const struct nytp_exporter *exporter, const char *input,
                       const char *made, struct nytp_error *error);

/* Remove the file and its folder, free the path; accepts NULL. */
void nytp_viewer_remove(char *path);

/* For a signal handler: remove the file and its folder. Only async-signal-safe calls. */
void nytp_viewer_remove_unfinished(void);

/* Run the command with `path` as its last word and wait until it ends. Returns false with
 * *error set if it could not be started, or failed; Ctrl-C is the user's way to end it. */
bool nytp_viewer_run(const char *command, size_t len, const char *path,
                     struct nytp_error *error);

#endif
