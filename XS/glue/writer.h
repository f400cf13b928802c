/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Profiles written on behalf of Perl code. Needs perl.h before it.
 */
#ifndef NYTP_WRITER_GLUE_H
#define NYTP_WRITER_GLUE_H

/* Merge the profiles at `paths` (an array of names) into the open descriptor, compressed at
 * `level` (0 = not). What a person should know is pushed on `notes`.
 *
 * Croaks when the output cannot be written, and when an input is damaged; with `partial` the
 * sound part of such an input is merged, and the reason is pushed on `notes`. Returns how many
 * inputs were damaged. */
int nytp_glue_merge(pTHX_ int fd, int level, bool partial, AV *paths, AV *notes);

#endif
