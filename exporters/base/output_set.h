/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Several outputs that belong together: the members of a folder, or parts of one file.
 *
 * A folder's members are written into a hidden folder inside it and moved into place when all
 * of them are whole, in the order in which they were begun. So whatever happens before that (no
 * room on the disk, a signal), what was in the folder before is still there and whole.
 */
#ifndef NYTP_OUTPUT_SET_H
#define NYTP_OUTPUT_SET_H

#include "out.h"

struct nytp_output_set;

/* Begin a set of members in a folder, which is made if it is not there; its parent must be.
 * NULL with *error set. */
struct nytp_output_set *nytp_output_set_folder(const char *path, struct nytp_error *error);

/* All parts go to this one output, which stays the caller's. Returns NULL if memory is out. */
struct nytp_output_set *nytp_output_set_single(struct nytp_out *out);

/* Members are written to memory and dropped, for fuzzing. Returns NULL if memory is out. */
struct nytp_output_set *nytp_output_set_nowhere(void);

/* Returns whether all parts are in one file: then links go to parts of it, and there are no
 * members beside the pages. */
bool nytp_output_set_is_single(const struct nytp_output_set *set);

/* Begin a member; the one before it is closed. `name` is a file name without slash. An output
 * is returned in any case: after an error it takes no more. It belongs to the set. */
struct nytp_out *nytp_output_set_member(struct nytp_output_set *set, const char *name);

/* Remove the files of an earlier report that the folder's manifest lists, before the new ones
 * are moved into place. Without a manifest, what looks like a page or side file of a report. */
void nytp_output_set_replace(struct nytp_output_set *set);

/* Write the manifest and move all members into place. False with *error set; a folder is then
 * as it was before, unless moving itself failed. After nytp_output_set_replace(), *n_kept
 * becomes the number of things in the folder that are no report's and stay; `n_kept` may be
 * NULL. */
bool nytp_output_set_finish(struct nytp_output_set *set, struct nytp_error *error,
                            uint32_t *n_kept);

/* Free the set; members that were not finished are removed. Accepts NULL. */
void nytp_output_set_free(struct nytp_output_set *set);

/* Returns whether a report may have a file of this name. */
bool nytp_output_set_is_member(const char *name);

/* For a signal handler, after nytp_out_remove_unfinished(): remove the members of the folder
 * that is being written, if any. Only async-signal-safe calls. */
void nytp_output_set_remove_unfinished(void);

#endif
