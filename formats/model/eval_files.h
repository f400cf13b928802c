/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Which file ran a string eval, which may itself be a string eval, and so on outwards to one
 * that is none.
 */
#ifndef NYTP_EVAL_FILES_H
#define NYTP_EVAL_FILES_H

#include "model.h"

#include <stdbool.h>

/* How many rings there are of files that ran each other, as a damaged input may claim. False
 * when memory is out. */
bool nytp_count_eval_rings(const struct nytp_file *files, uint32_t n_files, uint32_t *n_rings);

/* One file of each ring was run by none from here on. False when memory is out. */
bool nytp_cut_eval_rings(struct nytp_file *files, uint32_t n_files);

/* Of each file the outermost one: it ran the string eval, or ran what ran it, and so on; itself
 * of a file that is no string eval. For free(); NULL when memory is out. */
uint32_t *nytp_outermost_files(const struct nytp_profile *profile);

#endif
