/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Loading and control of the recorder by the program: options, perl's phases, the functions of
 * package DB. NYTProf.xs calls this and contains only signatures. An interpreter gets its
 * recorder here.
 */
#ifndef NYTP_LOAD_H
#define NYTP_LOAD_H

#include "XS/perl/perl_compat.h"

struct nytp_recorder;

/* Returns the interpreter's recorder, made if it has none, or NULL: memory is out, or the
 * interpreter is being destroyed and its recorder is freed. */
struct nytp_recorder *nytp_recorder_get(pTHX);

/* DB::set_option(). Reports an error and then changes nothing. */
void nytp_set_option(pTHX_ const char *name, const char *value);

/* Options are known: arranges the start of profiling. Call it again when options are added. */
void nytp_load(pTHX);
void nytp_start(pTHX); /* all options have come */
/* Last of all: sets errno to 0, as it is without us before the program runs. perl derives the
 * status of a dying BEGIN block from it. */
void nytp_load_forget_errors(pTHX);

/* DB::enable_profile(). Returns whether it was on before. `path` may be NULL. */
bool nytp_enable(pTHX_ const char *path);
/* The same without a path, for a command from outside, which reports the result itself. A child
 * that has recorded nothing yet gets its own name. */
void nytp_enable_unasked(pTHX_ struct nytp_recorder *rec);
bool nytp_disable(pTHX); /* DB::disable_profile(): returns the same */
/* DB::rotate_profile(): goes on in another file, `path`, or if NULL the next of the present
 * name. Returns false if nothing is recorded; also if the file cannot be opened, which is
 * reported, and the present one goes on. */
bool nytp_rotate(pTHX_ const char *path);
/* The same for a command from outside: `text` receives the name or the reason. */
bool nytp_rotate_unasked(pTHX_ const char *path, char *text, size_t size);
void nytp_finish_profile(pTHX); /* DB::finish_profile() */

/* nytp_enable() for an exact profile: sampling pauses until nytp_finish_exact(). */
bool nytp_enable_exact(pTHX_ const char *path);
void nytp_finish_exact(pTHX);

/* DB::label() and DB::label_profile() with pairs of key and value. Does nothing without a
 * recorder. Croaks if the last key has no value. */
void nytp_label(pTHX_ SV **pairs, int n, bool of_profile);

void nytp_statement_by_db(pTHX); /* use_db_sub=1: DB::DB was called */

#endif
