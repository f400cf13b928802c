/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Profiles for Perl code, by NYTProf.xs: read by the C core (formats/), as the Perl structures of
 * Devel::NYTProf::Data, as a stream of records, or merged. Include perl.h before it.
 */
#ifndef NYTP_GLUE_H
#define NYTP_GLUE_H

#include "formats/base/error.h"

/* Loads a profile. Returns a new reference to an unblessed hash with the members of a
 * Devel::NYTProf::Data object; its files and subs are blessed and refer back weakly. Sibling
 * evals are merged: if a line has more than max_siblings distinct ones, all; else equal ones.
 * UINT32_MAX with merge false merges none.
 *
 * If the file is unreadable or damaged returns a string with path, offset and reason. With
 * `partial` returns the data before the damage, and the reason is the member "load_error". */
SV *nytp_glue_load(pTHX_ const char *path, bool merge, U32 max_siblings, bool partial);

/* Calls Perl code for every chunk of the profile, in order, with the tag's name and the chunk's
 * fields; $. is the chunk's number, from 0. `callback` is a reference to code, or to a hash
 * from tag names to code; then other tags are skipped, and the code under "all_loaded" is
 * called last, with only its name.
 *
 * Returns NULL or, if the file is unreadable or damaged, a new string with path, offset and
 * reason, after passing the chunks before. Croaks if `callback` is anything else. The code may
 * die: perl's save stack frees everything. */
SV *nytp_glue_stream(pTHX_ const char *path, SV *callback);

/* Merges the profiles at `paths` (an array of names) into the open descriptor, compressed at
 * `level` (0: not). Notes for the user are pushed on `notes`. Returns the number of damaged
 * inputs.
 *
 * Croaks if the output cannot be written or an input is damaged. With `partial` the sound part
 * of such an input is merged, and the reason is pushed on `notes`. */
int nytp_glue_merge(pTHX_ int fd, int level, bool partial, AV *paths, AV *notes);

/* Returns a new mortal string "PATH: [byte N [(inflated)]: ]REASON". The reason begins with
 * phrases that programs look for: "Profile data incomplete" if the input ends early, "Profile
 * format error" if it is damaged. */
SV *nytp_glue_error_text(pTHX_ const char *path, const struct nytp_error *error);

#endif
