/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What perl compiles: files, string evals, the program itself; and how its source is had
 * without the program seeing anything of it. hooks.c calls this at the ops and hooks concerned.
 */
#ifndef NYTP_COMPILE_H
#define NYTP_COMPILE_H

#include "XS/perl/perl_compat.h"

struct nytp_recorder;

/* The part of the state that compile.c writes. */
struct nytp_rec_compile {
    bool keeps_source;               /* the bit for it in $^P (PERLDBf_SAVESRC) is ours */
    struct nytp_shared_text *e_text; /* program text of -e, or NULL; owned */
};

/* entereval: note where the eval is run and what its text is, and run perl's handler, which
 * compiles it. Returns the next op. */
OP *nytp_eval_string(pTHX_ struct nytp_recorder *rec);

/* A file or string is about to be compiled for `op`: require, do, entereval; or NULL. */
void nytp_compile(pTHX_ struct nytp_recorder *rec, const OP *op);

/* Take away what perl -d kept of the line before the script, and of the module that calls this.
 */
void nytp_debugger_lines_hide(pTHX_ struct nytp_recorder *rec);

/* Copy the text of -e, which perl drops when it has compiled it. */
void nytp_program_text_copy(pTHX_ struct nytp_recorder *rec);

/* At the end: the source of a script that came from standard input. */
void nytp_program_lines_write(pTHX_ struct nytp_recorder *rec);

void nytp_compile_free(struct nytp_recorder *rec);

#endif
