/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Writes merged profiles for Perl code. Include perl.h before it.
 */
#ifndef NYTP_WRITER_GLUE_H
#define NYTP_WRITER_GLUE_H

/* Merges the profiles at `paths` (an array of names) into the open descriptor, compressed at
 * `level` (0: not). Notes for the user are pushed on `notes`. Returns the number of damaged
 * inputs.
 *
 * Croaks if the output cannot be written or an input is damaged. With `partial` the sound part
 * of such an input is merged, and the reason is pushed on `notes`. */
int nytp_glue_merge(pTHX_ int fd, int level, bool partial, AV *paths, AV *notes);

#endif
