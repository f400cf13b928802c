/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Merges several profiles into one stream: the processes of a run (fork), or several runs.
 *
 * Every input is read once, forward. Memory holds distinct things (files, subs, calls per
 * place), never events. Any reader of the format reads the output:
 *
 *   - Files are unified by name and renumbered. String evals stay separate: the same name
 *     means another eval in another process.
 *   - Events follow process after process, each with its start and end.
 *   - Calls per place are summed and written at the end, sorted, like the attributes of all
 *     inputs together: application, basetime, cumulative_overhead_ticks.
 *   - Ticks are converted to the ticks_per_sec of the first input.
 *   - The source of a file is taken from the first input that has it.
 */
#ifndef NYTP_MERGE_H
#define NYTP_MERGE_H

#include "formats/base/error.h"
#include "merged_settings.h"
#include "writer.h"

struct nytp_merge;

/* `level` is 1 to 9; 0: no compression. `note` may be NULL. Returns NULL if memory is out. */
struct nytp_merge *nytp_merge_new(nytp_bytes_fn *put, nytp_note_fn *note, void *context,
                                  int level);

/* Adds an input ("-" is standard input). Returns false with *error set if it cannot be read to
 * its end. The events before the damage are in the output, and more inputs can follow. */
bool nytp_merge_add(struct nytp_merge *merge, const char *path, struct nytp_error *error);

/* Writes the closing part. Returns false with *error set if writing or memory failed. */
bool nytp_merge_finish(struct nytp_merge *merge, struct nytp_error *error);

void nytp_merge_free(struct nytp_merge *merge);

#endif
