/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The files that ran string evals. Such a file may be a string eval, too, and so on outwards.
 */
#ifndef NYTP_EVAL_FILES_H
#define NYTP_EVAL_FILES_H

#include "model.h"

#include <stdbool.h>

/* Counts rings of files that ran each other (damaged input). Returns false if memory is out. */
bool nytp_count_eval_rings(const struct nytp_file *files, uint32_t n_files, uint32_t *n_rings);

/* Cuts each ring: one of its files has no parent any more. Returns false if memory is out. */
bool nytp_cut_eval_rings(struct nytp_file *files, uint32_t n_files);

/* Returns the outermost file of each file: the file that ran the string eval, or ran what ran
 * it, and so on. A file that is no string eval has itself. The caller frees the array. NULL if
 * memory is out. */
uint32_t *nytp_outermost_files(const struct nytp_profile *profile);

#endif
