/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Copies a file that is being written to NAME.checkpoint. life.c has ended the file before, so
 * the copy is a complete profile.
 */
#ifndef NYTP_CHECKPOINT_H
#define NYTP_CHECKPOINT_H

#include "outfile.h"

/* Copies the data written so far. Replaces an earlier checkpoint in one step; any other file of
 * that name stays. Returns true and the copy's name in `text`, or false and the reason. */
bool nytp_checkpoint_copy(const struct nytp_outfile *file, char *text, size_t size);

#endif
