/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Source text: where it comes from, and how it gets into the stream.
 */
#ifndef NYTP_SOURCES_H
#define NYTP_SOURCES_H

#include "state.h"

bool nytp_is_program_text(const char *name); /* no file: -e, standard input */
bool nytp_source_is_wanted(const struct nytp_recorder *rec, const struct nytp_rec_file *file);

/* The stream knows the file. */
static inline bool nytp_file_is_written(const struct nytp_recorder *rec,
                                        const struct nytp_rec_file *file)
{
    return file->fid != 0 && file->generation == rec->profile.generation;
}

/* A whole file; free() it. NULL when it cannot be read. */
char *nytp_source_read(const char *path, size_t *len);
/* How much of a file perl compiles. */
size_t nytp_source_code_length(const char *text, size_t len);
void nytp_source_write_lines(struct nytp_recorder *rec, uint32_t fid, const char *text,
                             size_t len);

/* The text of a string eval or of -e; NULL: not known. */
SV *nytp_source_text(pTHX_ struct nytp_recorder *rec, const struct nytp_rec_file *file);
void nytp_source_write_text(pTHX_ struct nytp_recorder *rec, const struct nytp_rec_file *file,
                            SV *sv);

/* The lines of a source that cannot be read again, as perl has kept them; NULL: it has not. */
AV *nytp_source_kept_lines(pTHX_ const struct nytp_rec_file *file);
void nytp_source_write_kept(pTHX_ struct nytp_recorder *rec, const struct nytp_rec_file *file);

#endif
