/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Several profiles into one stream: processes of one run (fork), or several runs.
 *
 * Every input is read once, forward; memory holds what is distinct (files, subs, calls per
 * place), never events. The output is a stream that any reader of the format reads:
 *
 *   - Files are unified by name and numbered anew. String evals stay apart, as the same name
 *     means another eval in another process.
 *   - Events follow process after process, each with its start and end.
 *   - Calls per place are summed and written at the end, sorted, as are the attributes that
 *     speak of all inputs: application, basetime, cumulative_overhead_ticks.
 *   - Ticks of an input with another ticks_per_sec are converted to those of the first.
 *   - The source of a file is taken from the first input that has it.
 */
#ifndef NYTP_MERGE_H
#define NYTP_MERGE_H

#include "formats/base/error.h"
#include "merged_settings.h"
#include "writer.h"

struct nytp_merge;

/* Bytes go to `put`; level 1 to 9, or 0 for no compression. `note` may be NULL. NULL when out
 * of memory. */
struct nytp_merge *nytp_merge_new(nytp_bytes_fn *put, nytp_note_fn *note, void *context,
                                  int level);

/* Add an input ("-" is standard input). False with *error set when it cannot be read to its
 * end; what came before the damage is in the output, which can go on. */
bool nytp_merge_add(struct nytp_merge *merge, const char *path, struct nytp_error *error);

/* Write the closing part. False with *error set when writing or memory failed. */
bool nytp_merge_finish(struct nytp_merge *merge, struct nytp_error *error);

/* Accepts NULL. */
void nytp_merge_free(struct nytp_merge *merge);

#endif
