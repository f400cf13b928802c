/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Files and string evals as the COPs name them, and their ids in the stream.
 */
#ifndef NYTP_FILES_H
#define NYTP_FILES_H

#include "state.h"

struct nytp_rec_file *nytp_file_named(pTHX_ struct nytp_recorder *rec, const char *perl_name);
/* The file's id; it is told to the stream first if it has none yet. */
uint32_t nytp_file_fid(pTHX_ struct nytp_recorder *rec, struct nytp_rec_file *file,
                       uint32_t via);
/* The id that the stream knows the file by; 0: none yet. */
uint32_t nytp_file_known_fid(const struct nytp_recorder *rec, struct nytp_rec_file *file);
/* The file with this number, made again if it was freed; NULL: there is none. */
struct nytp_rec_file *nytp_file_numbered(pTHX_ struct nytp_recorder *rec, uint32_t fid);

void nytp_file_free(void *file); /* one, when nothing leads to it any more */
void nytp_files_free(pTHX_ struct nytp_recorder *rec); /* all, and what is known of evals */

#endif
