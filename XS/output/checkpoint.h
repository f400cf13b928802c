/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A copy of a file that is being written, under the name NAME.checkpoint. life.c has given the
 * file an end before, so the copy is a whole profile.
 */
#ifndef NYTP_CHECKPOINT_H
#define NYTP_CHECKPOINT_H

#include "outfile.h"

/* Copy what was written so far. An earlier checkpoint is replaced in one step, anything else of
 * that name stays. `text` becomes the copy's name, or why there is none: then false. */
bool nytp_checkpoint_copy(const struct nytp_outfile *file, char *text, size_t size);

#endif
