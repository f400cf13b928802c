/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Source files and string evals, and their ids in the stream.
 *
 * perl's statements name their file ("lib/Foo.pm", "(eval 7)", "-e"). Each name has a struct
 * nytp_rec_file, made when it is first seen. It gets an id ("fid") and a NEW_FID record when
 * its first statement or sub goes into the stream. In a new profile file it keeps its id and is
 * recorded again.
 *
 * Any writer of a record with a place calls nytp_file_fid(). Out of memory ends the program, as
 * in perl's own allocation (Newx).
 */
#ifndef NYTP_FILES_H
#define NYTP_FILES_H

#include "XS/perl/perl_compat.h"
#include "tables.h"

struct nytp_recorder;

/* Returns the file of this name, made if there is none; NULL counts as "". */
struct nytp_rec_file *nytp_file_named(pTHX_ struct nytp_recorder *rec, const char *perl_name);

/* Call it once, before all others: notes when the program began, and the script, which is being
 * compiled. */
void nytp_files_begin(pTHX_ struct nytp_recorder *rec);

/* Returns the file of a statement, in the text it was compiled from. */
struct nytp_rec_file *nytp_file_of(pTHX_ struct nytp_recorder *rec, const COP *cop);

/* perl is about to compile the text of PL_parser under this name. Returns true, and notes the
 * file, if perl reads the file of that name; if the text is new, the name gets a new struct.
 * Returns false for other texts, as from a hook in @INC. */
bool nytp_file_note_loaded(pTHX_ struct nytp_recorder *rec, const char *perl_name);

/* Keeps the lines of a text that `#line` gives to files not recorded yet. */
void nytp_file_take_pieces(pTHX_ struct nytp_recorder *rec, const char *text, size_t len);

/* Returns the file's id in the open profile. Records the file first if the profile does not
 * know it, with an eval's parents, and with the source if wanted. `via` is NYTP_FID_VIA_STMT or
 * NYTP_FID_VIA_SUB. Reading the source is cut out of the time axis. */
uint32_t nytp_file_fid(pTHX_ struct nytp_recorder *rec, struct nytp_rec_file *file,
                       uint32_t via);

/* Returns the id that the profile knows the file by, or 0. */
uint32_t nytp_file_known_fid(const struct nytp_recorder *rec, struct nytp_rec_file *file);

/* Marks the file for which a sub waits in the info queue: the queue is scanned when the profile
 * knows the file. */
void nytp_file_await(const struct nytp_recorder *rec, struct nytp_rec_file *file);

/* Returns the file with this id, made again if it was freed, or NULL if there is none. */
struct nytp_rec_file *nytp_file_numbered(pTHX_ struct nytp_recorder *rec, uint32_t fid);

/* For a thread: returns the file of that name, copied with its parents from the creator's
 * recorder, without an id. */
struct nytp_rec_file *nytp_file_inherit(struct nytp_recorder *rec,
                                        const struct nytp_rec_file *from);

/* Frees files that are not `in_use`; their ids are not reused. */
void nytp_files_release(struct nytp_recorder *rec);

#endif
