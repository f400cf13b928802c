/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A profile as a stream of calls to Perl code. Needs perl.h before it.
 */
#ifndef NYTP_STREAM_GLUE_H
#define NYTP_STREAM_GLUE_H

/* Call Perl code for every chunk of the profile, in order, with the tag's name and the
 * chunk's fields; $. is the chunk's number, from 0, while the code runs. `callback` is a
 * reference to code, or to a hash from tag names to code: other tags are then skipped, and
 * the code under "all_loaded" is called last, without arguments but its name.
 *
 * Returns NULL, or where the file cannot be read or is damaged a new string with path, offset
 * and reason, after the chunks before it. Croaks when `callback` is something else. The code
 * may die: everything held is released by perl's save stack. */
SV *nytp_glue_stream(pTHX_ const char *path, SV *callback);

#endif
