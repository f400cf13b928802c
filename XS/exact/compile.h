/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Compilations of files, string evals and the program, and how their source is obtained without
 * the program noticing. hooks.c calls this at the ops and hooks concerned.
 */
#ifndef NYTP_COMPILE_H
#define NYTP_COMPILE_H

#include "XS/perl/perl_compat.h"

struct nytp_recorder;

/* entereval: notes the place and text of the eval and runs perl's handler, which compiles it.
 * Returns the next op. */
OP *nytp_eval_string(pTHX_ struct nytp_recorder *rec);

/* Call it before a file or string is compiled for `op`: require, do, entereval, or NULL. */
void nytp_compile(pTHX_ struct nytp_recorder *rec, const OP *op);

/* Removes the lines that perl -d kept: those before the script, and of the calling module. */
void nytp_debugger_lines_hide(pTHX_ struct nytp_recorder *rec);

/* Copies the text of -e, which perl drops after compilation. */
void nytp_program_text_copy(pTHX_ struct nytp_recorder *rec);

#endif
