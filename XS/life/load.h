/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * How the program loads and steers the recorder: options, the phases of perl, the functions of
 * package DB. NYTProf.xs calls this, and has nothing but signatures itself. Interpreters that
 * have no recorder yet get one here.
 */
#ifndef NYTP_LOAD_H
#define NYTP_LOAD_H

#include "XS/perl/perl_compat.h"

#include <sys/types.h>

struct nytp_recorder;

/* The part of the state that load.c writes. */
struct nytp_rec_load {
    U32 perldb;         /* $^P as we set it */
    bool is_planned;    /* phases, fork handler: once */
    pid_t loader;       /* process that loaded us; 0: options may still come */
    bool is_debugger;   /* loaded by -d */
    bool comes_late;    /* when the program had been compiled */
    bool is_importing;  /* our import() starts recording */
    bool switches_main; /* an INIT block of ours will look at the program */
    unsigned waits;     /* for import(): so many safe points more; 0: no longer */
    int64_t loaded_ns;  /* processor time when the wait began */
    char hash_seed[40]; /* of PERL_HASH_SEED, or "random" */
};

/* The interpreter's recorder, made if it has none. NULL: out of memory, or the interpreter is
 * being destroyed and its recorder is gone. */
struct nytp_recorder *nytp_recorder_get(pTHX);

/* DB::set_option(). What is wrong with it is said; nothing is changed then. */
void nytp_set_option(pTHX_ const char *name, const char *value);

/* Options are known: arrange that profiling starts in time. Again when more have come. */
void nytp_load(pTHX);
void nytp_start(pTHX); /* all options have come */
/* Last of all: before the program runs errno is 0, as it is without us. perl takes the status
 * of a BEGIN block that dies from it. */
void nytp_load_forget_errors(pTHX);

/* DB::enable_profile(): whether it was on before. `path` may be NULL. */
bool nytp_enable(pTHX_ const char *path);
/* The same with no path, for a command from outside, which says itself what became of it; a
 * child that has recorded nothing yet has a name of its own. */
void nytp_enable_unasked(pTHX_ struct nytp_recorder *rec);
bool nytp_disable(pTHX); /* DB::disable_profile(): the same */
/* DB::rotate_profile(): go on in another file, `path`, or with NULL the next of the present
 * name. False: nothing is recorded, or that file cannot be opened, which is said; then the
 * present one goes on. */
bool nytp_rotate(pTHX_ const char *path);
/* The same for a command from outside: `text` becomes the name, or why there is none. */
bool nytp_rotate_unasked(pTHX_ const char *path, char *text, size_t size);
void nytp_finish_profile(pTHX); /* DB::finish_profile() */

/* nytp_enable() for a profile that counts everything: samples pause meanwhile, if they are
 * taken, and go on in their file after nytp_finish_exact(). */
bool nytp_enable_exact(pTHX_ const char *path);
void nytp_finish_exact(pTHX);

/* DB::label() and DB::label_profile(): pairs of key and value. Without a recorder nothing
 * happens. Croaks if the last key has no value. */
void nytp_label(pTHX_ SV **pairs, int n, bool of_profile);

void nytp_thread_begins(pTHX);   /* the interpreter was cloned; in CLONE */
void nytp_statement_by_db(pTHX); /* use_db_sub=1: DB::DB was called */

#endif
