/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Passes a profile's records to Perl code. Include perl.h before it.
 */
#ifndef NYTP_STREAM_GLUE_H
#define NYTP_STREAM_GLUE_H

/* Calls Perl code for every chunk of the profile, in order, with the tag's name and the chunk's
 * fields; $. is the chunk's number, from 0. `callback` is a reference to code, or to a hash
 * from tag names to code; then other tags are skipped, and the code under "all_loaded" is
 * called last, with only its name.
 *
 * Returns NULL or, if the file is unreadable or damaged, a new string with path, offset and
 * reason, after passing the chunks before. Croaks if `callback` is anything else. The code may
 * die: perl's save stack frees everything. */
SV *nytp_glue_stream(pTHX_ const char *path, SV *callback);

#endif
