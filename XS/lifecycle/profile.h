/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A profile file: its name, header, end and messages. life.c decides when one begins and ends.
 *
 * The name comes from file= or DB::enable_profile(FILE). Appended are, in this order: .PID with
 * addpid=1 and in children, .tN in threads, .N for the second and later files of this name, the
 * time with addtimestamp=1.
 */
#ifndef NYTP_PROFILE_H
#define NYTP_PROFILE_H

#include "lifecycle.h"

struct nytp_recorder;

/* ---- its name ---- */

/* Sets the name, made absolute, so that a child finds the place after a chdir. */
void nytp_profile_set_path(struct nytp_recorder *rec, const char *path);
/* Sets the name of option file=, which may have placeholders. */
void nytp_profile_set_path_by_options(struct nytp_recorder *rec);

/* The first names an exact profile after the open sampled one and saves that one's data in
 * `sampled`. The second goes back to it; the exact profile had that much overhead. */
void nytp_profile_suspend(struct nytp_recorder *rec, struct nytp_rec_profile *sampled);
void nytp_profile_resume(struct nytp_recorder *rec, const struct nytp_rec_profile *sampled,
                         int64_t overhead_ticks);

/* For a further interpreter of the process: a number in the name distinguishes its profile. */
void nytp_profile_be_further(pTHX_ struct nytp_recorder *rec);

/* For a child of the process that the path belongs to, at its first profile: the next file has
 * the child's pid in its name. */
void nytp_profile_be_child(struct nytp_recorder *rec);
/* The same if this process was forked while no profile was open: files that the parent finished
 * before still count in its names. */
void nytp_profile_name_as_child(struct nytp_recorder *rec);

/* ---- begin and end ---- */

/* Opens the file unless it is open, and writes its header. Returns false, and reports it, on
 * failure; the next one may succeed. */
bool nytp_profile_open(pTHX_ struct nytp_recorder *rec);

/* The file to follow the present one. */
struct nytp_next_profile {
    struct nytp_outfile file;
    struct nytp_rec_profile profile;
};

/* Opens the next file while the present one is still written, so that this goes on if opening
 * fails: then returns false with next->file.error. The name is `path`, or if NULL the next of
 * the present name. A name of the present file is opened later, by nytp_profile_open(). */
bool nytp_profile_open_next(pTHX_ struct nytp_recorder *rec, const char *path,
                            struct nytp_next_profile *next);
/* After the present one was closed: `next` becomes the file for nytp_profile_open(). */
void nytp_profile_take_next(struct nytp_recorder *rec, const struct nytp_next_profile *next);
/* Drops a profile that could not be written; a device or FIFO may take the next one. */
void nytp_profile_drop_abandoned(struct nytp_recorder *rec);

/* Writes the records that are known only at the end; without those that need allocation if
 * rec->run.without_perl. */
void nytp_profile_write_closing(struct nytp_recorder *rec);

/* The file is ended and closed; the next one gets another name. */
void nytp_profile_finished(struct nytp_recorder *rec);

/* ---- messages ---- */

/* Once for each file: reports that it is lost, or that there are others of the same run. */
void nytp_profile_say_end(struct nytp_recorder *rec);
/* At the program's end: reports that recording has never begun, if the user might not know. */
void nytp_profile_say_if_never_begun(struct nytp_recorder *rec);

#endif
